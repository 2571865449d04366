// Standard output and error that are closed, full, or that nobody reads.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/report/metrics.h"
#include "train/session/atomic_file.h"

namespace lethe::testing {
namespace {

using Streams = RunTest;

void close_output() {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) close(stream);
}

void fill_disk_of_stdout() {
  if (dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO) < 0) _exit(124);
}

void leave_stdout_without_reader() {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) _exit(124);
  close(ends[0]);
}

TEST_F(Streams, WhatIsPrintedOnClosedOnesGoesIntoNoFile) {
  const Ended run = run_train(small({"--epochs", "1", "--save", path("run")}), {.before = close_output});
  EXPECT_EQ(run.code, 0);
  const std::string rows = bytes_in(path("run/metrics.csv"));
  EXPECT_EQ(rows.rfind(kCsvHeader, 0), 0U) << rows;
  EXPECT_EQ(rows.find("eval step"), std::string::npos) << rows;
  EXPECT_EQ(run_train({"--resume", path("run"), "--epochs", "2", "--threads", "1"}, {.before = close_output}).code, 0);
}

TEST_F(Streams, RecordsThatCannotBeWrittenEndTheRunAfterASave) {
  const std::vector<std::string> args = small({"--steps", "100000000", "--eval-every", "0", "--log-every", "1",
                                               "--metrics", path("m.csv"), "--save", path("run"), "--quiet"});
  const Ended ended = run_train(args, {.file = 12'000});
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.err, message("train: error: ", path("m.csv"), ": cannot be written: File too large\n"));
  const std::string rows = bytes_in(path("m.csv"));
  EXPECT_EQ(rows.size(), 12'000U);
  const std::int64_t last = std::count(rows.begin(), rows.end(), '\n');  // with the header, and one that is cut
  EXPECT_NE(bytes_in(path("run/state.json")).find(message("\"step\": ", last, ",")), std::string::npos);
  EXPECT_EQ(run_train({"--resume", path("run"), "--steps", std::to_string(last + 2), "--threads", "1"}).code, 0);
}

TEST_F(Streams, AFileThatTwoProcessesWriteIsThatOfOneOfThem) {
  const std::string file = path("shared"), first = "aaaaaa", second = "bbb";
  {
    AtomicFile held(file);
    held.write(first.data(), 3);
    std::thread other([&] {
      AtomicFile late(file);
      late.write(second.data(), 3);
      late.commit();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // in which the other would have done all that
    EXPECT_NO_THROW(held.write(first.data() + 3, 3));
    EXPECT_NO_THROW(held.commit());
    EXPECT_EQ(bytes_in(file).size() % 3, 0U);
    other.join();
  }
  EXPECT_EQ(bytes_in(file), second) << "which came later";
  std::ofstream(path(".shared.new")) << "what a killed process has left";
  AtomicFile again(file);
  again.write(first.data(), 6);
  again.commit();
  EXPECT_EQ(bytes_in(file), first);
  EXPECT_FALSE(std::filesystem::exists(path(".shared.new")));
}

TEST_F(Streams, EveryCommandSaysThatItsOutputCannotBeWritten) {
  std::ofstream(path("in.csv")) << "id,lower,upper,size\na,0,4,8\n";
  const std::string model = path("small.json");
  TemporaryFolder images;
  images.write("image.png", png(8, 8, 3, FileContent(std::size_t{8 * 8 * 3}, 100)));
  ASSERT_EQ(run_train({"export", "--model", model, "--output", path("w.safetensors")}).code, 0);
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},
      {"--version"},
      {"plan", "--help"},
      small({"--steps", "1", "--quiet"}),
      {"eval", "--model", model, "--weights", path("w.safetensors"), "--data", "shapes:train=40,test=40", "--threads",
       "1"},
      {"predict", "--model", model, "--weights", path("w.safetensors"), "--data", "shapes", "--threads", "1",
       images.text()},
      small({"lr-find"}),
      {"show", "--model", model},
      {"show", "--model", model, "--format", "dot"},
      {"plan", "--model", model},
      {"graph", "--model", model},
      {"pack", path("in.csv")},
      {"schema"},
      {"completion", "bash"},
      {"man"},
      {"count", "--model", "optnet/alexnet"},
      {"tables", "--table", "1"},
      {"device"},
      {"bench", "--model", model, "--steps", "3", "--rounds", "1", "--settings", "none", "--threads", "1"}};
  for (const std::vector<std::string>& command : commands) {
    const Ended ended = run_train(command, {.before = fill_disk_of_stdout});
    EXPECT_EQ(ended.code, 4) << command[0] << ": " << ended.err;
    EXPECT_NE(ended.err.find("train: error: standard output cannot be written: No space left on device\n"),
              std::string::npos)
        << command[0] << ": " << ended.err;
  }
}

TEST_F(Streams, AReaderThatLeavesEndsTheProgramQuietly) {
  const Ended ended = run_train({"schema"}, {.before = leave_stdout_without_reader});
  EXPECT_EQ(ended.signal, SIGPIPE);
  EXPECT_EQ(ended.err, "");
}

}  // namespace
}  // namespace lethe::testing
