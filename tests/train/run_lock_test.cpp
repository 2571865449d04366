// One run at a time saves in a directory.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>

#include "framework/error.h"
#include "tests/train/run_fixture.h"
#include "train/session/atomic_file.h"

namespace lethe::testing {
namespace {

class RunLockTest : public RunTest {
 protected:
  std::vector<std::string> long_run() const {
    return small({"--epochs", "100000", "--save", path("run"), "--save-every", "10", "--eval-every", "0", "--log-every",
                  "1", "--quiet"});
  }
  std::vector<std::string> resumed(const std::string& epochs) const {
    return {"--resume", path("run"), "--epochs", epochs, "--threads", "1"};
  }
  bool has_saved() const { return std::filesystem::exists(path("run/latest")); }
};

/// As on a file system that has none.
void refuse_locks() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {.len = std::size(code), .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(124);
}

TEST_F(RunLockTest, ASecondRunIsToldWhoSavesThere) {
  TrainProcess first(long_run());
  ASSERT_TRUE(TrainProcess::wait_until([&] { return has_saved(); }));
  const Ended second = run_train(resumed("1000000"));
  EXPECT_EQ(second.code, 2) << second.err;
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  EXPECT_NE(second.err.find(message("process ", first.id(), " on host ", host, " is training into it")),
            std::string::npos)
      << second.err;
  first.send(SIGTERM);
  EXPECT_EQ(first.wait().code, 0);
  const std::string rows = bytes_in(path("run/metrics.csv"));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'),
            1 + std::stoll(rows.substr(rows.rfind('\n', rows.size() - 2) + 1)));
}

TEST_F(RunLockTest, ASecondRunIsToldBeforeItReadsWhatMayBeReplaced) {
  ASSERT_EQ(run_train(small({"--steps", "1", "--save", path("run"), "--quiet"})).code, 0);
  const RunLock held(path("run"));
  std::filesystem::remove_all(path("run/latest/network"));
  const Ended second = run_train(resumed("2"));
  EXPECT_EQ(second.code, 2);
  EXPECT_NE(second.err.find("is training into it"), std::string::npos) << second.err;
}

TEST_F(RunLockTest, WhatAKilledRunLeftIsTakenOver) {
  TrainProcess first(long_run());
  ASSERT_TRUE(TrainProcess::wait_until([&] { return has_saved(); }));
  first.send(SIGKILL);
  EXPECT_EQ(first.wait().signal, SIGKILL);
  EXPECT_NE(bytes_in(path("run/.lock")), "");
  std::ofstream(path("run/.lock")) << "process 1 on host of-yesterday\n";
  TrainProcess second(resumed("100000"));
  EXPECT_TRUE(TrainProcess::wait_until(
      [&] { return bytes_in(path("run/.lock")).rfind(message("process ", second.id(), " on"), 0) == 0; }));
}

TEST_F(RunLockTest, ARunThatGoesOnElsewhereLetsTheFirstSaveOn) {
  const TrainProcess first(small({"--epochs", "100000", "--save", path("run"), "--save-every", "1", "--keep", "100000",
                                  "--eval-every", "0", "--quiet"}));
  ASSERT_TRUE(TrainProcess::wait_until([&] { return has_saved(); }));
  const Ended second =
      run_train({"--resume", path("run"), "--save", path("on"), "--steps", "1", "--threads", "1", "--quiet"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(std::filesystem::exists(path("on/latest")));
}

TEST_F(RunLockTest, WithoutLocksALineSaysSoAndTheRunGoesOn) {
  const Ended run = run_train(small({"--epochs", "1", "--save", path("run")}), {.before = refuse_locks});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("locks cannot be had there (No locks available)"), std::string::npos) << run.err;
  EXPECT_TRUE(has_saved());
}

}  // namespace
}  // namespace lethe::testing
