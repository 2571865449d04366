// `train lr-find`: the sweep, the suggestion, and that nothing else is touched.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/report/lr_report.h"

namespace lethe::testing {
namespace {

LrSweep sweep_of(const std::vector<double>& losses) {
  LrSweep sweep;
  for (std::size_t i = 0; i < losses.size(); ++i)
    sweep.add(rate_of_sweep(static_cast<std::int64_t>(i), 100, 1e-7, 10), losses[i]);
  return sweep;
}

TEST(LrSweep, RatesGrowByOneFactor) {
  EXPECT_DOUBLE_EQ(rate_of_sweep(0, 5, 1e-7, 10), 1e-7);
  EXPECT_NEAR(rate_of_sweep(1, 5, 1e-7, 10), 1e-5, 1e-17);
  EXPECT_NEAR(rate_of_sweep(4, 5, 1e-7, 10), 10, 1e-12);
}

TEST(LrSweep, SmoothedLossesAreMeansThatForget) {
  const std::vector<double> losses = {3, 1, 2, 5, 4};
  const LrSweep sweep = sweep_of(losses);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    double sum = 0, weights = 0;
    for (std::size_t before = 0; before <= i; ++before) {
      const double weight = std::pow(0.98, static_cast<double>(i - before));
      sum += weight * losses[before];
      weights += weight;
    }
    EXPECT_NEAR(sweep.points()[i].smoothed, sum / weights, 1e-12) << i;
    EXPECT_EQ(sweep.points()[i].loss, losses[i]);
  }
}

TEST(LrSweep, SuggestsWhereTheLossFallsSteepest) {
  std::vector<double> losses(40, 2.0);
  for (std::size_t i = 20; i < losses.size(); ++i) losses[i] = 0.1;
  EXPECT_EQ(sweep_of(losses).steepest(), 20U) << "both differences beside it are of the drop";
  losses.assign(40, 2.0);
  EXPECT_EQ(sweep_of(losses).steepest(), std::nullopt) << "it falls nowhere";
  losses[0] = 50;
  EXPECT_EQ(sweep_of(losses).steepest(), 10U) << "the first points are left out";
  losses.resize(kFewestSweptSteps - 1);
  EXPECT_EQ(sweep_of(losses).steepest(), std::nullopt) << "too few";
}

TEST(LrSweep, EndsWhereTheLossDiverges) {
  LrSweep sweep = sweep_of({2, 1, 1, 3});
  EXPECT_FALSE(sweep.diverged());
  sweep.add(1, 20);
  EXPECT_TRUE(sweep.diverged()) << sweep.points().back().smoothed;
  LrSweep broken = sweep_of({2});
  broken.add(1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(broken.diverged());
  EXPECT_EQ(broken.points().size(), 1U);
}

TEST(LrReport, NamesAreTextInThePage) {
  LrReport report{.network = "</h1><img src=x>{{style}}", .dtype = "f32", .optimizer = "sgd", .batch = 1, .steps = 40};
  report.sweep = sweep_of(std::vector<double>(40, 2.0));
  const std::string page = lr_page(report);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_PRED2(says, page, "no --lr suggested");
  EXPECT_PRED2(says, lr_text(report), "no --lr suggested");
}

class LrFind : public RunTest {
 protected:
  std::vector<std::string> sweep(std::vector<std::string> more) const {
    more.insert(more.begin(), {"lr-find", "--steps", "40"});
    return small(more);
  }
};

TEST_F(LrFind, SweepsSuggestsAndDraws) {
  const Ended ended = run_train(sweep({"--format", "json", "--out", path("lr.html")}));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json report = nlohmann::json::parse(ended.out);
  const nlohmann::json& points = report["points"];
  ASSERT_GT(points.size(), 20U);
  EXPECT_EQ(points.size() < 40, report["diverged"].get<bool>());
  EXPECT_EQ(points[0]["lr"], 1e-7);
  EXPECT_NEAR(points[20]["lr"].get<double>() / 1e-7, std::pow(1e8, 20. / 39), 1e-3);
  EXPECT_EQ(report["memory"]["predicted"], report["memory"]["taken"]);
  const auto chosen = [&](const nlohmann::json& point) { return point["lr"] == report["suggestion"]; };
  EXPECT_EQ(std::count_if(points.begin(), points.end(), chosen), 1);

  const std::string page = bytes_in(path("lr.html"));
  EXPECT_PRED2(says, page, "<title>Learning rate of small, batch 16, f32, momentum</title>");
  EXPECT_PRED2(says, page, "--lr " + rate_text(report["suggestion"]));
  for (const char* outside : {"://", "src=\"", "url(", "@import", "{{", "nan"})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(home_), {}), 2) << "small.json and the page";

  const Ended text = run_train(sweep({}));
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_PRED2(says, text.out, "suggested --lr " + rate_text(report["suggestion"]) + ": where");
  EXPECT_PRED2(says, text.out, message("memory taken ", report["memory"]["taken"].dump(), " bytes, as predicted"));
}

TEST_F(LrFind, AStepWithoutACountedLabelIsNoPoint) {
  std::ofstream(path("table.json")) << R"({"version": 1, "name": "table",
    "inputs": {"text": {"shape": [1], "dtype": "i32"}, "next": {"shape": [1], "dtype": "i32"}},
    "layers": [{"op": "embedding", "vocab": 3, "out": 3, "name": "table"}],
    "loss": [{"op": "cross_entropy", "in": "table", "target": "next", "ignore": 2}]})";
  const Ended ended = run_train({"lr-find", "--model", path("table.json"), "--data", "copy:train=40,test=8", "--batch",
                                 "1", "--steps", "40", "--threads", "1", "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const nlohmann::json points = nlohmann::json::parse(ended.out)["points"];
  EXPECT_GT(points.size(), 4U);
  EXPECT_LT(points.size(), 36U);
  for (const auto& point : points) EXPECT_NE(point["loss"], 0);
}

TEST_F(LrFind, BeginsAndPlansAsTraining) {
  const Ended training =
      run_train(small({"--steps", "1", "--eval-every", "0", "--log-json", path("records"), "--lr", "0.5"}));
  ASSERT_EQ(training.code, 0) << training.err;
  const Ended swept = run_train(sweep({}));
  EXPECT_PRED2(says, swept.out, training.out.substr(0, training.out.find("memory taken"))) << "the memory lines";
  const nlohmann::json report = nlohmann::json::parse(run_train(sweep({"--format", "json"})).out);
  const nlohmann::json record = nlohmann::json::parse(bytes_in(path("records")));
  EXPECT_EQ(report["points"][0]["loss"], record["loss"]);
}

TEST_F(LrFind, RefusesInOneLine) {
  const auto expect_refused = [&](const std::vector<std::string>& args, int code, const std::string& part) {
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_PRED2(says, ended.err, part);
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  };
  expect_refused(sweep({"--min-lr", "1", "--max-lr", "0.1"}), 2, "--min-lr 1 is not below --max-lr 0.1");
  expect_refused(sweep({"--steps", "11"}), 2, "--steps: must be at least 12, not 11");
  expect_refused(sweep({"--lr", "1"}), 2, "unknown option --lr");
  expect_refused(sweep({"--memopt", "optnet=training"}), 2, "knows none and the levels");
  expect_refused(sweep({"--out", path("none/lr.html")}), 4, "none/lr.html");
  std::string with_rate = kSmallNetwork;
  const std::string train = R"("train": {)";
  std::ofstream(path("small.json")) << with_rate.replace(with_rate.find(train), train.size(),
                                                         train + R"("lr_of": "logits.*=0.001", )");
  expect_refused(sweep({}), 2, "or --lr-of none");
  EXPECT_EQ(run_train(sweep({"--lr-of", "none"})).code, 0);
}

}  // namespace
}  // namespace lethe::testing
