// A small network and an empty directory for tests that run the program.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/train/train_process.h"

namespace lethe::testing {

/// Has everything a resume must bring back: momentum, running statistics, dropout by step, augmentation, a schedule.
inline constexpr const char* kSmallNetwork = R"({
  "version": 1, "name": "small",
  "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "conv", "out": 8, "k": 3}, {"op": "bn"}, {"op": "relu"}, {"op": "max_pool", "k": 2},
             {"op": "dropout", "p": 0.2}, {"op": "fc", "out": 4, "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
  "train": {"batch": 16, "epochs": 3, "lr": 0.05, "optimizer": "momentum", "schedule": "cosine",
            "augment": "flip,pad-crop=1"}
})";

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(home_);
    std::filesystem::create_directories(home_);
    std::ofstream(path("small.json")) << kSmallNetwork;
  }
  void TearDown() override { std::filesystem::remove_all(home_); }

  std::string path(const std::string& name) const { return (home_ / name).string(); }
  /// The small network on 160 drawn images, one thread, with `more`.
  std::vector<std::string> small(std::vector<std::string> more) const {
    more.insert(more.end(), {"--model", path("small.json"), "--data", "shapes:train=160,test=40", "--threads", "1"});
    return more;
  }
  std::string checkpoint_bytes(const std::string& run) const {
    return bytes_in(path(run + "/weights.safetensors")) + bytes_in(path(run + "/optimizer.safetensors"));
  }

  const std::filesystem::path home_ = std::filesystem::path(::testing::TempDir()) /
                                      ("lethe_" + std::to_string(getpid()) + "_" +
                                       ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() +
                                       "_" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace lethe::testing
