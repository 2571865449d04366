// Several texts in a window, none of which sees the others.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "framework/random.h"
#include "tests/support/expect_error.h"
#include "tests/support/interpreter.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kLength = 12, kSymbols = 11;

struct Model {
  const char* name;
  Sets sets;
};
const Model kModels[] = {
    {"gpt2", {{"width", "8"}, {"heads", "2"}, {"layers", "2"}, {"positions", "16"}}},
    {"llama", {{"width", "8"}, {"heads", "2"}, {"kv_heads", "1"}, {"hidden", "12"}, {"layers", "2"}}},
    {"char_gpt", {{"width", "8"}, {"heads", "2"}, {"layers", "2"}}}};

NetworkSetting setting_of(const Model& model, bool packed) {
  NetworkSetting setting{.model = model.name, .sets = model.sets, .dtype = DType::f64, .logits = true};
  setting.sets["vocab"] = std::to_string(kSymbols);
  setting.sets["length"] = std::to_string(kLength);
  setting.ignore = -1;
  setting.packed = packed;
  return setting;
}

/// Texts of these lengths side by side, then padding: what the network says after each symbol, and the losses.
struct Said {
  std::vector<double> logits, losses;
};
Said said(const Network& network, const std::vector<std::vector<std::int32_t>>& texts) {
  Interpreter values(network.program);
  for (const ParamInfo& info : network.params)
    values.fill_uniform(info.var, -0.5, 0.5, hash_of(network.program.vars[info.var].name));
  const FedInputs fed = fed_inputs(network);
  std::int64_t at = 0;
  for (std::int64_t t = 0; t < kLength; ++t) {
    values.set(fed.samples, t, 0);
    values.set(fed.labels, t, -1);
    if (network.positions != kNone) values.set(network.positions, t, 0);
  }
  for (const std::vector<std::int32_t>& text : texts)
    for (std::size_t t = 0; t < text.size(); ++t, ++at) {
      values.set(fed.samples, at, text[t]);
      values.set(fed.labels, at, (text[t] + 3) % kSymbols);
      if (network.positions != kNone) values.set(network.positions, at, static_cast<double>(t));
    }
  values.run();
  Said result;
  for (std::int64_t i = 0; i < kLength * kSymbols; ++i) result.logits.push_back(values.number(network.prediction, i));
  for (std::int64_t t = 0; t < kLength; ++t) result.losses.push_back(values.number(network.sample_loss, t));
  return result;
}

TEST(PackedTexts, GiveWhatTheyGiveAlone) {
  for (const Model& model : kModels) {
    SCOPED_TRACE(model.name);
    const Network alone = build_network(setting_of(model, false), false),
                  both = build_network(setting_of(model, true), false);
    const std::vector<std::int32_t> first = {3, 1, 4, 1, 5}, second = {9, 2, 6, 5, 3, 5};
    const Said packed = said(both, {first, second}), of_first = said(alone, {first}), of_second = said(alone, {second});
    for (std::int64_t i = 0; i < 5 * kSymbols; ++i) ASSERT_NEAR(packed.logits[i], of_first.logits[i], 1e-12) << i;
    for (std::int64_t i = 0; i < 6 * kSymbols; ++i)
      ASSERT_NEAR(packed.logits[5 * kSymbols + i], of_second.logits[i], 1e-12) << i;
    for (std::int64_t t = 0; t < 6; ++t) ASSERT_NEAR(packed.losses[5 + t], of_second.losses[t], 1e-12) << t;
    EXPECT_EQ(packed.losses[11], 0) << "padding has no loss";
    EXPECT_EQ(both.program.vars[both.positions].name, both.program.vars[fed_inputs(both).samples].name + ".positions");
  }
}

/// To the bit.
TEST(PackedTexts, DoNotSeeEachOther) {
  for (const Model& model : kModels) {
    SCOPED_TRACE(model.name);
    const Network network = build_network(setting_of(model, true), false);
    const std::vector<std::int32_t> text = {9, 2, 6, 5};
    const Said one = said(network, {{3, 1, 4}, text, {7, 7}}), other = said(network, {{8, 8, 2}, text, {0, 1}});
    const auto of_text = [](const std::vector<double>& all, std::int64_t each) {
      return std::vector<double>(all.begin() + 3 * each, all.begin() + 7 * each);
    };
    EXPECT_EQ(of_text(one.logits, kSymbols), of_text(other.logits, kSymbols));
    EXPECT_EQ(of_text(one.losses, 1), of_text(other.losses, 1));
    EXPECT_NE(one.logits, other.logits);
  }
}

TEST(PackedTexts, AreRefusedWhereTheyWouldSeeEachOther) {
  const std::string where = "several texts in a window, where jsonl:FILE,no-pack has one: ",
                    end = ", so texts that stand in one sample would see each other";
  const auto told = [&](const std::string& model) {
    NetworkSetting setting{.model = model, .packed = true};
    try {
      build_network(setting, true);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string written_out = told("transformer");
  EXPECT_EQ(written_out.find(where + "transformer: "), 0U) << written_out;
  EXPECT_NE(written_out.find("computes across positions" + end), std::string::npos) << written_out;
  const TemporaryFolder folder;
  folder.write("masked.json", R"({"version": 1, "name": "masked",
    "inputs": {"text": {"shape": [4], "dtype": "i32"}, "next": {"shape": [4], "dtype": "i32"}},
    "layers": [{"op": "embedding", "vocab": 9, "out": 12, "name": "qkv"},
               {"op": "parameter", "shape": [4, 4], "name": "bias"},
               {"op": "attention", "in": ["qkv", "bias"], "heads": 2, "causal": true, "mask": true, "name": "seen"},
               {"op": "fc", "out": 9, "flatten": false, "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "next"}]})");
  EXPECT_EQ(told(folder.text() + "/masked.json"),
            where + "masked: the mask of attention 'seen.y' is for one text a sample, not for several");
}

using Words = std::vector<std::string>;

/// A tiny llama on eighty lines.
class PackedRun : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    std::ofstream lines(path("sums.jsonl"));
    for (int i = 0; i < 80; ++i) {
      const int a = i % 9, b = i / 9;
      lines << R"({"prompt": ")" << a << '+' << b << R"(=", "completion": ")" << a + b << "\\n\"}\n";
    }
  }
  Ended run(Words more, const std::string& model = "llama") const {
    const std::string sizes = "vocab=16,length=16,width=8,heads=2,hidden=12,layers=1";
    more.insert(more.end(), {"--threads", "1"});
    if (more.front() != "--resume")
      more.insert(more.end(), {"--model", model, "--set", sizes + (model == "llama" ? ",kv_heads=1" : ""), "--data",
                               "jsonl:" + path("sums.jsonl"), "--batch", "4"});
    return run_train(more);
  }
};

TEST_F(PackedRun, HasTheSameBitsAndTheBytesOfItsPlanUnderAllMemorySettings) {
  std::string first;
  for (const char* memopt : {"none", "level=1", "level=2", "level=3"}) {
    const Ended ended = run({"--memopt", memopt, "--save", path(memopt), "--steps", "3"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("bytes, as predicted"), std::string::npos) << ended.out;
    EXPECT_NE(ended.err.find("tokens used: "), std::string::npos) << ended.err;
    if (first.empty()) first = checkpoint_bytes(memopt);
    EXPECT_TRUE(checkpoint_bytes(memopt) == first) << memopt;
  }
}

TEST_F(PackedRun, TakesWhatThePlanSaysThatKnowsItsData) {
  const Ended ended = run({"--memopt", "level=2", "--steps", "2", "--eval-every", "0"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto planned = [&](const std::string& spec) {
    const Ended plan = run_train({"plan", "--model", "llama", "--set",
                                  "vocab=16,length=16,width=8,heads=2,hidden=12,layers=1,kv_heads=1", "--batch", "4",
                                  "--threads", "1", "--memopt", "level=2", "--data", spec, "--json"});
    EXPECT_EQ(plan.code, 0) << plan.err;
    return nlohmann::json::parse(plan.out)["bytes"]["peak"].get<std::int64_t>();
  };
  const std::int64_t packed = planned("jsonl:not-opened");
  EXPECT_NE(ended.out.find("memory taken " + std::to_string(packed) + " bytes"), std::string::npos)
      << packed << ": " << ended.out;
  EXPECT_GT(packed, planned("jsonl:not-opened,no-pack"));
}

TEST_F(PackedRun, IsNotPlannedWithDataThatChangeNothingOrCannotBeRead) {
  const Ended typed = run_train({"plan", "--model", "char_gpt", "--data", "jsnl:a"});
  EXPECT_EQ(typed.err,
            "train: error: data 'jsnl:a': changes nothing in a plan; jsonl:FILE and masks:IMAGES,MASKS do\n");
  EXPECT_EQ(typed.code, 2);
  const Ended images = run_train({"plan", "--model", "lenet", "--data", "jsonl:a"});
  EXPECT_NE(images.err.find("which the network does not take"), std::string::npos) << images.err;
  EXPECT_EQ(images.code, 2);
}

/// The texts of evaluation give the same alone as in windows of several, but for rounding; and one goes on by itself.
TEST_F(PackedRun, IsEvaluatedAndGoesOnWithOneText) {
  ASSERT_EQ(run({"--save", path("run"), "--steps", "20"}).code, 0);
  std::vector<double> losses;
  for (const char* more : {"", ",no-pack"}) {
    const Ended ended = run_train({"eval", "--weights", path("run"), "--data", "jsonl:" + path("sums.jsonl") + more,
                                   "--threads", "1", "--format", "json"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    losses.push_back(nlohmann::json::parse(ended.out)["loss"]);
  }
  EXPECT_NEAR(losses[0], losses[1], 1e-5);
  const Ended text = run_train({"generate", "--weights", path("run"), "--prompt", "1+2=", "--tokens", "5"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.err.find("reads the whole text again"), std::string::npos) << text.err;
}

TEST_F(PackedRun, HasTheSameBitsInPartsUnderAllMemorySettings) {
  for (const char* memopt : {"none", "level=2", "level=3"}) {
    const Ended ended = run({"--memopt", memopt, "--save", path(memopt), "--steps", "2", "--micro-batch", "2"});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(checkpoint_bytes(memopt) == checkpoint_bytes("none")) << memopt;
  }
}

/// Rows of a table of positions, which f32 keeps beside values of bf16.
TEST_F(PackedRun, LearnsPositionsWithTheSameBitsInBf16) {
  for (const char* memopt : {"none", "level=2", "level=3"}) {
    const Ended ended = run({"--memopt", memopt, "--save", path(memopt), "--steps", "2", "--dtype", "bf16"}, "gpt2");
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(checkpoint_bytes(memopt) == checkpoint_bytes("none")) << memopt;
  }
}

TEST_F(PackedRun, GoesOnToTheBit) {
  ASSERT_EQ(run({"--save", path("whole"), "--steps", "8"}).code, 0);
  ASSERT_EQ(run({"--save", path("parts"), "--steps", "8", "--save-every", "4", "--keep", "9"}).code, 0);
  std::filesystem::remove_all(path("parts/step-000008"));
  std::filesystem::remove(path("parts/latest"));
  const Ended rest = run({"--resume", path("parts")});
  ASSERT_EQ(rest.code, 0) << rest.err;
  EXPECT_TRUE(checkpoint_bytes("parts") == checkpoint_bytes("whole"));
}

}  // namespace
}  // namespace lethe::testing
