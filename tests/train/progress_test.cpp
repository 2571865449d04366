#include "train/report/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace lethe::testing {
namespace {

Moment halfway() {
  return {.epoch = 3,
          .epochs = 10,
          .step = 391,
          .steps = 782,
          .seconds = 42,
          .seconds_left = 41,
          .ms_per_step = 107.4,
          .loss = 0.52,
          .accuracy = 0.81};
}

/// Reads what a Progress wrote.
class Written {
 public:
  Written() : file_(std::tmpfile()) {}
  ~Written() { std::fclose(file_); }
  std::FILE* file() { return file_; }
  std::string text() {
    std::string all(static_cast<std::size_t>(std::ftell(file_)), '\0');
    std::rewind(file_);
    EXPECT_EQ(std::fread(all.data(), 1, all.size(), file_), all.size());
    return all;
  }

 private:
  std::FILE* file_;
};

TEST(Progress, BarLineShowsEpochBarStepsTimesAndFigures) {
  EXPECT_EQ(bar_line(halfway(), 120),
            "Epoch 3/10 [===============>..............] 391/782 42s ETA 41s 107ms/step loss 0.52 acc 0.8100");
}

TEST(Progress, BarShrinksAndVanishesWithTheTerminal) {
  EXPECT_EQ(bar_line(halfway(), 75), "Epoch 3/10 [=====>....] 391/782 42s ETA 41s 107ms/step loss 0.52 acc 0.8100");
  EXPECT_EQ(bar_line(halfway(), 69), "Epoch 3/10 391/782 42s ETA 41s 107ms/step loss 0.52 acc 0.8100");
  EXPECT_EQ(bar_line(halfway(), 20).size(), 20U);
}

TEST(Progress, BarIsFullAtTheEndOfTheEpoch) {
  Moment end = halfway();
  end.step = end.steps;
  EXPECT_NE(bar_line(end, 120).find("[==============================]"), std::string::npos);
}

TEST(Progress, DurationsReadAsPeopleSayThem) {
  EXPECT_EQ(duration(0.2), "0s");
  EXPECT_EQ(duration(59.4), "59s");
  EXPECT_EQ(duration(185), "3m05s");
  EXPECT_EQ(duration(7620), "2h07m");
  EXPECT_EQ(duration(-3), "0s");
}

TEST(Progress, ElsewhereThanOnATerminalEachRecordIsALine) {
  Written out;
  Progress progress(out.file(), Progress::Style::Plain, false);
  progress.step(halfway());
  progress.record(halfway());
  EXPECT_EQ(out.text(), "epoch 3/10 step 391/782 42s ETA 41s 107ms/step loss 0.52 acc 0.8100\n");
}

TEST(Progress, WithoutColourTheBarHasNoEscapeSequences) {
  Written plain, coloured;
  Progress(plain.file(), Progress::Style::Bar, false).step(halfway());
  Progress(coloured.file(), Progress::Style::Bar, true).step(halfway());
  EXPECT_EQ(plain.text().find('\033'), std::string::npos);
  EXPECT_NE(coloured.text().find('\033'), std::string::npos);
}

TEST(Progress, ANoteTakesTheBarAwayFirst) {
  Written out;
  Progress progress(out.file(), Progress::Style::Bar, false);
  progress.step(halfway());
  progress.note("saved");
  const std::string text = out.text();
  EXPECT_EQ(text.substr(text.size() - 7), "\rsaved\n");
}

TEST(Progress, TheLineOfAnEpochsLastStepStays) {
  Written out;
  Moment end = halfway();
  end.step = end.steps;
  Progress progress(out.file(), Progress::Style::Bar, false);
  progress.step(end);
  progress.clear();
  const std::string text = out.text();
  EXPECT_EQ(text.substr(text.size() - 12), " acc 0.8100\n");
}

TEST(Progress, OtherWorkIsShownNowAndThen) {
  Written out;
  Progress progress(out.file(), Progress::Style::Bar, false);
  progress.show("begun");  // too early
  std::this_thread::sleep_for(std::chrono::milliseconds(110));
  progress.show("half done");
  progress.show("more");
  EXPECT_EQ(out.text(), "\rhalf done");
}

TEST(Progress, QuietSaysNothing) {
  Written out;
  Progress progress(out.file(), Progress::Style::Quiet, false);
  progress.step(halfway());
  progress.record(halfway());
  progress.note("saved");
  EXPECT_EQ(out.text(), "");
}

}  // namespace
}  // namespace lethe::testing
