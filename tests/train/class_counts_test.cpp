// Counts by class, the numbers they are made from, and how they are shown.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "train/report/score_report.h"
#include "train/session/evaluator.h"
#include "train/session/logits.h"

namespace lethe::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Logits, ProbabilitiesSumToOneHoweverLargeTheLogitsAre) {
  const std::vector<double> shares = softmax(std::vector<double>{1000, 1000 + std::log(3), -1000});
  EXPECT_NEAR(shares[0], 0.25, 1e-12);
  EXPECT_NEAR(shares[1], 0.75, 1e-12);
  EXPECT_EQ(shares[2], 0);
  EXPECT_TRUE(std::isnan(softmax(std::vector<double>{0, kNan})[0]));
}

TEST(Logits, EqualOnesStandInTheOrderOfTheirClasses) {
  const std::vector<double> logits = {1, 5, 5, 0};
  EXPECT_EQ(largest(logits, 3), (std::vector<std::int64_t>{1, 2, 0}));
  EXPECT_EQ(largest(logits, 9).size(), 4U);
  const std::int64_t ranks[] = {2, 0, 1, 3};
  for (std::int64_t label = 0; label < 4; ++label) EXPECT_EQ(rank_of(label, logits), ranks[label]);
  EXPECT_EQ(rank_of(7, logits), 4) << "no class";
}

TEST(Logits, NothingIsFoundBesideNaN) {
  const std::vector<double> logits = {1, kNan, 5};
  EXPECT_TRUE(largest(logits, 1).empty());
  EXPECT_EQ(rank_of(2, logits), 3);
}

/// Three classes: of the first one right and one taken for the last, of the second one that is second best.
ClassCounts three_classes() {
  ClassCounts counts(3, 2, true);
  counts.add(0, std::vector<double>{3, 2, 1});
  counts.add(0, std::vector<double>{1, 2, 3});
  counts.add(1, std::vector<double>{1, 2, 3});
  counts.add(1, std::vector<double>{1, kNan, 3});
  return counts;
}

TEST(ClassCounts, CountWhatWasTakenForWhat) {
  const ClassCounts counts = three_classes();
  const std::int64_t taken[3][3] = {{1, 0, 1}, {0, 0, 1}, {0, 0, 0}};
  for (std::int64_t label = 0; label < 3; ++label)
    for (std::int64_t predicted = 0; predicted < 3; ++predicted)
      EXPECT_EQ(counts.taken_for(label, predicted), taken[label][predicted]) << label << " for " << predicted;
  for (std::int64_t label = 0; label < 3; ++label) EXPECT_EQ(counts.correct(label), taken[label][label]);
  EXPECT_EQ(counts.samples(0), 2);
  EXPECT_EQ(counts.samples(1), 2) << "one of which is taken for nothing";
  EXPECT_EQ(counts.samples(2), 0);
  EXPECT_EQ(counts.found(), 2) << "among the two largest";
}

TEST(ClassCounts, NothingIsFoundBesideNaNHoweverManyLogitsCount) {
  for (const std::int64_t top : {1, 2, 3, 1000}) {
    ClassCounts counts(2, top, false);
    counts.add(0, std::vector<double>{1, kNan});
    counts.add(5, std::vector<double>{1, 2});  // no class
    EXPECT_EQ(counts.found(), 0) << top;
    counts.add(1, std::vector<double>{2, 1});
    EXPECT_EQ(counts.found(), top > 1 ? 1 : 0) << top;
  }
}

TEST(ClassCounts, WithoutConfusionManyClassesTakeLittle) {
  constexpr std::int64_t kClasses = std::int64_t{1} << 22;
  ClassCounts counts(kClasses, 1, false);
  std::vector<double> logits(static_cast<std::size_t>(kClasses));
  logits.back() = 1;
  counts.add(kClasses - 1, logits);
  EXPECT_EQ(counts.correct(kClasses - 1), 1);
  EXPECT_EQ(counts.found(), 1);
#if !defined(__SANITIZE_ADDRESS__)  // which ends the program there
  EXPECT_PRED2(says, error_from([] { ClassCounts(kClasses, 1, true); }, Exit::Device),
               "the confusion of 4194304 classes: the machine has no memory for 140737488355328 bytes");
#endif
}

/// What tests/oracles/classes.py has computed by scikit-learn.
TEST(ClassCounts, ScoresAreThoseOfScikitLearn) {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/classes.json");
  const nlohmann::json all = nlohmann::json::parse(file)["scores"];
  ASSERT_EQ(all.size(), 3U);
  for (const nlohmann::json& its : all) {
    ClassCounts counts(4, 1, false);
    for (std::size_t i = 0; i < its["labels"].size(); ++i) {
      std::vector<double> logits(4);
      logits[its["predicted"][i].get<std::size_t>()] = 1;
      counts.add(its["labels"][i], logits);
    }
    for (std::int64_t c = 0; c < 4; ++c) {
      const ClassScores scores = counts.of(c);
      EXPECT_DOUBLE_EQ(scores.precision, its["precision"][c]);
      EXPECT_DOUBLE_EQ(scores.recall, its["recall"][c]);
      EXPECT_DOUBLE_EQ(scores.f1, its["f1"][c]);
      EXPECT_DOUBLE_EQ(scores.iou, its["iou"][c]);
    }
    const ClassScores macro = counts.macro();
    EXPECT_DOUBLE_EQ(macro.precision, its["macro"][0]);
    EXPECT_DOUBLE_EQ(macro.recall, its["macro"][1]);
    EXPECT_DOUBLE_EQ(macro.f1, its["macro"][2]);
    EXPECT_DOUBLE_EQ(macro.iou, its["macro"][3]);
  }
}

const Scores kFour{.samples = 4, .correct = 1, .loss = 0.5};

TEST(ScoreReport, TextHasTheTablesThatWereAskedFor) {
  const ClassCounts counts = three_classes();
  const std::vector<std::string> names = {"ant", "bee"};  // the third has none
  EXPECT_EQ(scores_as("text", kFour, counts, names, {}), "eval loss 0.5 acc 0.2500 correct 1 samples 4\n");
  EXPECT_EQ(scores_as("text", kFour, counts, names, {.top = true, .by_class = true, .confusion = true}),
            R"(eval loss 0.5 acc 0.2500 correct 1 samples 4
top 2 acc 0.5000 correct 2 samples 4

class    samples  correct  precision  recall      f1
ant            2        1     1.0000  0.5000  0.6667
bee            2        0     0.0000  0.0000  0.0000
2              0        0     0.0000  0.0000  0.0000
(macro)                       0.3333  0.1667  0.2222

true \ predicted  ant  bee  2
ant                 1    0  1
bee                 0    0  1
2                   0    0  0
)");
}

TEST(ScoreReport, JsonHasTheSame) {
  const nlohmann::json plain = nlohmann::json::parse(scores_as("json", kFour, three_classes(), {}, {}));
  EXPECT_EQ(plain, nlohmann::json::parse(R"({"loss": 0.5, "accuracy": 0.25, "correct": 1, "samples": 4})"));
  const nlohmann::json all = nlohmann::json::parse(
      scores_as("json", kFour, three_classes(), {"ant", "bee", "cat"}, {.top = true, .confusion = true}));
  EXPECT_EQ(all["top"], nlohmann::json::parse(R"({"k": 2, "accuracy": 0.5, "correct": 2})"));
  EXPECT_EQ(all["confusion"], nlohmann::json::parse("[[1, 0, 1], [0, 0, 1], [0, 0, 0]]"));
  EXPECT_EQ(all["classes"][0],
            nlohmann::json::parse(R"({"class": "ant", "samples": 2, "correct": 1, "precision": 1.0, "recall": 0.5, )"
                                  R"("f1": 0.6666666666666666})"));
  EXPECT_FALSE(all["macro"].contains("iou"));
  const nlohmann::json masks =
      nlohmann::json::parse(scores_as("json", kFour, three_classes(), {}, {.by_class = true, .iou = true}));
  EXPECT_EQ(masks["classes"][0]["iou"], 0.5);
  EXPECT_DOUBLE_EQ(masks["macro"]["iou"], 0.5 / 3);
}

}  // namespace
}  // namespace lethe::testing
