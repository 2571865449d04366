#include "train/session/target_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace lethe::testing {
namespace {

nlohmann::json kept_scores() {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/table_scores.json");
  return nlohmann::json::parse(file);
}
std::vector<double> listed(const nlohmann::json& all, const char* key) {
  return all.at(key).get<std::vector<double>>();
}

TEST(TargetScores, AreThoseOfScikitLearn) {
  const nlohmann::json all = kept_scores();
  const std::vector<double> predictions = listed(all, "predictions");
  const TargetScore of_numbers = score_of_numbers(predictions, listed(all, "numbers"), 10);
  EXPECT_NEAR(*of_numbers.rmse, 10 * all.at("rmse").get<double>(), 1e-12) << "in units of which 10 make a deviation";
  EXPECT_NEAR(*of_numbers.r2, all.at("r2").get<double>(), 1e-12);
  EXPECT_FALSE(of_numbers.accuracy || of_numbers.auc);
  const TargetScore of_chances = score_of_chances(predictions, listed(all, "chances"));
  EXPECT_NEAR(*of_chances.accuracy, all.at("accuracy").get<double>(), 1e-12);
  EXPECT_NEAR(*of_chances.auc, all.at("auc").get<double>(), 1e-12);
  EXPECT_FALSE(of_chances.rmse || of_chances.r2);
}

TEST(TargetScores, WhatIsNotDefinedIsNone) {
  EXPECT_FALSE(score_of_numbers(std::vector<double>{1, 2}, std::vector<double>{3, 3}, 1).r2);
  EXPECT_FALSE(score_of_chances(std::vector<double>{1, 2}, std::vector<double>{1, 1}).auc);
  EXPECT_FALSE(score_of_chances(std::vector<double>{NAN, 2}, std::vector<double>{1, 0}).auc);
  EXPECT_EQ(*score_of_chances(std::vector<double>{2, 2, 2}, std::vector<double>{1, 0, 1}).auc, 0.5);
}

TEST(TargetScores, TheMeanIsOverThoseThatAreDefined) {
  const std::vector<TargetScore> scores = {{.name = "a", .rmse = 1, .r2 = 0.5}, {.name = "b", .rmse = 3}};
  const TargetScore mean = mean_of(scores);
  EXPECT_EQ(*mean.rmse, 2);
  EXPECT_EQ(*mean.r2, 0.5);
  EXPECT_FALSE(mean.auc);
}

}  // namespace
}  // namespace lethe::testing
