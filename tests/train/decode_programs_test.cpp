// A cache changes how long a text takes, not the text.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cpu/device.h"
#include "models/network.h"
#include "tests/train/data_samples.h"
#include "tests/train/train_process.h"
#include "train/session/text_reading.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kContext = 12, kBlock = 4, kVocabulary = 5;

const std::string kLogits =
    R"({"op": "fc", "out": "=vocab", "flatten": false, "bias": false, "share": "tokens", "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "next"}])";
const std::string kWithoutLogits = R"({"op": "relu"}],
    "loss": [{"op": "linear_cross_entropy", "target": "next", "out": "=vocab", "share": "tokens"}])";

/// A network over windows of `length` with such layers between embedding and loss.
std::string network_of(const std::string& layers, const std::string& head) {
  return R"({"version": 1, "name": "reader", "vars": {"length": 12, "width": 8, "vocab": 5},
    "inputs": {"text": {"shape": ["=length"], "dtype": "i32"}, "next": {"shape": ["=length"], "dtype": "i32"}},
    "layers": [{"op": "embedding", "vocab": "=vocab", "out": "=width", "name": "tokens"}, )" +
         layers + ", " + head + "}";
}

const std::string kPositions =
    R"({"op": "parameter", "shape": ["=length", "=width"], "init": {"normal": 1}, "name": "positions"},
  {"op": "add", "in": ["tokens", "positions"]}, {"op": "layer_norm"},
  {"op": "fc", "out": "=width", "flatten": false}, {"op": "gelu"})";
const std::string kAttention = R"({"op": "fc", "out": "=2*width", "flatten": false},
  {"op": "attention", "heads": 2, "kv_heads": 1, "causal": true})";
const std::string kRotary = R"({"op": "fc", "out": "=2*width", "flatten": false},
  {"op": "rope", "head_size": "=width/2", "rotated": 3},
  {"op": "attention", "heads": 2, "kv_heads": 1, "causal": true, "window": 3})";
/// Heads of queries and keys have a norm of their own; that of values passes.
const std::string kNormedHeads = R"({"op": "fc", "out": "=2*width", "flatten": false},
  {"op": "reshape", "shape": [-1, 4, "=width/2"], "name": "all"}, {"op": "slice", "axis": 1, "end": 3},
  {"op": "rms_norm", "name": "normed"}, {"op": "slice", "in": "all", "axis": 1, "begin": 3, "name": "v"},
  {"op": "concat", "in": ["normed", "v"], "axis": 1}, {"op": "reshape", "shape": [-1, "=2*width"]},
  {"op": "rope", "head_size": "=width/2", "rotated": 3, "factor": 8, "original_length": 30},
  {"op": "attention", "heads": 2, "kv_heads": 1, "causal": true})";
/// Each row by its length, as sums over channels give it; other maps; and rows that are probabilities.
const std::string kMaps = R"({"op": "softplus", "name": "a"}, {"op": "square", "name": "b"},
  {"op": "sum", "axis": 1, "keep": true}, {"op": "sqrt", "name": "norm"}, {"op": "div", "in": ["b", "norm"]},
  {"op": "softmax", "name": "c"}, {"op": "mean", "in": "a", "axis": 1}, {"op": "exp"},
  {"op": "reshape", "shape": ["=length", 1], "name": "d"}, {"op": "mul", "in": ["c", "d"]})";
/// Layers that put what stands along channels along symbols.
const std::string kAcross = R"({"op": "mean", "in": "tokens", "axis": 1},
  {"op": "reshape", "shape": [1, "=length"], "name": "means"},
  {"op": "fc", "in": "tokens", "out": 12, "flatten": false, "name": "wide"}, {"op": "mul", "in": ["wide", "means"]},
  {"op": "fc", "out": "=width", "flatten": false})";
/// A softmax along the symbols.
const std::string kOverSymbols = R"({"op": "mean", "in": "tokens", "axis": 1}, {"op": "softmax"},
  {"op": "reshape", "shape": ["=length", 1], "name": "share"}, {"op": "mul", "in": ["tokens", "share"]})";
const std::string kMixing = R"({"op": "transpose", "perm": [1, 0]}, {"op": "fc", "out": "=length", "flatten": false},
  {"op": "transpose", "perm": [1, 0]})";
const std::string kReversed = R"({"op": "fc", "out": "=2*width", "flatten": false},
  {"op": "attention", "heads": 2, "kv_heads": 1})";

/// A mask has a row for each of the window's symbols.
const std::string kMasked = R"({"op": "fc", "out": "=2*width", "flatten": false, "name": "qkv"},
  {"op": "parameter", "shape": [2, "=length", "=length"], "layout": "plain", "name": "bias"},
  {"op": "attention", "in": ["qkv", "bias"], "heads": 2, "kv_heads": 1, "causal": true, "mask": true})";

/// Rows of the new shape have numbers of several symbols.
const std::string kSplit = R"({"op": "reshape", "shape": ["=width/2", "=length", 2], "batch": true}, {"op": "gelu"},
  {"op": "reshape", "shape": [-1, "=length", "=width"], "batch": true})";
/// A table with as many rows as the window, which are those of symbols all the same.
const std::string kTableOfWindow =
    R"({"op": "embedding", "in": "text", "vocab": "=length", "out": "=width", "name": "again"},
  {"op": "add", "in": ["tokens", "again"]})";

/// Layers with settings that follow from the number of symbols.
const std::string kSinusoidal = R"({"op": "sinusoidal_positions", "in": "tokens", "name": "waves"},
  {"op": "add", "in": ["tokens", "waves"]})";
const std::string kWindow = R"({"op": "fc", "out": "=2*width", "flatten": false},
  {"op": "attention", "heads": 2, "kv_heads": 1, "causal": true, "window": "=length"})";

class Decode : public ::testing::Test {
 protected:
  NetworkSetting setting(const std::string& layers, DType dtype, const std::string& head = kLogits) const {
    folder_.write("reader.json", network_of(layers, head));
    return {.model = folder_.text() + "/reader.json", .dtype = dtype, .logits = true, .batch = 1};
  }
  static MemorySetting memory(const std::string& memopt) {
    MemorySetting memory = memory_setting(memopt);
    memory.keeps_prediction = true;
    return memory;
  }
  Planned planned(const Network& network) { return plan_evaluation(network, memory("level=2"), prepared_); }
  /// Under every memory setting.
  void expect_same(const NetworkSetting& of, double tolerance);

  TemporaryFolder folder_;
  std::unique_ptr<Device> device_ = open_cpu(1);
  Prepared prepared_{*device_};
};

std::vector<std::int32_t> text_of(std::int64_t symbols) {
  std::vector<std::int32_t> text;
  while (std::ssize(text) < symbols) text.push_back(static_cast<std::int32_t>((text.size() * text.size() + 2) % 5));
  return text;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), static_cast<std::size_t>(kVocabulary));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

/// Text of three windows, the first symbols of which are asked for at once.
void expect_same_logits(NextLogits& cached, NextLogits& whole, std::int64_t prompt, double tolerance) {
  for (std::int64_t symbols = prompt; symbols < 3 * kContext; ++symbols) {
    SCOPED_TRACE(symbols);
    expect_near(cached.after(text_of(symbols)), whole.after(text_of(symbols)), tolerance);
  }
}

void Decode::expect_same(const NetworkSetting& of, double tolerance) {
  SCOPED_TRACE(bytes_in(of.model));
  const Network window = build_network(of, false);
  const std::optional<DecodePrograms> programs = decode_programs(window, of, kBlock);
  ASSERT_TRUE(programs);
  Store store(*device_);
  store.initialize(window.program, window.params, 1);
  const Planned whole = planned(window);
  WindowLogits recomputed(window, whole, prepared_, store);
  for (const char* memopt : {"none", "level=0", "level=1,release", "level=2"})
    for (const std::int64_t prompt : {1, 2, 5, 7, 12}) {
      SCOPED_TRACE(std::string(memopt) + " from " + std::to_string(prompt));
      const DecodePlans plans = plan_decode(*programs, memory(memopt), prepared_);
      CachedLogits cached(*programs, plans, prepared_, store);
      expect_same_logits(cached, recomputed, prompt, tolerance);
    }
}

TEST_F(Decode, GivesTheLogitsOfTheWholeWindow) {
  for (const auto& [dtype, tolerance] : {std::pair(DType::f64, 1e-12), {DType::f32, 1e-5}}) {
    for (const std::string& layers : {kPositions, kAttention, kMaps + ", " + kAttention, kPositions + ", " + kAttention,
                                      kRotary + R"(, {"op": "gelu"}, )" + kAttention, kNormedHeads})
      expect_same(setting(layers, dtype), tolerance);
    expect_same(setting(kPositions, dtype, kWithoutLogits), tolerance);
  }
}

TEST_F(Decode, ReadsTextAgainWhereItChanged) {
  const NetworkSetting of = setting(kPositions + ", " + kAttention, DType::f64);
  const Network window = build_network(of, false);
  const std::optional<DecodePrograms> programs = decode_programs(window, of, kBlock);
  Store store(*device_);
  store.initialize(window.program, window.params, 1);
  const DecodePlans plans = plan_decode(*programs, memory("level=2"), prepared_);
  const Planned whole = planned(window);
  CachedLogits cached(*programs, plans, prepared_, store);
  WindowLogits recomputed(window, whole, prepared_, store);
  for (const std::vector<std::int32_t>& text :
       {std::vector<std::int32_t>{1, 2, 3}, {1, 4, 3}, {1}, {1, 4, 3, 0, 1, 2, 2, 3}, {1, 4, 2, 0, 1, 2, 2, 3, 1, 1}})
    expect_near(cached.after(text), recomputed.after(text), 1e-12);
}

TEST_F(Decode, FillsTheCacheWithoutWhatOnlyPredicts) {
  const NetworkSetting of = setting(kAttention + R"(, {"op": "gelu"}, )" + kAttention, DType::f32);
  const Network window = build_network(of, false);
  const std::optional<DecodePrograms> programs = decode_programs(window, of, kBlock);
  ASSERT_TRUE(programs && programs->fill);
  const auto count_in = [](const DecodeProgram& program, const std::string& type) {
    return std::ranges::count_if(program.network.program.blocks[0].ops, [&](const Op& op) { return op.type == type; });
  };
  EXPECT_EQ(programs->fill->rows, kBlock);
  EXPECT_EQ(count_in(*programs->fill, "array_write"), 4);
  EXPECT_EQ(count_in(*programs->fill, "attention"), 1);
  EXPECT_EQ(count_in(*programs->fill, "fc"), 2);
  EXPECT_EQ(count_in(programs->next, "fc"), 3);
  EXPECT_EQ(decode_programs(window, of)->block, 6);
  const NetworkSetting without = setting(kPositions, DType::f32);
  EXPECT_FALSE(decode_programs(build_network(without, false), without)->fill);
}

const std::string kLooksBack = "it looks back by more than causal attention";

/// "" if there are programs.
std::string why_none(const NetworkSetting& of) {
  std::string why;
  const bool has_programs = decode_programs(build_network(of, false), of, kBlock, &why).has_value();
  EXPECT_EQ(has_programs, why.empty());
  return why;
}

TEST_F(Decode, IsNotMadeOfWhatLooksBackOtherwise) {
  for (const std::string& layers :
       {kMixing, kReversed, kMasked, kSplit, kTableOfWindow, kSinusoidal, kWindow, kAcross, kOverSymbols}) {
    const NetworkSetting of = setting(layers, DType::f32);
    EXPECT_EQ(why_none(of), kLooksBack) << layers;
  }
  for (const char* model : {"char_lstm", "transformer"}) {
    const NetworkSetting of{.model = model};
    EXPECT_EQ(why_none(of), kLooksBack) << model;
  }
}

TEST_F(Decode, IsNotMadeWithoutAVarForTheWindow) {
  std::string fixed = network_of(kPositions, kLogits);
  for (std::size_t at = 0; (at = fixed.find("=length", at)) != std::string::npos;) fixed.replace(at - 1, 9, "12");
  fixed.erase(fixed.find("\"length\": 12, "), 14);
  folder_.write("fixed.json", fixed);
  EXPECT_PRED2(says, why_none({.model = folder_.text() + "/fixed.json"}), "`set` length=1: no var 'length'");
}

}  // namespace
}  // namespace lethe::testing
