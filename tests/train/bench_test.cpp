// `train bench`, by its results.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/run_fixture.h"
#include "train/report/bench_report.h"
#include "train/search/step_profile.h"

namespace lethe::testing {
namespace {

TEST(BenchReport, ComparesWithTheFirstRow) {
  const std::vector<BenchRow> rows = {
      {.memopt = "none", .planned = 400, .taken = 400, .process = 9, .ms = {{4, 9, 5}}, .losses = {{"1", "0.5"}}},
      {.memopt = "level=2", .planned = 100, .taken = 100, .process = 8, .ms = {{10}}, .losses = {{"1", "0.4"}}}};
  const auto json = nlohmann::json::parse(bench_as("json", {.network = "n", .batch = 2}, rows));
  EXPECT_EQ(json["rows"][0]["ms"], 5);
  EXPECT_EQ(json["rows"][1]["saved"], 0.75);
  EXPECT_EQ(json["rows"][1]["slowdown"], 2);
  EXPECT_EQ(json["rows"][0]["loss_equal"], true);
  EXPECT_EQ(json["rows"][1]["loss_equal"], false);
  EXPECT_NE(bench_as("csv", {}, rows).find("\n\"level=2\",100,100,8,0.75,10,2,false\n"), std::string::npos);
  EXPECT_NE(bench_as("text", {}, rows).find("differs"), std::string::npos);
  EXPECT_NE(bench_as("md", {}, rows).find("| level=2 |"), std::string::npos);
}

TEST(BenchReport, PairsTheRoundsAndTakesTheMiddle) {
  const std::vector<BenchRow> rows = {{.memopt = "none", .ms = {{10}, {20}, {40, 60}, {100}}, .losses = {{"1"}, {"1"}}},
                                      {.memopt = "level=2", .ms = {{11}, {26}, {60}, {100}}, .losses = {{"1"}, {"2"}}}};
  const auto json = nlohmann::json::parse(bench_as("json", {}, rows))["rows"];
  EXPECT_EQ(json[0]["ms"], 35) << "the mean of 20 and 50";
  EXPECT_DOUBLE_EQ(json[1]["slowdown"], 1.15) << "the mean of 1.1 and 1.2";
  EXPECT_EQ(json[0]["loss_equal"], true);
  EXPECT_EQ(json[1]["loss_equal"], false) << "any process counts";
}

TEST(SlowSteps, AreSaidIfTheyTakeMoreThanTenSeconds) {
  EXPECT_EQ(slow_step_line(9e9, 1e9), "");
  EXPECT_EQ(slow_step_line(95e9, 1e9),
            "a step will take about 95 s here, if not more: 95 GFLOP, of which a product does 1 a second");
}

TEST(SlowSteps, CountWhatTheStepsOpsDo) {
  const auto flops = [](std::int64_t batch) {
    return flops_of(build_programs({.network = {.model = "mlp", .batch = batch}}).training);
  };
  EXPECT_GT(flops(1), 0);
  EXPECT_EQ(flops(8), 8 * flops(1));
}

using BenchCommand = RunTest;

TEST_F(BenchCommand, EachSettingTakesWhatWasPlannedAndGivesTheSameLosses) {
  const Ended ended = run_train(
      {"bench", "--model", path("small.json"), "--threads", "1", "--steps", "4", "--rounds", "1", "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto rows = nlohmann::json::parse(ended.out)["rows"];
  ASSERT_EQ(rows.size(), 5U);
  for (const auto& row : rows) {
    EXPECT_EQ(row["planned"], row["taken"]) << row;
    EXPECT_EQ(row["loss_equal"], true) << row;
    EXPECT_GT(row["process"], row["taken"]);
    EXPECT_GT(row["ms"], 0);
  }
  EXPECT_LT(rows.back()["taken"], rows.front()["taken"]);
}

TEST_F(BenchCommand, AProfileHasEveryKernelOfAStep) {
  const auto profile = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"bench",   "--model", path("small.json"), "--threads", "1",        "--profile",
                                     "--steps", "5",       "--batch",          "6",         "--format", "json"};
    args.insert(args.end(), more.begin(), more.end());
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  };
  const nlohmann::json whole = profile({});
  EXPECT_GT(whole["peak"]["gflops"], 0);
  EXPECT_GT(whole["peak"]["gb_per_s"], 0);
  double ms = 0;
  std::map<std::string, double> calls, gflop, mb;
  for (const nlohmann::json& row : whole["rows"]) {
    ms += row["ms"].get<double>();
    calls[row["op"]] += row["calls"].get<double>();
    gflop[row["op"]] += row["gflop"].get<double>();
    mb[row["op"]] += row["mb"].get<double>();
    EXPECT_NE(row["implementation"], "") << row;
    EXPECT_GT(row["mb"], 0) << row;
  }
  EXPECT_LE(ms, whole["ms"].get<double>());
  EXPECT_EQ(calls["conv2d"], 1);
  EXPECT_EQ(calls["momentum"], 6) << "weight and bias of conv and fc, scale and shift of bn";
  EXPECT_NEAR(gflop["conv2d"], 2e-9 * 6 * 8 * 64 * 27, 1e-12) << "8 filters of 3 x 3 x 3 at 64 places of 6 images";
  const double image_mb = 1e-6 * 6 * 64 * 8 * 4;
  EXPECT_GT(mb["batch_norm"], 3 * image_mb) << "it reads its input twice";
  EXPECT_LT(mb["batch_norm"], 3.1 * image_mb);
  double in_parts = 0;
  const nlohmann::json parts = profile({"--micro-batch", "2"});
  for (const nlohmann::json& row : parts["rows"])
    if (row["op"] == "conv2d") in_parts += row["calls"].get<double>();
  EXPECT_EQ(in_parts, 3);
}

TEST_F(BenchCommand, TakesWhatTrainTakes) {
  const std::vector<std::string> bench = {"bench", "--model",  "lenet", "--batch",  "4",    "--steps",
                                          "3",     "--rounds", "1",     "--format", "json", "--settings"};
  const auto with = [&](const std::string& settings) {
    std::vector<std::string> args = bench;
    args.push_back(settings);
    return run_train(args);
  };
  const Ended ended = with("none;optnet=training");
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(nlohmann::json::parse(ended.out)["rows"][1]["memopt"], "optnet=training");
  const Ended wrong = with("none;optnet=inference");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("training needs optnet=training"), std::string::npos) << wrong.err;
}

TEST_F(BenchCommand, AWrongSettingAndARunThatFailsAreOneLine) {
  const Ended wrong = run_train({"bench", "--model", path("small.json"), "--settings", "none;level=8"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--memopt level=8: unknown setting"), std::string::npos) << wrong.err;
  const Ended empty = run_train({"bench", "--model", path("small.json"), "--settings", "none;;level=2"});
  EXPECT_EQ(empty.code, 2);
  EXPECT_NE(empty.err.find("--settings: 'none;;level=2' has an empty setting"), std::string::npos) << empty.err;
  const Ended failed = run_train({"bench", "--model", path("small.json"), "--data", "mnist:/nowhere"});
  EXPECT_EQ(failed.code, 4) << failed.err;
  EXPECT_NE(failed.err.find("/nowhere"), std::string::npos) << failed.err;
}

}  // namespace
}  // namespace lethe::testing
