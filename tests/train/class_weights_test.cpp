// Losses that weigh labels by their classes are PyTorch's, in whatever parts and memory a step runs.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/emulated_ranks.h"
#include "tests/train/run_fixture.h"
#include "train/session/best_score.h"
#include "train/session/session.h"

namespace lethe::testing {
namespace {

using nlohmann::json;

/// What tests/oracles/classes.py has computed.
json class_oracle() {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/classes.json");
  return json::parse(file);
}

constexpr std::int64_t kWidth = 3, kClasses = 4;

/// The samples of the script, in both splits.
class Unbalanced final : public Samples {
 public:
  explicit Unbalanced(std::vector<std::int32_t> labels) : labels_(std::move(labels)) {}
  const std::string& name() const override { return name_; }
  std::int64_t size(Split) const override { return std::ssize(labels_); }
  std::int64_t sample_bytes(DType dtype) const override { return kWidth * bytes_of(dtype); }
  std::int64_t labels() const override { return 1; }
  std::vector<std::string> classes() const override { return {"ant", "bee", "cat", "dog"}; }
  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override {
    return std::make_unique<Reader>(labels_, options.dtype);
  }

 private:
  struct Reader final : SampleReader {
    Reader(const std::vector<std::int32_t>& all, DType dtype) : all(all), dtype(dtype) {}
    void read(Split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* label) override {
      for (std::int64_t j = 0; j < kWidth; ++j) {
        const double value = static_cast<double>((7 * index + 5 * j) % 13) / 4 - 1;
        if (dtype == DType::f64) reinterpret_cast<double*>(sample)[j] = value;
        if (dtype == DType::f32) reinterpret_cast<float*>(sample)[j] = static_cast<float>(value);
      }
      *label = all[static_cast<std::size_t>(index)];
    }
    const std::vector<std::int32_t>& all;
    DType dtype;
  };
  std::vector<std::int32_t> labels_;
  std::string name_ = "unbalanced";
};

struct Losses final : Listener {
  void record(const Record& measured) override {
    if (measured.split == "train") all.push_back(measured.loss);
  }
  std::vector<double> all;
};

struct WeighedRun {
  std::vector<double> losses = {};
  std::vector<std::byte> weights = {};
  double f1 = 0;
  bool operator==(const WeighedRun&) const = default;
};

SessionSetting weighing(const ClassWeights& weights, std::optional<std::int64_t> ignored = {}) {
  SessionSetting setting{.device = {.threads = 1}};
  setting.data.samples = std::make_shared<Unbalanced>(class_oracle()["labels"].get<std::vector<std::int32_t>>());
  setting.program.network = {.build =
                                 [ignored](const BuildOptions& options) {
                                   Builder net(options);
                                   const VarId x = net.input("x", {kWidth});
                                   net.loss("cross_entropy", net.layer("fc", x, {{"out", kClasses}}, "logits"),
                                            net.input("label", {}, DType::i32), {.ignore = ignored});
                                   return net.finish();
                                 },
                             .dtype = DType::f64,
                             .batch = 24,
                             .class_weights = weights};
  setting.program.update.rule = optimizer_named("sgd");
  setting.program.memory.keeps_prediction = true;
  return setting;
}

/// Four steps from weights of nothing.
WeighedRun trained_by(SessionSetting setting, const std::shared_ptr<Peers>& peers = nullptr) {
  setting.peers = peers;
  Session session(setting);
  const std::vector<double> nothing(kClasses * kWidth);
  session.store().write("logits.weight", nothing.data(), std::int64_t{sizeof(double)} * kClasses * kWidth);
  Losses losses;
  session.train({.lr = 0.5, .steps = 4, .log_every = 1}, losses);
  EXPECT_EQ(session.device().peak(), session.plan().bytes.total());
  const Scores scores = scores_by(Best::F1, *session.evaluator(), session.programs().evaluation);
  return {losses.all, session.store().read("logits.weight"), *scores.f1};
}

ClassWeights named_weights() { return {.each = class_oracle()["weights"].get<std::vector<double>>()}; }

TEST(ClassWeights, LossesAreTorchs) {
  const json oracle = class_oracle();
  for (const json& its : oracle["losses"]) {
    const bool named = its["weights"] == "named";
    std::optional<std::int64_t> ignored;
    if (its["ignored"].is_number()) ignored = its["ignored"].get<std::int64_t>();
    SessionSetting setting = weighing(named ? named_weights() : ClassWeights{.balanced = true}, ignored);
    for (const std::int64_t micro_batch : {0, 12, 4, 1}) {
      setting.program.micro_batch = micro_batch;
      const std::vector<double> losses = trained_by(setting).losses;
      ASSERT_EQ(losses.size(), 4U);
      for (std::size_t step = 0; step < losses.size(); ++step)
        EXPECT_NEAR(losses[step], its["losses"][step].get<double>(), 1e-12) << its["weights"] << micro_batch << step;
    }
  }
}

TEST(ClassWeights, BitsAreThoseOfEveryMemorySetting) {
  for (const std::int64_t micro_batch : {0, 6}) {
    SessionSetting setting = weighing(named_weights());
    setting.program.micro_batch = micro_batch;
    const WeighedRun expected = trained_by(setting);
    for (const char* memopt : {"none", "level=1", "level=3"}) {
      setting.program.memory = memory_setting(memopt, setting.program.memory);
      EXPECT_EQ(trained_by(setting), expected) << memopt << ' ' << micro_batch;
    }
  }
}

TEST(ClassWeights, RanksHaveTheBitsOfOne) {
  SessionSetting setting = weighing(named_weights());
  setting.program.shards.parts = 4;
  const WeighedRun alone = trained_by(setting);
  EXPECT_GT(alone.f1, 0);
  EmulatedWorld(2).run([&](const std::shared_ptr<Peers>& peers) {
    const WeighedRun shared = trained_by(setting, peers);
    EXPECT_EQ(shared.weights, alone.weights);
    EXPECT_EQ(shared.f1, alone.f1);
  });
}

TEST(ClassWeights, OfNothingButZerosLeaveAStepAsItIs) {
  SessionSetting setting = weighing({.each = {0, 0, 0, 1}});
  setting.program.network.batch = 2;  // some batches have no label that counts
  EXPECT_TRUE(std::isfinite(trained_by(setting).losses.back()));
}

TEST(ClassWeights, AreRefusedWhereTheyMeanNothing) {
  const auto refusal_of = [](const std::string& loss, const LossSettings& settings, DType target) {
    SessionSetting setting = weighing(named_weights());
    setting.program.network.build = [=](const BuildOptions& options) {
      Builder net(options);
      const VarId x = net.layer("fc", net.input("x", {kWidth}), {{"out", kClasses}}, "logits");
      net.loss(loss, x, target == DType::i32 ? net.input("y", {}, target) : net.input("y", {kClasses}), settings);
      return net.finish();
    };
    return error_from([&] { build_programs(setting.program); }, Exit::Usage);
  };
  EXPECT_PRED2(says, refusal_of("mse", {}, DType::f64), "no loss of labels whose classes `class_weights` could weigh");
  EXPECT_PRED2(says, refusal_of("cross_entropy", {.label_smoothing = 0.1}, DType::i32),
               "`class_weights` goes without label_smoothing");
  EXPECT_PRED2(says, error_from([] {
                 trained_by(weighing({.each = {1, 2}}));
               }),
               "`class_weights` has 2 numbers, the network tells 4 classes apart");
  SessionSetting mixed = weighing(named_weights());
  mixed.program.mixes = true;
  EXPECT_PRED2(says, error_from([&] { build_programs(mixed.program); }, Exit::Usage),
               "`class_weights` goes without mixup and cutmix");
  SessionSetting setting = weighing({.balanced = true});
  setting.data.samples = std::make_shared<Unbalanced>(std::vector<std::int32_t>(24, 1));
  EXPECT_PRED2(says, error_from([&] { trained_by(setting); }),
               "unbalanced: class 'ant' has no training sample, so there is no weight that balances it");
}

class ClassWeightsRun : public RunTest {};

TEST_F(ClassWeightsRun, AreKeptByARunThatGoesOn) {
  const auto run = [&](const std::string& name, const char* steps) {
    return run_train(small({"--save", path(name), "--steps", steps, "--schedule", "constant", "--class-weights",
                            "balanced", "--sampler", "balanced"}));
  };
  ASSERT_EQ(run("whole", "24").code, 0);
  ASSERT_EQ(run("parts", "13").code, 0);
  const Ended on = run_train({"--resume", path("parts"), "--steps", "24", "--threads", "1"});
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(checkpoint_bytes("parts"), checkpoint_bytes("whole"));
  const Ended other = run_train({"--resume", path("parts"), "--steps", "30", "--class-weights", "1,2,3,4"});
  EXPECT_EQ(other.code, 2);
  EXPECT_PRED2(says, other.err, "has balanced, not 1,2,3,4; it cannot go on with another");
  const Ended eval = run_train({"eval", "--weights", path("whole"), "--threads", "1"});
  EXPECT_EQ(eval.code, 0) << eval.err;
}

TEST_F(ClassWeightsRun, SaysWhatIsWrongWithThem) {
  const auto refusal_of = [&](const char* weights) {
    return run_train(small({"--class-weights", weights, "--steps", "1"}));
  };
  EXPECT_PRED2(says, refusal_of("balance").err, "--class-weights: expected none, balanced, or numbers");
  EXPECT_PRED2(says, refusal_of("1,-2,1,1").err, "--class-weights: expected none, balanced, or numbers");
  EXPECT_PRED2(says, refusal_of("0,0,0,0").err, "all classes have a weight of 0");
  for (const Ended& few : {refusal_of("1,2"), run_train({"plan", "--model", "lenet", "--class-weights", "1,2"})}) {
    EXPECT_EQ(few.code, 4);
    EXPECT_PRED2(says, few.err, "--class-weights has 2 numbers, the network tells ");
  }
}

}  // namespace
}  // namespace lethe::testing
