// A run that fails where it evaluates: what it then has saved goes on as a run that never failed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/checkpoint.h"
#include "train/session/session.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

/// Cannot write a split's record of step 4.
struct FullDisk final : Listener {
  explicit FullDisk(std::string split) : split(std::move(split)) {}
  void record(const Record& measured) override {
    check_as(Exit::Data, measured.step != 4 || measured.split != split, "the disk is full");
  }
  std::string split;
};

class FailedEvaluation : public RunTest {
 protected:
  /// Evaluates each fourth step, saves each third; gives the state that the record of step 4 leaves.
  RunState left_by_failing(const std::string& split) const {
    SessionSetting setting{.data = {.spec = "shapes:train=160,test=40"}, .device = {.threads = 1}};
    setting.program.network = {.model = path("small.json"), .batch = 16, .seed = 3};
    Session session(setting);
    FullDisk listener(split);
    Checkpoints checkpoints(path("run"), 9);
    const RunSetting run{.lr = 1e-6,  // the first evaluation stays the best
                         .steps = 9,
                         .save_every = {3, false},
                         .eval_every = {4, false},
                         .log_every = 1};
    EXPECT_EQ(error_from([&] { session.train(run, listener, &checkpoints); }), "the disk is full");
    return read_state(find_latest(path("run")));
  }
  std::string best() const { return fs::read_symlink(home_ / "run/best").string(); }
  /// Five images of each of four classes for training, and the same for tests, but with `test`, if any, for the first.
  void write_pictures(const std::string& test) const {
    const TemporaryFolder made;
    for (int label = 0; label < 4; ++label)
      for (int number = 0; number < 5; ++number) {
        const FileContent pixels(8 * 8 * 3, static_cast<std::uint8_t>(label * 60 + number));
        const FileContent image = png(8, 8, 3, pixels);
        const std::string name = message("/c", label, '/', number, ".png");
        made.write("train" + name, image);
        if (test.empty() || number > 0)
          made.write("test" + name, image);
        else
          made.write("test" + name, test);
      }
    fs::remove_all(home_ / "pictures");
    fs::copy(made.path(), home_ / "pictures", fs::copy_options::recursive);
  }
  Ended train(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"--threads", "1", "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    return run_train(args);
  }
  std::vector<std::string> on_pictures(const std::string& run) const {
    return {"--model",      path("small.json"),
            "--data",       "imagefolder:" + path("pictures"),
            "--batch",      "4",
            "--steps",      "9",
            "--schedule",   "constant",
            "--lr",         "1e-6",
            "--eval-every", "4",
            "--save-every", "3",
            "--save",       path(run)};
  }
  /// Results of evaluations, as the newest checkpoint has them, and which is the best.
  std::string course(const std::string& run) const {
    const nlohmann::json state = nlohmann::json::parse(bytes_in(path(run + "/state.json")));
    return message(state["best_accuracy"].dump(), " at ", state["best_step"].dump(), ", then ",
                   state["evaluations_since_best"].dump(), ", ", fs::read_symlink(home_ / run / "best").string());
  }
};

TEST_F(FailedEvaluation, CountsIfItsRecordAloneIsLost) {
  const RunState state = left_by_failing("eval");
  EXPECT_EQ(state.step, 4);
  EXPECT_EQ(state.best_step, 4);
  EXPECT_EQ(state.evaluations_since_best, 0);
  EXPECT_GE(state.best_score, 0);
  EXPECT_EQ(best(), "step-000004");
}

TEST_F(FailedEvaluation, IsMadeAfterAResumeIfTheRunFailsBeforeIt) {
  const RunState state = left_by_failing("train");
  EXPECT_EQ(state.step, 3);
  EXPECT_EQ(state.best_step, 0);
}

TEST_F(FailedEvaluation, IsMadeAgainAfterAResume) {
  write_pictures("");
  ASSERT_EQ(train(on_pictures("whole")).code, 0);
  ASSERT_PRED2(says, course("whole"), " at 4, then 2, step-000004");
  write_pictures("no image");
  const Ended failed = train(on_pictures("run"));
  EXPECT_EQ(failed.code, 4);
  EXPECT_PRED2(says, failed.err, "0.png");
  write_pictures("");
  const Ended resumed = train({"--resume", path("run")});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(course("run"), course("whole"));
  EXPECT_EQ(checkpoint_bytes("run"), checkpoint_bytes("whole"));
}

}  // namespace
}  // namespace lethe::testing
