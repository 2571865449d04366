// A cache changes how long a text takes, not the text.
#include "train/session/decode_program.h"

#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "models/network.h"
#include "tests/train/data_samples.h"
#include "tests/train/train_process.h"
#include "train/session/cached_logits.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kContext = 7, kVocabulary = 5;

const std::string kLogits =
    R"({"op": "fc", "out": "=vocab", "flatten": false, "bias": false, "share": "tokens", "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "next"}])";
const std::string kWithoutLogits = R"({"op": "relu"}],
    "loss": [{"op": "linear_cross_entropy", "target": "next", "out": "=vocab", "share": "tokens"}])";

/// A network over windows of `length` with such layers between embedding and loss.
std::string network_of(const std::string& layers, const std::string& head) {
  return R"({"version": 1, "name": "reader", "vars": {"length": 7, "width": 8, "vocab": 5},
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
const std::string kMixing = R"({"op": "transpose", "perm": [1, 0]}, {"op": "fc", "out": "=length", "flatten": false},
  {"op": "transpose", "perm": [1, 0]})";
const std::string kReversed = R"({"op": "fc", "out": "=2*width", "flatten": false},
  {"op": "attention", "heads": 2, "kv_heads": 1})";

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
  Planned planned(const Network& network, const std::string& memopt) {
    MemorySetting memory = memory_setting(memopt);
    memory.keeps_prediction = true;
    return plan_evaluation(network, memory, prepared_);
  }
  /// Under every memory setting.
  void expect_same(const NetworkSetting& of, double tolerance);

  TemporaryFolder folder_;
  std::unique_ptr<Device> device_ = open_cpu(1);
  Prepared prepared_{*device_};
};

/// Text of three windows, whose first seven symbols are asked for at once.
void expect_same_logits(NextLogits& cached, NextLogits& whole, double tolerance) {
  std::vector<std::int32_t> text = {3, 1, 4, 1};
  while (std::ssize(text) < 3 * kContext) {
    text.push_back(static_cast<std::int32_t>((text.size() * text.size() + 2) % kVocabulary));
    const std::vector<double> a = cached.after(text), b = whole.after(text);
    ASSERT_EQ(a.size(), static_cast<std::size_t>(kVocabulary));
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i << " behind " << text.size();
  }
}

void Decode::expect_same(const NetworkSetting& of, double tolerance) {
  SCOPED_TRACE(bytes_in(of.model));
  const Network window = build_network(of, false);
  const std::optional<DecodeProgram> decoder = decode_program(window, of);
  ASSERT_TRUE(decoder);
  Store store(*device_);
  store.initialize(window.program, window.params, 1);
  const Planned whole = planned(window, "level=2");
  WindowLogits recomputed(window, whole, prepared_, store);
  for (const char* memopt : {"none", "level=0", "level=1,release", "level=2"}) {
    SCOPED_TRACE(memopt);
    const Planned plan = planned(decoder->network, memopt);
    CachedLogits cached(*decoder, plan, prepared_, store, kContext);
    expect_same_logits(cached, recomputed, tolerance);
  }
}

TEST_F(Decode, GivesTheLogitsOfTheWholeWindow) {
  for (const auto& [dtype, tolerance] : {std::pair(DType::f64, 1e-12), {DType::f32, 1e-5}}) {
    for (const std::string& layers :
         {kPositions, kAttention, kPositions + ", " + kAttention, kRotary + R"(, {"op": "gelu"}, )" + kAttention})
      expect_same(setting(layers, dtype), tolerance);
    expect_same(setting(kPositions, dtype, kWithoutLogits), tolerance);
  }
}

TEST_F(Decode, ReadsTextAgainWhereItChanged) {
  const NetworkSetting of = setting(kPositions, DType::f64);
  const Network window = build_network(of, false);
  const std::optional<DecodeProgram> decoder = decode_program(window, of);
  Store store(*device_);
  store.initialize(window.program, window.params, 1);
  const Planned plan = planned(decoder->network, "level=2"), whole = planned(window, "level=2");
  CachedLogits cached(*decoder, plan, prepared_, store, kContext);
  WindowLogits recomputed(window, whole, prepared_, store);
  for (const std::vector<std::int32_t>& text : {std::vector<std::int32_t>{1, 2, 3}, {1, 4, 3}, {1}, {1, 4, 3}}) {
    const std::vector<double> a = cached.after(text), b = recomputed.after(text);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
  }
}

TEST_F(Decode, IsNotMadeOfWhatLooksBackOtherwise) {
  for (const std::string& layers : {kMixing, kReversed, kSinusoidal, kWindow}) {
    const NetworkSetting of = setting(layers, DType::f32);
    EXPECT_FALSE(decode_program(build_network(of, false), of)) << layers;
  }
  for (const char* model : {"char_lstm", "transformer"}) {
    const NetworkSetting of{.model = model};
    EXPECT_FALSE(decode_program(build_network(of, false), of)) << model;
  }
}

}  // namespace
}  // namespace lethe::testing
