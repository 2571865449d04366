// How threads of the program wait for each other, as GNU's OpenMP says what it has read, and for processors.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/cpu/workers.h"
#include "tests/train/train_process.h"

namespace lethe::testing {
namespace {

/// The GOMP_SPINCOUNT that the library of the program which runs at last has, if this variable is set beside.
std::string spin_count(const char* variable, const char* value) {
  const Ended ended = run_train({"--version"}, {.before = [=] {
                                  unsetenv("GOMP_SPINCOUNT");
                                  unsetenv("OMP_WAIT_POLICY");
                                  if (variable) setenv(variable, value, 1);
                                  setenv("OMP_DISPLAY_ENV", "verbose", 1);
                                }});
  EXPECT_EQ(ended.code, 0);
  const std::string name = "GOMP_SPINCOUNT = '";
  const std::size_t at = ended.err.rfind(name);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size();
  return ended.err.substr(begin, ended.err.find('\'', begin) - begin);
}

TEST(Waiting, ThreadsSpinShortlyUnlessTheUserSaysHowTheyWait) {
  const std::string here = spin_count("GOMP_SPINCOUNT", "77");
  if (here.empty()) GTEST_SKIP() << "not GNU's OpenMP";
  EXPECT_EQ(here, "77");
  EXPECT_EQ(spin_count(nullptr, nullptr), "5000");
  EXPECT_EQ(spin_count("OMP_WAIT_POLICY", "PASSIVE"), "0");
}

TEST(Waiting, MoreThreadsThanProcessorsAreSaidToTakeTurns) {
  const auto says_so = [](int threads) {
    const Ended run = run_train({"--model", "lenet", "--batch", "4", "--steps", "1", "--eval-every", "0", "--threads",
                                 std::to_string(threads)});
    EXPECT_EQ(run.code, 0) << run.err;
    return run.err.find("threads take turns") != std::string::npos;
  };
  EXPECT_TRUE(says_so(processors() + 1));
  EXPECT_FALSE(says_so(1));
}

}  // namespace
}  // namespace lethe::testing
