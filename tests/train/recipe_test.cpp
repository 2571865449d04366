#include "train/recipe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "framework/error.h"
#include "tests/support/expect_error.h"
#include "train/data/augment.h"
#include "train/report/option_names.h"
#include "train/session/programs.h"

namespace lethe::testing {
namespace {

/// A network file with these train settings.
class Recipe : public ::testing::Test {
 protected:
  void SetUp() override { write(""); }
  /// Writes a network with `more` among the train settings.
  void write(const std::string& more, const std::string& optimizer = "momentum") const {
    std::ofstream(file_) << R"({"version": 1, "name": "tiny", "vars": {"n": 1},
      "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
      "layers": [{"op": "fc", "out": 10, "name": "logits"}],
      "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
      "train": {"batch": 16, "epochs": 3, "lr": 0.1, "weight_decay": 0.0001,
                "schedule": "cosine", "augment": "flip", "optimizer": ")"
                         << optimizer << '"' << more << "}}";
  }
  void TearDown() override { std::filesystem::remove(file_); }
  Options options(std::vector<std::string> more, const OptionValues& resumed = {}) const {
    more.insert(more.end(), {"--model", file_});
    return decided(parse_options(more), resumed);
  }
  const std::string file_ = ::testing::TempDir() + message("lethe_recipe_", getpid(), "_") +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

TEST_F(Recipe, TheNetworksSettingsHoldWhereTheCommandLineSaysNothing) {
  const Options o = options({"--lr", "0.5"});
  EXPECT_EQ(o.course.lr, 0.5);
  EXPECT_EQ(o.program.network.batch, 16);
  EXPECT_EQ(o.course.epochs, 3);
  EXPECT_EQ(o.course.schedule_text, "cosine");
  EXPECT_FALSE(o.data.spec) << "open_data() looks at the network";
  EXPECT_EQ(o.program.network.seed, 0U);
  EXPECT_EQ(o.program.update.rule.weight_decay, 1e-4);
  EXPECT_TRUE(o.data.augment.flip);
}

TEST_F(Recipe, TheNetworksFileIsReadOnce) {
  const Options o = options({});
  const std::string id = network_id(o.program.network);
  std::ofstream(file_) << "nothing of use";
  EXPECT_EQ(network_id(o.program.network), id) << "of the file as it was";
  EXPECT_EQ(network_id(with_value(o, "lr", "0.3").program.network), id);
  EXPECT_THROW(options({}), Error);
}

TEST_F(Recipe, AResumedRunsSettingsComeBeforeTheNetworks) {
  const Options o = options({"--epochs", "9"}, {{"batch", "8"}, {"lr", "0.02"}, {"epochs", "5"}, {"seed", "4"}});
  EXPECT_EQ(o.program.network.batch, 8);
  EXPECT_EQ(o.course.lr, 0.02);
  EXPECT_EQ(o.course.epochs, 9);
  EXPECT_EQ(o.program.network.seed, 4U);
}

TEST_F(Recipe, AResumedRunStaysOnItsDeviceUnlessToldOtherwise) {
  const OptionValues on_gpu = {
      {"device", "cuda:1"}, {"tf32", "true"}, {"deterministic", "true"}, {"workspace-limit", "1MiB"}};
  const Options stays = options({"--resume", "run"}, on_gpu);
  EXPECT_EQ(stays.device.name, "cuda:1");
  EXPECT_TRUE(stays.device.tf32 && stays.device.deterministic);
  EXPECT_EQ(stays.device.workspace_limit, 1 << 20);
  for (const auto& [name, value] : on_gpu) EXPECT_EQ(values_to_keep(stays).count(name), 1U) << name;
  const Options moves = options({"--resume", "run", "--device", "cpu"}, on_gpu);
  EXPECT_EQ(moves.device.name, "cpu");
  EXPECT_FALSE(moves.device.tf32 || moves.device.workspace_limit);
  const OptionValues on_cpu = {{"no-winograd", "true"}, {"fast-f32", "true"}, {"autotune", file_ + ".choices"}};
  std::ofstream(file_ + ".choices");
  const Options of_cpu = options({"--resume", "run"}, on_cpu);
  EXPECT_TRUE(of_cpu.device.no_winograd && of_cpu.device.fast_f32 && of_cpu.device.trials);
  for (const auto& [name, value] : on_cpu) EXPECT_EQ(values_to_keep(of_cpu).count(name), 1U) << name;
  const Options leaves = options({"--resume", "run", "--device", "cuda"}, on_cpu);
  EXPECT_FALSE(leaves.device.no_winograd || leaves.device.fast_f32 || leaves.device.trials);
  const OptionValues tuned_on_gpu = {{"device", "cuda"}, {"autotune", file_ + ".choices"}};
  EXPECT_FALSE(options({"--resume", "run", "--device", "cpu"}, tuned_on_gpu).device.trials);
}

TEST_F(Recipe, WhatIsDecidedLaterKeepsWhatWasReadBefore) {
  const std::string choices = file_ + ".choices";
  const Options o = decided_for_timing(parse_options({"bench", "--model", file_, "--autotune", choices}));
  EXPECT_EQ(o.data.spec, "synthetic");
  EXPECT_TRUE(o.device.trials) << "they were there before the data was decided";
  EXPECT_TRUE(o.program.network.file);
}

TEST_F(Recipe, ASweepTakesNoStepsFromTheNetwork) {
  write(R"(, "steps": 3)");
  const Options sweep = decided(parse_options({"lr-find", "--model", file_}));
  EXPECT_EQ(sweep.course.steps, 100) << "3 are too few for a sweep, but they are of training";
  EXPECT_EQ(sweep.program.network.batch, 16);
}

TEST_F(Recipe, AnotherOptimizerDoesNotInheritTheNetworksRate) {
  const Options o = options({"--optimizer", "adam"});
  EXPECT_EQ(o.course.lr, 0.001);
  EXPECT_EQ(o.course.schedule_text, "constant");
  EXPECT_EQ(o.program.network.batch, 16);
}

TEST_F(Recipe, DecayOfBiasAndNormIsForTheCommandLineOrTheNetworkToAsk) {
  const auto decay = [&](const std::vector<std::string>& args, const OptionValues& kept = {}) {
    return options(args, kept).program.update.rule.decay;
  };
  EXPECT_EQ(decay({}), "");
  EXPECT_EQ(decay({"--decay-all"}), "*");
  EXPECT_EQ(decay({}, values_to_keep(options({"--decay-all"}))), "*") << "of a run that goes on";
  write(R"(, "decay_all": true)");
  EXPECT_EQ(decay({}), "*");
  EXPECT_EQ(decay({"--decay-all=false"}), "");
  EXPECT_EQ(decay({"--optimizer", "adam"}), "");
  write(R"(, "decay_all": "=n > 1")");
  EXPECT_EQ(decay({}), "");
  EXPECT_EQ(decay({"--set", "n=2"}), "*");
}

TEST_F(Recipe, DecayByNameAndTheRatesOfMeansAreForTheCommandLineOrTheNetworkToSay) {
  write(R"(, "beta2": 0.95, "eps": 1e-6, "decay": "a.*", "no_decay": "b,c")", "adamw");
  const OptimizerSettings of_network = options({}).program.update.rule;
  EXPECT_EQ(of_network.beta1, 0.9);
  EXPECT_EQ(of_network.beta2, 0.95);
  EXPECT_EQ(of_network.eps, 1e-6);
  EXPECT_EQ(of_network.decay, "a.*");
  EXPECT_EQ(of_network.no_decay, "b,c");
  const std::vector<std::string> said = {"--beta1", "0.8", "--beta2", "0.99", "--no-decay", "d"};
  for (const Options& o : {options(said), options({}, values_to_keep(options(said)))}) {
    EXPECT_EQ(o.program.update.rule.beta1, 0.8);
    EXPECT_EQ(o.program.update.rule.beta2, 0.99);
    EXPECT_EQ(o.program.update.rule.no_decay, "d");
  }
  EXPECT_EQ(options({"--optimizer", "adam"}).program.update.rule.beta2, 0.999);
}

TEST_F(Recipe, RatesOfMeansAreForOptimizersThatHaveThem) {
  EXPECT_EQ(error_of([&] { options({"--beta1", "0.8"}); }), "--beta1: momentum has none");
  EXPECT_EQ(error_of([&] { options({"--beta1", "1"}); }), "--beta1: must be from 0 to below 1, not 1");
}

TEST_F(Recipe, AWrongSettingOfTheNetworkIsNamedWithItsPlace) {
  const auto complaint = [&](const std::string& key, const std::string& value) {
    write(",\n\"" + key + "\": " + value);
    return error_of([&] { options({}); });
  };
  const std::string place = file_ + ":7:";
  EXPECT_EQ(complaint("momentum", "\"much\"").rfind(place + "13: --momentum", 0), 0U);
  EXPECT_EQ(complaint("clip_norm", "-1").rfind(place + "14: --clip-norm", 0), 0U);
  std::ofstream(file_) << R"({"version": 1, "inputs": {"image": {"shape": [3]}}, "layers": [],
      "train": {"schedule": "nonsense"}})";
  EXPECT_EQ(error_of([&] { options({}); }).rfind(file_ + ":2:29: unknown schedule 'nonsense'", 0), 0U);
  EXPECT_EQ(options({"--schedule", "constant"}).course.schedule_text, "constant") << "what comes first replaces it";
  std::ofstream(file_) << R"({"version": 1, "inputs": {"image": {"shape": [3]}}, "layers": [],
      "train": {"optimizer": "nope"}})";
  EXPECT_EQ(error_of([&] { options({}); }).rfind(file_ + ":2:30: unknown optimizer 'nope'", 0), 0U);
  std::ofstream(file_) << R"({"version": 1, "inputs": {"image": {"shape": [3]}}, "layers": [],
      "train": {"augment": "turn"}})";
  EXPECT_EQ(with_options(error_of([&] { options({}); })).rfind(file_ + ":2:28: --augment: unknown word 'turn'", 0), 0U);
}

TEST_F(Recipe, WhatIsKeptDecidesTheSameRunAgain) {
  const Options first = options({"--steps", "20", "--set", "n=3", "--quiet"});
  const OptionValues kept = values_to_keep(first);
  EXPECT_EQ(kept.count("quiet"), 0U);
  const Options again = decided(parse_options({"--resume", "somewhere"}), kept);
  EXPECT_EQ(again.course.steps, 20);
  EXPECT_FALSE(again.given.contains("epochs"));
  EXPECT_EQ(again.program.network.model, first.program.network.model);
  EXPECT_EQ(again.program.network.sets, first.program.network.sets);
  EXPECT_EQ(values_to_keep(again), kept);
}

TEST_F(Recipe, MomentumMakesMomentumOfPlainGradientDescent) {
  EXPECT_EQ(options({"--optimizer", "sgd", "--momentum", "0.8"}).program.update.rule.type, OptimizerType::Momentum);
  EXPECT_EQ(options({"--optimizer", "sgd"}).program.update.rule.type, OptimizerType::Sgd);
  EXPECT_THROW(options({"--optimizer", "adam", "--momentum", "0.8"}).program.update.rule, Error);
}

TEST(Augmentation, WordsNameTheirPixels) {
  const Augmentation some = augmentation_of("pad-crop=2,flip");
  EXPECT_EQ(some, (Augmentation{.pad_crop = 2, .flip = true}));
  EXPECT_EQ(augmentation_of("pad-crop,cutout=8").pad_crop, 4);
  EXPECT_EQ(augmentation_of("none"), Augmentation{});
}

TEST(Augmentation, UnknownWordsGetASuggestion) {
  try {
    augmentation_of("pad-crop,flop");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "`augment`: unknown word 'flop'; did you mean 'flip'?; known: none, pad-crop, flip, cutout, random-crop, "
        "random-resized-crop, rotate, color-jitter, rand, mixup, cutmix, mix-prob, cutmix-prob");
  }
  EXPECT_THROW(augmentation_of("pad-crop=wide"), Error);
}

}  // namespace
}  // namespace lethe::testing
