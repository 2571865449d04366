#include "train/signals.h"

#include <gtest/gtest.h>

#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

TEST(SignalWatch, TheFirstInterruptAsksToStop) {
  SignalWatch watch;
  EXPECT_FALSE(watch.stop_wanted());
  std::raise(SIGINT);
  EXPECT_TRUE(watch.stop_wanted());
}

TEST(SignalWatch, HangUpAsksForOneCheckpoint) {
  SignalWatch watch;
  std::raise(SIGHUP);
  EXPECT_TRUE(watch.take_save_wanted());
  EXPECT_FALSE(watch.take_save_wanted());
  EXPECT_FALSE(watch.stop_wanted());
}

TEST(SignalWatch, NoneInterruptsTheHandlerOfTheFirst) {
  SignalWatch watch;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction now = {};
    ASSERT_EQ(sigaction(signal, nullptr, &now), 0);
    EXPECT_EQ(sigismember(&now.sa_mask, SIGINT), 1);
    EXPECT_EQ(sigismember(&now.sa_mask, SIGTERM), 1);
  }
}

TEST(SignalWatch, LeavesTheMaskOfSignalsAsItIs) {
  SignalWatch watch;
  sigset_t blocked;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) EXPECT_EQ(sigismember(&blocked, signal), 0);
}

TEST(SignalWatchDeathTest, TheSecondInterruptEndsTheProcess) {
  EXPECT_EXIT(
      {
        SignalWatch watch;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

/// Its first step runs for days: loops in loops, through which no gradient goes.
constexpr const char* kEndlessStep = R"({
  "version": 1, "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [
    {"while": {"state": {"h": "@in"}, "max": 1000000},
     "do": {"layers": [{"while": {"state": {"g": "h"}, "max": 1000000},
                        "do": {"layers": [{"op": "tanh", "name": "y"}], "next": {"g": "y"}}, "name": "inner"}],
            "next": {"h": "inner"}}},
    {"op": "fc", "out": 4, "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
  "train": {"batch": 16, "epochs": 1, "lr": 0.05, "optimizer": "sgd", "augment": "none"}
})";

class Signals : public RunTest {};

TEST_F(Signals, TheSecondEndsTheProcessInTheMiddleOfAStepWhicheverItIs) {
  std::ofstream(path("endless.json")) << kEndlessStep;
  for (const auto& [first, second] : {std::pair{SIGINT, SIGINT}, {SIGINT, SIGTERM}, {SIGTERM, SIGINT}}) {
    TrainProcess process({"--model", path("endless.json"), "--data", "shapes:train=160,test=40", "--threads", "1",
                          "--save", path("run")});
    ASSERT_TRUE(TrainProcess::wait_until([&] { return process.catches(SIGHUP); })) << "installed last";
    const double before = process.busy_seconds();
    ASSERT_TRUE(TrainProcess::wait_until([&] { return process.busy_seconds() > before + 0.3; }))
        << "only the step takes so long";
    process.send(first);
    ASSERT_TRUE(TrainProcess::wait_until([&] { return !process.catches(SIGINT) && !process.catches(SIGTERM); }))
        << "the first is taken";
    const auto begin = std::chrono::steady_clock::now();
    process.send(second);
    EXPECT_EQ(process.wait().signal, second);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    EXPECT_FALSE(std::filesystem::exists(path("run/latest"))) << "no checkpoint of a step that is not done";
  }
}

TEST(SignalWatch, ANewOneStartsAfresh) {
  {
    SignalWatch watch;
    std::raise(SIGTERM);
  }
  EXPECT_FALSE(SignalWatch().stop_wanted());
}

}  // namespace
}  // namespace lethe::testing
