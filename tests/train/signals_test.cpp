#include "train/signals.h"

#include <gtest/gtest.h>

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

TEST(SignalWatchDeathTest, TheSecondInterruptEndsTheProcess) {
  EXPECT_EXIT(
      {
        SignalWatch watch;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
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
