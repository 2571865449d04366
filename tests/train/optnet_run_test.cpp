// `train --memopt optnet=...` as users run it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "framework/error.h"
#include "tests/train/train_process.h"

namespace lethe::testing {
namespace {

class OptnetTraining : public ::testing::Test {
 protected:
  OptnetTraining()
      : folder_(
            std::filesystem::path(::testing::TempDir()) /
            message("optnet_run_", getpid(), "_", ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~OptnetTraining() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// What a short run prints.
  std::string train(const std::string& memopt, const std::string& dtype, const std::string& save) const {
    const Ended ended = run_train({"--model", "lenet", "--batch", "8", "--steps", "6", "--seed", "5", "--dtype", dtype,
                                   "--memopt", memopt, "--save", path(save), "--data", "synthetic", "--quiet"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find(", as predicted"), std::string::npos) << ended.out;
    return ended.out;
  }
  std::string eval(const std::string& memopt) const {
    const Ended ended = run_train({"eval", "--model", "lenet", "--batch", "8", "--memopt", memopt, "--weights",
                                   path("none"), "--data", "synthetic"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }

 private:
  std::filesystem::path folder_;
};

std::string scores(const std::string& out) {
  const auto begin = out.find("eval ");
  return begin == std::string::npos ? out : out.substr(begin, out.find('\n', begin) - begin);
}

TEST_F(OptnetTraining, LearnsWhatAPlanWithoutSharingLearns) {
  for (const char* dtype : {"f32", "f64"}) {
    const std::string none = train("none", dtype, std::string("none_") + dtype);
    EXPECT_EQ(scores(train("optnet=training", dtype, std::string("optnet_") + dtype)), scores(none)) << dtype;
  }
}

TEST_F(OptnetTraining, EvaluatesToTheSameScores) {
  train("none", "f32", "none");
  const std::string shared = eval("optnet=inference");
  EXPECT_NE(shared.find("eval loss"), std::string::npos) << shared;
  EXPECT_EQ(shared, eval("none"));
}

TEST_F(OptnetTraining, TheModeIsThatOfTheCommand) {
  const auto fails = [](const std::vector<std::string>& args, const std::string& why) {
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
  };
  fails({"--model", "lenet", "--memopt", "optnet=inference"}, "training needs optnet=training");
  fails({"eval", "--model", "lenet", "--memopt", "optnet=training"}, "evaluation needs optnet=inference");
  fails({"show", "--model", "lenet", "--memopt", "optnet=training"}, "show knows none and the levels");
  fails({"--model", "lenet", "--memopt", "optnet=training", "--skip-grads"},
        "--skip-vars, --skip-grads and --clip-passes go with");
  fails({"--model", "transformer", "--memopt", "optnet=training"},
        "does not depend on the network's input; Torch had no");
}

}  // namespace
}  // namespace lethe::testing
