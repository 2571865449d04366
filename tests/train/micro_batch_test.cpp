// A batch in parts trains as the whole one does.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/session.h"
#include "train/weights_recipe.h"

namespace lethe::testing {
namespace {

/// A network without batch norm, whose statistics would be of a part.
constexpr const char* kDropping = R"({
  "version": 1, "name": "dropping",
  "inputs": {"image": {"shape": [3, 5, 5]}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "conv", "out": 6, "k": 3}, {"op": "relu"}, {"op": "dropout", "p": 0.4}, {"op": "max_pool", "k": 2},
             {"op": "reshape", "shape": [-1, 6]}, {"op": "attention", "heads": 2, "dropout": 0.2},
             {"op": "fc", "out": 7}, {"op": "dropout", "p": 0.3}, {"op": "fc", "out": 4, "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label", "label_smoothing": 0.1}]
})";

class MicroBatch : public RunTest {
 protected:
  SessionSetting setting(const std::string& model, std::int64_t batch, std::int64_t micro_batch) const {
    SessionSetting setting{.device = {.threads = 1}};
    setting.program.network = {.model = model, .dtype = DType::f64, .batch = batch, .seed = 3};
    setting.program.micro_batch = micro_batch;
    setting.program.evaluated = false;
    return setting;
  }
  std::string dropping() const {
    std::ofstream(path("dropping.json")) << kDropping;
    return path("dropping.json");
  }
};

std::map<std::string, std::vector<std::byte>> trained(const SessionSetting& setting, std::int64_t steps, double lr) {
  Session session(setting);
  session.train({.lr = lr, .steps = steps, .log_every = 1});
  EXPECT_EQ(session.device().peak(), session.plan().bytes.total());
  std::map<std::string, std::vector<std::byte>> values;
  for (const std::string& name : session.store().names()) values[name] = session.store().read(name);
  return values;
}

template <class T>
std::vector<T> numbers_in(const std::vector<std::byte>& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

TEST_F(MicroBatch, AStepIsThatOfTheWholeBatchButForItsRounding) {
  for (const std::string& model : {dropping(), std::string("transformer"), std::string("char_lstm")}) {
    const auto whole = trained(setting(model, 12, 0), 3, 0.05);
    for (const std::int64_t micro_batch : {6, 4, 1}) {
      SCOPED_TRACE(message(model, " in parts of ", micro_batch));
      const auto parts = trained(setting(model, 12, micro_batch), 3, 0.05);
      ASSERT_EQ(parts.size(), whole.size());
      for (const auto& [name, bytes] : whole) {
        const std::vector<double> expected = numbers_in<double>(bytes), found = numbers_in<double>(parts.at(name));
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR(found[i], expected[i], 1e-9 * (1 + std::abs(expected[i]))) << name << ' ' << i;
      }
    }
  }
}

TEST_F(MicroBatch, InSixteenBitsTooGradientsAreThoseOfTheWholeBatch) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    SessionSetting given = setting(dropping(), 12, 0);
    given.program.network.dtype = dtype;
    // The standard one overflows in some step of the whole batch and in another of its parts, which are skipped.
    if (dtype == DType::f16) given.program.update.loss_scale = 1024;
    const auto whole = trained(given, 3, 0.05);
    given.program.micro_batch = 4;
    const auto parts = trained(given, 3, 0.05);
    double change = 0;
    for (const auto& [name, bytes] : whole) {
      if (name.find(".weight") == std::string::npos) continue;
      const std::vector<float> expected = numbers_in<float>(bytes), found = numbers_in<float>(parts.at(name));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], dtype == DType::f16 ? 0.01 : 0.08)
            << name_of(dtype) << ' ' << name << ' ' << i;
        if (name.find("@momentum") != std::string::npos) change = std::max<double>(change, std::abs(expected[i]));
      }
    }
    EXPECT_GT(change, 0.1) << "else nothing is compared";
  }
}

TEST_F(MicroBatch, RunningStatisticsTakeThePartsInTurn) {
  const auto parts = trained(setting(path("small.json"), 16, 4), 1, 0);
  auto steps = trained(setting(path("small.json"), 4, 0), 4, 0);
  int statistics = 0;
  for (const auto& [name, bytes] : parts)
    if (name.find("running") != std::string::npos) {
      EXPECT_EQ(bytes, steps.at(name)) << name;
      ++statistics;
    }
  EXPECT_EQ(statistics, 2);
}

TEST_F(MicroBatch, EveryMemorySettingGivesTheSameBits) {
  SessionSetting given = setting(path("small.json"), 12, 4);
  given.program.network.dtype = DType::f32;
  given.program.memory = memory_setting("none");
  const auto none = trained(given, 5, 0.05);
  for (const char* memopt : {"level=0", "level=1,release", "level=2", "level=3"}) {
    given.program.memory = memory_setting(memopt);
    EXPECT_TRUE(trained(given, 5, 0.05) == none) << memopt;
  }
}

TEST_F(MicroBatch, TakesLessTheSmallerItIsAndAutoFindsTheLargestThatFits) {
  const auto total = [&](const std::string& micro_batch, const std::vector<std::string>& more = {}) {
    std::vector<std::string> args = {"plan",         "--model", path("small.json"), "--batch",  "64", "--json",
                                     "--eval-every", "0",       "--micro-batch",    micro_batch};
    args.insert(args.end(), more.begin(), more.end());
    const Ended plan = run_train(args);
    EXPECT_EQ(plan.code, 0) << plan.err;
    const auto json = nlohmann::json::parse(plan.out);
    return std::pair<std::int64_t, std::int64_t>(
        json.at("micro_batch").is_null() ? 0 : json.at("micro_batch").get<int>(), json.at("bytes").at("peak"));
  };
  const std::int64_t half = total("32").second;
  EXPECT_LT(half, total("64").second);
  EXPECT_LT(total("16").second, half);
  EXPECT_EQ(total("auto", {"--memory-budget", std::to_string(half), "--memopt", "level=2"}),
            std::pair(std::int64_t{32}, half));
  EXPECT_EQ(total("auto", {"--memory-budget", std::to_string(half - 1), "--memopt", "level=2"}).first, 16);
}

TEST_F(MicroBatch, ARunGoesOnInPartsAsItBegan) {
  const auto run = [&](const std::string& name, const std::string& epochs, const std::vector<std::string>& more) {
    std::vector<std::string> args = small({"--save", path(name), "--epochs", epochs, "--schedule", "constant"});
    args.insert(args.end(), more.begin(), more.end());
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return checkpoint_bytes(name + "/latest");
  };
  const std::string whole = run("whole", "2", {"--micro-batch", "4"});
  run("cut", "1", {"--micro-batch", "4"});
  EXPECT_FALSE(whole.empty());
  EXPECT_EQ(run("cut", "2", {"--resume", "auto"}), whole);
  EXPECT_NE(run("other", "2", {}), whole);
  run("whole", "3", {"--resume", "auto", "--micro-batch", "8"});
}

TEST_F(MicroBatch, ARunThatFittedInPartsIsEvaluatedInThem) {
  std::filesystem::create_directory(path("network"));
  std::filesystem::copy_file(path("small.json"), path("network/small.json"));
  SavedRun run{.checkpoint = home_.string(),
               .state = {.options = {{"batch", "16"}, {"micro-batch", "4"}}, .file = {.name = "small.json"}}};
  const auto batch = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"eval", "--weights", path("run")});
    return decided_by_run(parse_options(args), run).program.network.batch;
  };
  EXPECT_EQ(batch({}), 4);
  EXPECT_EQ(batch({"--batch", "8"}), 8);
  run.state.options.erase("micro-batch");
  EXPECT_EQ(batch({}), 16);
}

TEST_F(MicroBatch, BadOnesAreRefusedInOneLine) {
  const auto complaint = [&](const std::vector<std::string>& more) {
    const Ended ended = run_train(small(more));
    EXPECT_EQ(ended.code, 2) << ended.err;
    return ended.err;
  };
  const auto expect = [&](const std::vector<std::string>& more, const char* said) {
    EXPECT_PRED2(says, complaint(more), said);
  };
  expect({"--micro-batch", "5"}, "a batch of 16 cannot be cut into micro-batches of 5; but into those of 4 and of 8");
  expect({"--micro-batch", "32"}, "a micro-batch of 32 is larger than the batch of 16");
  expect({"--micro-batch", "0"}, "--micro-batch");
  expect({"--micro-batch", "auto"}, "--micro-batch auto needs --memory-budget");
  expect({"--batch", "2050", "--micro-batch", "2"}, "has 1025 parts, more than 1024");
  expect({"--micro-batch", "4", "--memopt", "optnet=training"},
         "a batch in parts has no place in the memory of optnet");
  for (const char* size : {"1", "4", "auto"})
    expect({"--batch", "auto", "--micro-batch", size, "--memory-budget", "1GiB"}, "--batch auto goes without");
}

}  // namespace
}  // namespace lethe::testing
