// A refusal of the file system ends in one line with path and reason.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

class RefusedPaths : public RunTest {
 protected:
  static void expect_refused(const std::vector<std::string>& args, const std::string& part) {
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_PRED2(says, ended.err, part);
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
};

TEST_F(RefusedPaths, NamesThatAreTooLong) {
  const std::string name(300, 'n'), part = "nnn...': File name too long";
  expect_refused({"eval", "--weights", name}, part);
  expect_refused({"predict", "--weights", name, "a.png"}, part);
  expect_refused({"--resume", name}, part);
  expect_refused(small({"--save", name, "--quiet"}), part);
}

TEST_F(RefusedPaths, AnImageOfSuchANameLeavesTheOthers) {
  ASSERT_EQ(run_train({"export", "--model", path("small.json"), "--output", path("w.safetensors")}).code, 0);
  const FileContent image = png(8, 8, 3, FileContent(std::size_t{8 * 8 * 3}, 100));
  std::ofstream(path("a\tb.png"), std::ios::binary)
      .write(reinterpret_cast<const char*>(image.data()), std::ssize(image));
  const Ended ended = run_train({"predict", "--model", path("small.json"), "--weights", path("w.safetensors"), "--data",
                                 "shapes", "--threads", "1", std::string(300, 'x') + ".png", path("a\tb.png")});
  EXPECT_EQ(ended.code, 4) << ended.err;
  EXPECT_PRED2(says, ended.err, "File name too long");
  EXPECT_PRED2(says, ended.out, path("a b.png ")) << "a terminal obeys no name";
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 1) << ended.out;
}

TEST_F(RefusedPaths, ADirectoryThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every directory";
  std::filesystem::create_directories(home_ / "closed");
  std::filesystem::permissions(home_ / "closed", std::filesystem::perms::none);
  expect_refused({"eval", "--weights", path("closed")}, "': Permission denied");
  expect_refused({"--resume", path("closed")}, "': Permission denied");
  std::filesystem::permissions(home_ / "closed", std::filesystem::perms::owner_all);
}

}  // namespace
}  // namespace lethe::testing
