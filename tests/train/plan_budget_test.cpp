// `train plan` against a budget: what fits, and what is said where nothing does.
#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/error.h"
#include "tests/train/plan_command.h"

namespace lethe::testing {
namespace {

TEST_F(PlanCommand, TheLargestBatchThatFitsIsTheLargest) {
  const std::int64_t least = json({})["bytes"]["peak"];
  const Options options = decided(parse_options({"plan", "--model", path("small.json"), "--memopt", "none", "--threads",
                                                 "1", "--memory-budget", std::to_string(least - 1)}));
  const std::vector<Remedy> remedies = report_of(options).remedies;
  const std::string words = "--memopt level=2 --batch ";
  const auto found = std::ranges::find_if(remedies, [&](const Remedy& r) { return r.change.starts_with(words); });
  ASSERT_NE(found, remedies.end());
  const int batch = std::stoi(found->change.substr(words.size()));
  const auto peak = [&](int samples) {
    return json({"--batch", std::to_string(samples)})["bytes"]["peak"].get<std::int64_t>();
  };
  EXPECT_EQ(peak(batch), found->bytes);
  EXPECT_LT(peak(batch), least);
  EXPECT_GE(peak(batch + 1), least);
}

TEST_F(PlanCommand, NoSmallerBatchIsNamedWhereLevel2Fits) {
  const std::int64_t budget = json({})["bytes"]["peak"].get<std::int64_t>() + 1000;
  const Ended ended = plan({"--memopt", "none", "--memory-budget", std::to_string(budget)});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out.find("the largest that fits"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("--memopt level=2"), std::string::npos) << ended.out;
  EXPECT_NE(ended.err.find("; --memopt level=2 fits"), std::string::npos) << ended.err;
}

TEST_F(PlanCommand, ABudgetThatIsTooSmallNamesOneThatIsEnough) {
  const std::int64_t least = json({})["bytes"]["peak"];
  EXPECT_EQ(plan({"--memory-budget", std::to_string(least)}).code, 0);
  const Ended over = plan({"--memopt", "level=2", "--memory-budget", std::to_string(least - 1)});
  EXPECT_EQ(over.code, 3);
  EXPECT_NE(over.out.find("the largest that fits"), std::string::npos) << over.out;
  const Ended other = plan({"--memopt", "none", "--memory-budget", std::to_string(least)});
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("--memopt level=2 fits"), std::string::npos) << other.err;
  EXPECT_EQ(plan({"--memory-budget", "much"}).code, 2);
}

TEST_F(PlanCommand, APlanThatDoesNotFitSaysFirstWhatComputingAgainWouldDo) {
  const std::int64_t least = json({})["bytes"]["peak"];
  const Ended within = plan({"--memory-budget", std::to_string(least - 1), "--json"});
  if (within.code == 3) GTEST_SKIP() << "in this build workspaces take more than what is kept";
  const nlohmann::json level3 = nlohmann::json::parse(within.out);
  const Ended over = plan({"--memopt", "level=2", "--memory-budget", std::to_string(least - 1)});
  EXPECT_EQ(over.code, 3);
  std::ostringstream price_text;
  price_text << std::fixed << std::setprecision(1) << 100 * level3["overhead"].get<double>() << " %";
  const std::string price = price_text.str();
  EXPECT_NE(over.out.find("What would take less, in MiB:\n\n--memopt level=3  "), std::string::npos) << over.out;
  EXPECT_NE(over.out.find("computing again " + price), std::string::npos) << over.out;
  EXPECT_NE(over.err.find("the smallest that is enough at --memopt level=3 is " + level3["least_feasible"].dump()),
            std::string::npos)
      << over.err;
  EXPECT_NE(over.err.find("; --memopt level=3 fits, for " + price), std::string::npos) << over.err;
}

TEST_F(PlanCommand, ASearchBeginsWithTheLeastThatCanBeBuilt) {
  std::ofstream(path("small.json")) << R"({"version": 1, "name": "pooled",
    "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
    "layers": [{"op": "conv", "out": 8, "k": 3}, {"op": "global_avg_pool"}, {"op": "bn"},
               {"op": "fc", "out": 4, "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}], "train": {"batch": 16}})";
  EXPECT_NE(plan({"--batch", "1"}).err.find("1 value a channel"), std::string::npos);
  const std::int64_t least = json({"--batch", "2", "--memopt", "level=2"})["bytes"]["peak"];
  const auto with = [&](std::int64_t budget, std::vector<std::string> more) {
    more.insert(more.end(), {"--memopt", "level=2", "--memory-budget", std::to_string(budget)});
    return plan(more);
  };
  const Ended none = with(least - 1, {"--batch", "auto"});
  EXPECT_EQ(none.code, 3);
  EXPECT_NE(
      none.err.find(message("not even a batch of 2 fits into ", least - 1, " bytes with level=2, it takes ", least)),
      std::string::npos)
      << none.err;
  EXPECT_NE(with(least, {"--batch", "auto"}).err.find("--batch auto is 2: "), std::string::npos);
  const Ended parts = with(100, {"--micro-batch", "auto"});
  EXPECT_EQ(parts.code, 3);
  EXPECT_NE(parts.err.find("not even a micro-batch of 2 fits"), std::string::npos) << parts.err;
  EXPECT_EQ(with(100, {}).code, 3);
  const Ended shown = run_train({"show", "--model", path("small.json")});
  EXPECT_EQ(shown.code, 0) << shown.err;
}

TEST_F(PlanCommand, AutoComputesATenthAgainAtMostUnlessMoreIsAllowed) {
  const std::vector<std::string> args = {"plan", "--model", "resnet20",        "--set", "n=1",       "--batch",
                                         "auto", "--json",  "--memory-budget", "20MiB", "--threads", "1"};
  const Ended found = run_train(args);
  ASSERT_EQ(found.code, 0) << found.err;
  const nlohmann::json figures = nlohmann::json::parse(found.out);
  EXPECT_LE(figures["overhead"].get<double>(), 0.1);
  const std::string words = "; --overhead ";
  const std::size_t at = found.err.find(words);
  ASSERT_NE(at, std::string::npos) << found.err;
  std::vector<std::string> priced = args;
  const std::string more = found.err.substr(at + words.size());
  priced.insert(priced.end(), {"--overhead", more.substr(0, more.find(' '))});
  const std::string room = "has room for ";
  const nlohmann::json larger = nlohmann::json::parse(run_train(priced).out);
  EXPECT_GE(larger["batch"].get<int>(), std::stoi(more.substr(more.find(room) + room.size())));
  EXPECT_GT(larger["batch"], figures["batch"]);
}

TEST_F(PlanCommand, Level3TakesNoMoreThanBuffersOfTheirOwn) {
  std::ofstream(path("small.json")) << R"({"version": 1, "name": "tiny",
    "inputs": {"image": {"shape": [1, 1, 2]}, "label": {"shape": [], "dtype": "i32"}},
    "layers": [{"op": "fc", "out": 2}, {"op": "tanh"}, {"op": "fc", "out": 2}, {"op": "tanh"}, {"op": "fc", "out": 2},
               {"op": "tanh"}, {"op": "fc", "out": 2, "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
    "train": {"batch": 2, "lr": 0.1, "optimizer": "sgd"}})";
  const auto peak = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"--eval-every", "0"};
    args.insert(args.end(), more.begin(), more.end());
    return json(args)["bytes"]["peak"].get<std::int64_t>();
  };
  const std::int64_t none = peak({"--memopt", "none"});
  ASSERT_GT(peak({"--memopt", "level=2"}), none) << "its values lie at aligned places";
  EXPECT_LE(peak({"--memopt", "level=3"}), none);
  const std::int64_t kept = peak({"--memory-budget", std::to_string(none)});
  EXPECT_LE(kept, none);
  const Ended run = run_train(small({"--eval-every", "0", "--steps", "2", "--memory-budget", std::to_string(none)}));
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find(message("memory taken ", kept, " bytes, as predicted")), std::string::npos) << run.out;
}

TEST_F(PlanCommand, ABudgetIsKeptByComputingAgainAsLittleAsItTakes) {
  const nlohmann::json whole = json({}), swept = json({"--sweep"})["points"];
  if (swept.size() < 2) GTEST_SKIP() << "in this build workspaces take more than what is kept";
  EXPECT_EQ(swept.front()["bytes"], whole["bytes"]["peak"]);
  const std::int64_t least = swept.back()["bytes"];
  std::int64_t bytes = 0;
  double overhead = 0;
  constexpr int kBudgets = 50;
  for (int i = 0; i < kBudgets; ++i) {
    const std::int64_t budget = swept.front()["bytes"].get<std::int64_t>() -
                                (swept.front()["bytes"].get<std::int64_t>() - least) * i / (kBudgets - 1);
    const nlohmann::json figures = json({"--memory-budget", std::to_string(budget)});
    const std::int64_t taken = figures["bytes"]["peak"];
    EXPECT_LE(taken, budget);
    EXPECT_EQ(figures["budget"], budget);
    EXPECT_EQ(figures["least_feasible"], least);
    if (i > 0) {
      EXPECT_LE(taken, bytes) << "less budget never takes more bytes";
      EXPECT_GE(figures["overhead"].get<double>(), overhead) << "nor less time";
    }
    bytes = taken;
    overhead = figures["overhead"];
  }
  EXPECT_EQ(bytes, least);
  const Ended over = plan({"--memory-budget", std::to_string(least - 1)});
  EXPECT_EQ(over.code, 3);
  EXPECT_NE(over.err.find("the smallest that is enough is " + std::to_string(least)), std::string::npos) << over.err;
}

TEST_F(PlanCommand, ARunKeepsItsBudgetAndItsLosses) {
  const nlohmann::json swept = json({"--sweep"})["points"];
  if (swept.size() < 2) GTEST_SKIP() << "in this build workspaces take more than what is kept";
  const std::int64_t least = swept.back()["bytes"];
  const auto losses = [&](const std::vector<std::string>& more) {
    std::vector<std::string> options = {"--steps", "3", "--log-every", "1", "--metrics", path("run.csv")};
    options.insert(options.end(), more.begin(), more.end());
    const Ended run = run_train(small(options));
    EXPECT_EQ(run.code, 0) << run.err;
    std::ifstream in(path("run.csv"));
    std::string all;
    for (std::string line; std::getline(in, line);) {  // step,epoch,split,loss,acc and then what varies
      std::size_t end = 0;
      for (int cell = 0; cell < 5; ++cell) end = line.find(',', end + 1);
      all += line.substr(0, end) + "\n";
    }
    return std::pair(run.out, all);
  };
  const auto [plain, expected] = losses({"--memopt", "none"});
  const auto [out, found] = losses({"--memory-budget", std::to_string(least)});
  EXPECT_NE(out.find("once more"), std::string::npos) << out;
  EXPECT_NE(out.find(message("memory taken ", least, " bytes, as predicted")), std::string::npos) << out;
  EXPECT_EQ(found, expected);
  const Ended refused = run_train(small({"--steps", "1", "--memory-budget", std::to_string(least - 1)}));
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find(message("takes at least ", least, " bytes, more than the memory budget")),
            std::string::npos)
      << refused.err;
}

TEST_F(PlanCommand, TheLargestBatchIsThatWhichOneMoreWouldNotFit) {
  for (const char* memopt : {"level=2", "level=3"}) {
    const std::int64_t budget = 300000;
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.end(), {"--memopt", memopt});
      if (memopt == std::string("level=3")) more.insert(more.end(), {"--overhead", "10%"});
      return json(more);
    };
    const nlohmann::json figures = with({"--batch", "auto", "--memory-budget", std::to_string(budget)});
    const std::int64_t batch = figures["batch"];
    EXPECT_GT(batch, 16);
    EXPECT_LE(figures["bytes"]["peak"], budget);
    EXPECT_GT(with({"--batch", std::to_string(batch + 1)})["bytes"]["peak"], budget);
  }
  EXPECT_NE(plan({"--batch", "auto"}).err.find("--batch auto needs --memory-budget"), std::string::npos);
  EXPECT_EQ(plan({"--batch", "auto", "--memory-budget", "100"}).code, 3);
}

}  // namespace
}  // namespace lethe::testing
