// `--best`: which evaluation the best checkpoint is of.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/best_score.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

/// What an evaluation's line says: step, loss, accuracy, and what stands after a word.
struct EvalLine {
  std::int64_t step = 0;
  double loss = 0, accuracy = 0, more = -1;
};
std::vector<EvalLine> eval_lines(const std::string& out, const std::string& word) {
  std::istringstream lines(out);
  std::vector<EvalLine> all;
  for (std::string line; std::getline(lines, line);) {
    EvalLine found;
    long long step = 0;
    if (std::sscanf(line.c_str(), "eval step %lld epoch %*d loss %lf acc %lf", &step, &found.loss, &found.accuracy) !=
        3)
      continue;
    found.step = step;
    if (const std::size_t at = line.find(' ' + word + ' '); at != std::string::npos)
      found.more = std::stod(line.substr(at + word.size() + 2));
    all.push_back(found);
  }
  return all;
}

class BestCheckpoint : public RunTest {
 protected:
  std::vector<std::string> run_of(const std::string& name, const std::string& best, const char* steps = "30") const {
    return small({"--save", path(name), "--steps", steps, "--eval-every", "5", "--schedule", "constant", "--lr", "0.3",
                  "--best", best});
  }
  std::int64_t best_step(const std::string& run) const {
    return std::stoll(fs::read_symlink(home_ / run / "best").filename().string().substr(5));
  }
};

TEST_F(BestCheckpoint, OfTheLossIsTheLowest) {
  const Ended run = run_train(run_of("run", "loss"));
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<EvalLine> lines = eval_lines(run.out, "f1");
  ASSERT_EQ(lines.size(), 6U);
  const auto lowest = std::ranges::min_element(lines, {}, &EvalLine::loss);
  EXPECT_EQ(best_step("run"), lowest->step) << run.out;
}

TEST_F(BestCheckpoint, OfF1IsTheHighestAndWhatEvalSays) {
  for (const char* measure : {"f1", "iou"}) {
    const Ended run = run_train(run_of(measure, measure));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_PRED2(says, run.out, "as predicted");
    const std::vector<EvalLine> lines = eval_lines(run.out, measure);
    ASSERT_EQ(lines.size(), 6U);
    const auto highest = std::ranges::max_element(lines, {}, &EvalLine::more);
    EXPECT_GT(highest->more, 0.1);
    EXPECT_EQ(best_step(measure), highest->step) << run.out;
    const Ended eval = run_train({"eval", "--weights", path(measure), "--by-class", "--format", "json"});
    ASSERT_EQ(eval.code, 0) << eval.err;
    const nlohmann::json scores = nlohmann::json::parse(eval.out);
    if (std::string(measure) == "f1") {
      EXPECT_NEAR(scores["macro"]["f1"], highest->more, 5e-5);
    }
  }
}

TEST_F(BestCheckpoint, IsKeptByARunThatGoesOn) {
  ASSERT_EQ(run_train(run_of("whole", "f1")).code, 0);
  ASSERT_EQ(run_train(run_of("parts", "f1", "15")).code, 0);
  const Ended on = run_train({"--resume", path("parts"), "--steps", "30", "--threads", "1"});
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(best_step("parts"), best_step("whole"));
  const RunState whole = read_state(path("whole/latest")), parts = read_state(path("parts/latest"));
  EXPECT_EQ(parts.best_score, whole.best_score);
  EXPECT_EQ(parts.options.at("best"), "f1");
}

TEST_F(BestCheckpoint, ByAnotherMeasureBeginsAnew) {
  ASSERT_EQ(run_train(run_of("run", "loss", "10")).code, 0);
  const Ended on = run_train({"--resume", path("run"), "--steps", "15", "--best", "acc", "--threads", "1"});
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_EQ(best_step("run"), 15);
  EXPECT_EQ(read_state(path("run/latest")).best_score, eval_lines(on.out, "f1").back().accuracy);
}

TEST_F(BestCheckpoint, IsOneOfFour) {
  const Ended run = run_train(run_of("run", "f2"));
  EXPECT_EQ(run.code, 2);
  EXPECT_PRED2(says, run.err, "--best");
  EXPECT_PRED2(says, run.err, "acc, loss, f1");
}

TEST_F(BestCheckpoint, NeedsEvaluations) {
  const Ended run = run_train(small({"--best", "loss", "--eval-every", "0"}));
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.err, "train: error: --best needs evaluations; --eval-every 0 makes none\n");
}

TEST_F(BestCheckpoint, OfClassesNeedsLabelsInAPlanToo) {
  const Ended plan = run_train({"plan", "--model", "table", "--best", "f1"});
  EXPECT_EQ(plan.code, 2);
  EXPECT_PRED2(says, plan.err, "--best f1: the loss of table has no labels");
}

TEST(BestScore, PatienceCountsByTheSameMeasure) {
  RunState state;
  const auto note = [&](Best best, double loss) { return note_scores(best, {.samples = 2, .loss = loss}, state); };
  EXPECT_TRUE(note(Best::Loss, 3)) << "the first, whatever it is";
  EXPECT_FALSE(note(Best::Loss, 4));
  EXPECT_FALSE(note(Best::Loss, 3));
  EXPECT_EQ(state.evaluations_since_best, 2);
  EXPECT_TRUE(note(Best::Loss, 2));
  EXPECT_EQ(state.evaluations_since_best, 0);
  EXPECT_EQ(better_than(Best::Loss, state.best_score), "lower loss than 2");
}

}  // namespace
}  // namespace lethe::testing
