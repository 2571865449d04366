// `--patience`: training stops when evaluations bring nothing better, wherever the run was interrupted.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/recipe.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

class Patience : public RunTest {
 protected:
  /// Evaluates and saves each 4 of at most 500 steps, and keeps every checkpoint. It hardly learns; and as the accuracy
  /// of 40 samples can grow 40 times at most, a patience of 3 ends in any case before.
  std::vector<std::string> run_of(const std::string& name, const std::string& patience) const {
    return small({"--save", path(name), "--steps", "500", "--schedule", "constant", "--lr", "1e-6", "--eval-every", "4",
                  "--save-every", "4", "--keep", "1000", "--patience", patience});
  }
  /// By the rule: the step of the evaluation that is the `patience`th in a row without a better accuracy; -1: none.
  static std::int64_t stop_by_rule(const std::string& out, int patience) {
    std::istringstream lines(out);
    double best = -1;
    int since = 0;
    for (std::string line; std::getline(lines, line);) {
      long long step = 0;
      double loss = 0, accuracy = 0;
      if (std::sscanf(line.c_str(), "eval step %lld epoch %*d loss %lf acc %lf", &step, &loss, &accuracy) != 3)
        continue;
      since = accuracy > best ? 0 : since + 1;
      best = std::max(best, accuracy);
      if (since == patience) return step;
    }
    return -1;
  }
  static std::string note_of_stop(const std::string& err) {
    const std::size_t at = err.find("stopped after step");
    return at == std::string::npos ? err : err.substr(at, err.find('\n', at) - at);
  }
  std::string checkpoint(std::int64_t step) const {
    char name[32];
    std::snprintf(name, sizeof name, "step-%06lld", static_cast<long long>(step));
    return name;
  }
};

TEST_F(Patience, StopsAtTheSameStepWhereverTheRunWasInterrupted) {
  const Ended whole = run_train(run_of("whole", "3"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const std::int64_t stop = stop_by_rule(whole.out, 3);
  ASSERT_GT(stop, 12) << "three after the first, which is the best until then\n" << whole.out;
  const std::string note = note_of_stop(whole.err);
  EXPECT_PRED2(says, note,
               message("stopped after step ", stop, " of 500, saved: 3 evaluations brought no better accuracy"));
  EXPECT_PRED2(says, note, "; resumed with --patience 0 it goes on");
  for (const std::int64_t step : {std::int64_t{4}, std::int64_t{8}, stop - 4, stop}) {
    SCOPED_TRACE(step);
    // A kill before the next checkpoint leaves this.
    fs::remove_all(home_ / "killed");
    fs::copy(home_ / "whole", home_ / "killed", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    for (std::int64_t later = step + 4; later <= stop; later += 4) fs::remove_all(home_ / "killed" / checkpoint(later));
    fs::remove(home_ / "killed/latest");
    fs::create_symlink(checkpoint(step), home_ / "killed/latest");
    const Ended resumed = run_train({"--resume", path("killed"), "--threads", "1"});
    EXPECT_EQ(resumed.code, 0);
    EXPECT_EQ(note_of_stop(resumed.err), note);
    EXPECT_EQ(checkpoint_bytes("killed"), checkpoint_bytes("whole"));
  }
}

TEST_F(Patience, MoreOfItGoesOn) {
  ASSERT_EQ(run_train(run_of("run", "2")).code, 0);
  const std::string stopped = checkpoint_bytes("run");
  const Ended more = run_train({"--resume", path("run"), "--patience", "1000", "--steps", "400", "--threads", "1"});
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_PRED2(says, more.out, "eval step 400 ");
  EXPECT_NE(checkpoint_bytes("run"), stopped);
}

TEST_F(Patience, OfNoneGoesOnAsTheNoteSays) {
  ASSERT_EQ(run_train(run_of("run", "2")).code, 0);
  const Ended again = run_train({"--resume", path("run"), "--threads", "1"});
  EXPECT_PRED2(says, again.err, "; resumed with --patience 0 it goes on");
  const Ended on = run_train({"--resume", path("run"), "--patience", "0", "--steps", "400", "--threads", "1"});
  EXPECT_EQ(on.code, 0) << on.err;
  EXPECT_PRED2(says, on.out, "eval step 400 ");
}

TEST_F(Patience, NeedsEvaluations) {
  const Ended refused = run_train(small({"--patience", "2", "--eval-every", "0"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err, "train: error: --patience needs evaluations; --eval-every 0 makes none\n");
  EXPECT_EQ(run_train(small({"--patience", "0", "--eval-every", "0", "--steps", "1"})).code, 0);
}

TEST_F(Patience, OfTheNetworkYieldsToTheCommandLine) {
  std::string text = kSmallNetwork;
  text.insert(text.find("\"batch\": 16"), "\"patience\": 4, ");
  std::ofstream(path("patient.json")) << text;
  const auto patience = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--model", path("patient.json")});
    return decided(parse_options(more)).course.patience;
  };
  EXPECT_EQ(patience({}), 4);
  EXPECT_EQ(patience({"--patience", "7"}), 7);
  EXPECT_EQ(patience({"--patience", "0"}), 0);
  EXPECT_EQ(patience({"--eval-every", "0"}), 0);
  EXPECT_EQ(values_to_keep(decided(parse_options({"--model", path("patient.json")}))).at("patience"), "4");
}

}  // namespace
}  // namespace lethe::testing
