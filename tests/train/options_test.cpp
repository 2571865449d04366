#include "train/options.h"

#include <gtest/gtest.h>

#include "framework/error.h"
#include "kernels/cuda/device.h"
#include "train/recipe.h"
#include "train/report/option_names.h"
#include "train/values.h"

namespace lethe::testing {
namespace {

std::string complaint(const std::vector<std::string>& args, Exit code = Exit::Usage) {
  try {
    parse_options(args);
  } catch (const Error& error) {
    EXPECT_EQ(error.code, code) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return with_options(error.what());
  }
  return "no complaint";
}

void expect_in(const std::string& part, const std::string& text) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Options, WhatExcludesOrNeedsAnotherNamesOneThatThereIs) {
  for (const Command& command : command_table()) {
    Options options(command);
    OptionSet set;
    const lethe::Run run = command.declare(set, options);
    for (const OptionRow& row : set.rows()) {
      for (const std::string& other : row.excluded)
        EXPECT_TRUE(set.find(other)) << call_of(command) << ": " << row.name << " excludes " << other;
      if (row.needed) {
        EXPECT_TRUE(set.find(*row.needed)) << call_of(command) << ": " << row.name << " needs " << *row.needed;
      }
    }
  }
}

TEST(Options, ReadsAWholeCommandLine) {
  const Options o = parse_options({"--model",
                                   "resnet20",
                                   "--set",
                                   "n=5",
                                   "--set",
                                   "w=8",
                                   "--data=mnist:/data",
                                   "--batch",
                                   "64",
                                   "--epochs",
                                   "3",
                                   "--lr",
                                   "0.1",
                                   "--dtype",
                                   "f64",
                                   "--save",
                                   "runs/1",
                                   "--save-every",
                                   "2e",
                                   "--eval-every",
                                   "100",
                                   "--seed",
                                   "7"});
  EXPECT_STREQ(o.command->word, "");
  EXPECT_EQ(o.program.network.model, "resnet20");
  EXPECT_EQ(o.program.network.sets, (Sets{{"n", "5"}, {"w", "8"}}));
  EXPECT_EQ(o.data.spec, "mnist:/data");
  EXPECT_EQ(o.program.network.batch, 64);
  EXPECT_EQ(o.course.epochs, 3);
  EXPECT_EQ(o.course.steps, std::nullopt);
  EXPECT_EQ(o.course.lr, 0.1);
  EXPECT_EQ(o.program.network.dtype, DType::f64);
  EXPECT_EQ(o.course.save_every, (Interval{2, true}));
  EXPECT_EQ(o.course.eval_every, (Interval{100, false}));
  EXPECT_EQ(o.program.network.seed, 7U);
}

TEST(Options, TheFirstWordNamesTheCommand) {
  EXPECT_STREQ(parse_options({"show", "--model", "lenet", "--format", "json", "--eval"}).command->word, "show");
  EXPECT_STREQ(parse_options({"schema"}).command->word, "schema");
  EXPECT_FALSE(parse_options({"schema"}).given.contains("layers"));
  EXPECT_EQ(parse_options({"schema", "--layers"}).given.at("layers"), "");
  EXPECT_EQ(parse_options({"schema", "--layers", "conv"}).given.at("layers"), "conv");
  expect_in("did you mean 'show'?", complaint({"shwo", "--model", "lenet"}));
  expect_in("a network is named with --model", complaint({"resnet20"}));
}

TEST(Options, AfterTwoStrokesStandFiles) {
  const Options o = parse_options({"predict", "--weights", "run", "--", "--a=", "--top", "b"});
  EXPECT_EQ(o.arguments, (std::vector<std::string>{"--a=", "--top", "b"}));
  EXPECT_FALSE(o.given.contains("top"));
}

TEST(Options, AListMayBeLongerThanAPath) {
  std::string vars = "x0";
  for (int i = 1; i < 2000; ++i) vars += ",x" + std::to_string(i);
  ASSERT_GT(vars.size(), 4096U);
  EXPECT_EQ(parse_options({"--model", "lenet", "--skip-vars", vars}).program.memory.levels.pins.skip_vars.size(),
            2000U);
  expect_in("--skip-vars: the value has 70000 characters, more than 65536",
            complaint({"--model", "lenet", "--skip-vars", std::string(70000, 'x')}));
  expect_in("an argument has 5000 characters, more than 4096", complaint({"pack", std::string(5000, 'x')}));
}

TEST(Options, ATypoIsNamedBeforeWhatIsMissingBecauseOfIt) {
  const std::string text = complaint({"--modle", "lenet"});
  expect_in("unknown option --modle; did you mean '--model'?", text);
  expect_in("did you mean '--lr'?", complaint({"--model", "lenet", "--learning-rate", "1"}));
  expect_in("did you mean '--batch'?", complaint({"--model", "lenet", "--batch_size=8"}));
  EXPECT_EQ(text.find("missing"), std::string::npos) << text;
  expect_in("did you mean '--epochs'?", complaint({"--model=lenet", "--epoch=3"}));
}

TEST(Options, BadFilesThatMayBeLeftOutBecomeAPartOfTheData) {
  const Options o = parse_options({"--model", "lenet", "--data", "imagefolder:a", "--skip-bad", "3"});
  EXPECT_EQ(o.data.spec, "imagefolder:a,skip-bad=3");
  EXPECT_EQ(o.given.at("data"), "imagefolder:a,skip-bad=3") << "which a run keeps";
  EXPECT_EQ(o.given.count("skip-bad"), 0U);
  const Options resumed =
      with_values(parse_options({"--model", "lenet", "--skip-bad", "5"}), {{"data", "imagefolder:a,skip-bad=3"}});
  EXPECT_EQ(resumed.data.spec, "imagefolder:a,skip-bad=5");
  expect_in("--skip-bad is of image files", complaint({"--model", "lenet", "--data", "mnist:a", "--skip-bad", "3"}));
  EXPECT_THROW(decided(parse_options({"--model", "lenet", "--skip-bad", "3"})), Error);
}

TEST(Options, OptionsBelongToTheirCommand) {
  expect_in("unknown option --epochs", complaint({"show", "--model", "lenet", "--epochs", "3"}));
}

TEST(Options, SettingsThatTheLibraryNamesBecomeOptions) {
  EXPECT_EQ(with_options("`weight_decay`: no; try `lr` 1"), "--weight-decay: no; try --lr 1");
  EXPECT_EQ(with_options("a`b: `train count`, `X`, ``, `"), "a`b: train count, `X`, ``, `");
}

TEST(Options, WrongNumbersSayWhatWasExpected) {
  expect_in("--batch: must be at least 1, not 0", complaint({"--model", "m", "--batch", "0"}));
  expect_in("--batch: must be at least 1, not -4", complaint({"--model", "m", "--batch", "-4"}));
  expect_in("--batch: 'many' is not a whole number", complaint({"--model", "m", "--batch", "many"}));
  expect_in("--epochs: must be at least 1, not 0", complaint({"--model", "m", "--epochs", "0"}));
  expect_in("--steps: '1.5' is not a whole number", complaint({"--model", "m", "--steps", "1.5"}));
  expect_in("--lr: 'fast' is not a number", complaint({"--model", "m", "--lr", "fast"}));
  expect_in("--lr: 'nan' is not a number", complaint({"--model", "m", "--lr", "nan"}));
  expect_in("--lr: must be above 0, not -1", complaint({"--model", "m", "--lr", "-1"}));
  expect_in("--weight-decay: must not be negative", complaint({"--model", "m", "--weight-decay", "-1e-4"}));
  expect_in("--save-every: '1.5e' is neither steps",
            complaint({"--model", "m", "--save", "d", "--save-every", "1.5e"}));
  expect_in("--set: 'n:3' is not NAME=VALUE", complaint({"--model", "m", "--set", "n:3"}));
}

TEST(Options, WhatExcludesEachOtherIsRefused) {
  expect_in("--epochs", complaint({"--model", "m", "--epochs", "1", "--steps", "5"}));
  expect_in("--resume", complaint({"--resume", "d", "--weights", "w"}));
  expect_in("--resume auto needs --save", complaint({"--model", "m", "--resume", "auto"}));
  expect_in("--save-every needs --save", complaint({"--model", "m", "--save-every", "5"}));
}

TEST(Options, AModelIsNeededUnlessARunIsResumed) {
  expect_in("--model is missing", complaint({"--epochs", "1"}));
  EXPECT_EQ(parse_options({"--resume", "run1"}).checkpoints.resume, "run1");
}

TEST(Options, MemorySettingsAreReadBeforeAnythingIsDone) {
  EXPECT_EQ(parse_options({"--model", "m"}).program.memory.text, "level=2");
  EXPECT_EQ(parse_options({"show", "--model", "m"}).program.memory.text, "none");
  EXPECT_EQ(parse_options({"--model", "m", "--memory-budget", "2GiB"}).program.memory.text, "level=3")
      << "unless another is said";
  const MemorySetting said =
      parse_options({"--model", "m", "--memory-budget", "5000", "--memopt", "level=1"}).program.memory;
  EXPECT_EQ(said.text, "level=1");
  EXPECT_EQ(said.levels.budget, 5000) << "a number without unit is bytes";
  const std::vector<std::string> priced = {"--model", "m", "--memopt", "level=3", "--overhead"};
  for (const char* share : {"5%", "0.05"}) {
    std::vector<std::string> args = priced;
    args.emplace_back(share);
    EXPECT_EQ(parse_options(args).program.memory.levels.overhead, 0.05);
  }
  expect_in("--overhead: '5%%' is no share of a step",
            complaint({"--model", "m", "--memopt", "level=3", "--overhead", "5%%"}));
  expect_in("--overhead is of --memopt level=3; this is level=2", complaint({"--model", "m", "--overhead", "5%"}));
  expect_in("--memory-budget: nothing runs in 0 bytes", complaint({"--model", "m", "--memory-budget", "0"}));
  expect_in("--memory-budget goes with none and the levels",
            complaint({"--model", "m", "--memory-budget", "1GiB", "--memopt", "optnet=training"}));
  const Options kept = parse_options({"--model", "m", "--skip-vars", "a,b", "--skip-grads"});
  EXPECT_EQ(kept.program.memory.levels.pins.skip_vars, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(kept.program.memory.levels.pins.skip_grads);
}

TEST(Options, AnAbsentDeviceHasItsOwnExitCode) {
  expect_in("unknown device", complaint({"--model", "m", "--device", "tpu"}));
  expect_in("did you mean 'h200'", complaint({"plan", "--model", "m", "--device", "h20"}));
  expect_in("'cuda:x' names no GPU", complaint({"--model", "m", "--device", "cuda:x"}));
  expect_in("h200 is a description", complaint({"--model", "m", "--device", "h200"}));
  expect_in("--tf32 is for GPUs", complaint({"--model", "m", "--tf32"}));
  expect_in("--no-winograd is for the CPU; --device is cuda",
            complaint({"--model", "m", "--no-winograd", "--device", "cuda"}));
  expect_in("--fast-f32 is for the CPU; --device is cuda",
            complaint({"--model", "m", "--fast-f32", "--device", "cuda"}));
  expect_in("--eager is for GPUs", complaint({"--model", "m", "--eager"}));
  expect_in("--workspace-limit is for GPUs", complaint({"--model", "m", "--workspace-limit", "1MiB"}));
  if (!has_cuda()) expect_in("no CUDA", complaint({"--model", "m", "--device", "cuda"}, Exit::Device));
}

TEST(Options, UnknownWordsGetASuggestion) {
  expect_in("did you mean 'f32'?", complaint({"--model", "m", "--dtype", "f23"}));
  expect_in("did you mean 'json'?", complaint({"show", "--model", "m", "--format", "jsn"}));
}

TEST(Options, ValuesFillInWhatTheCommandLineLeavesOut) {
  const Options given = parse_options({"--model", "m", "--batch", "8", "--set", "n=3", "--quiet"});
  const Options o = with_values(given, {{"batch", "128"}, {"lr", "0.1"}, {"set", "n=9,w=16"}, {"epochs", "4"}});
  EXPECT_EQ(o.program.network.batch, 8);
  EXPECT_EQ(o.course.lr, 0.1);
  EXPECT_EQ(o.course.epochs, 4);
  EXPECT_EQ(o.program.network.sets, (Sets{{"n", "3"}, {"w", "16"}}));
  EXPECT_TRUE(o.quiet);
}

TEST(Options, StepsOnTheCommandLineReplaceEpochsFromElsewhere) {
  const Options o = with_values(parse_options({"--model", "m", "--steps", "20"}), {{"epochs", "4"}});
  EXPECT_EQ(o.course.steps, 20);
  EXPECT_FALSE(o.given.contains("epochs"));
}

TEST(Options, ValuesOfOptionsThatTheCommandHasNotAreLeftOut) {
  EXPECT_EQ(
      with_values(parse_options({"eval", "--model", "m"}), {{"lr", "0.1"}, {"batch", "32"}}).program.network.batch, 32);
}

TEST(Options, HelpListsGroupsDefaultsAndCommands) {
  const std::string help = parse_options({"--help"}).answer;
  for (const char* part : {"Network:", "Training:", "Checkpoints:", "--batch", "default f32", "eval", "schema"})
    expect_in(part, help);
  expect_in("--output", parse_options({"export", "--help"}).answer);
  expect_in("lethe ", parse_options({"--version"}).answer);
  expect_in("lethe ", parse_options({"--threads=2%", "--version"}).answer);  // which nobody asks for then
}

TEST(Options, LaterValuesOfTheSameOptionWin) {
  EXPECT_EQ(parse_options({"--model", "m", "--batch", "8", "--batch", "16"}).program.network.batch, 16);
}

TEST(Options, ReadsLinksBetweenRanks) {
  const auto link = [](const std::string& text) {
    EXPECT_NO_THROW(parse_options({"plan", "--model", "lenet", "--ranks", "4", "--network", text}));
    return parse_link(text, "--network");
  };
  EXPECT_DOUBLE_EQ(link("25Gb,10us").bytes, 25e9 / 8);
  EXPECT_DOUBLE_EQ(link("25Gb,10us").latency, 10e-6);
  EXPECT_DOUBLE_EQ(link("1.5GB,500ns").bytes, 1.5e9);
  EXPECT_DOUBLE_EQ(link("100Mb,0ms").latency, 0);
  for (const char* const text :
       {"25Gb", "25,10us", "0Gb,1us", "-1Gb,1us", "25Gb,1h", ",", "25Gb,", "nanGb,1us", "25Gb,10us,"})
    expect_in("is no link; expected a rate and a latency such as 25Gb,10us or 3GB,500ns",
              complaint({"plan", "--model", "lenet", "--network", text}));
}

}  // namespace
}  // namespace lethe::testing
