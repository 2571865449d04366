// People bring the words of other libraries: each leads to the word here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models/network.h"

namespace lethe::testing {
namespace {

/// What is said of a network file with these layers and members.
std::string said_of(const std::string& layers, const std::string& more = "") {
  const std::string file = ::testing::TempDir() + "lethe_foreign_" + std::to_string(getpid()) + ".json";
  std::ofstream(file) << R"({"version": 1, "inputs": {"image": {"shape": [3, 8, 4]}, "label": {"shape": [],)"
                      << R"("dtype": "i32"}}, "layers": [)" << layers << ']' << more << '}';
  std::string text = "no error";
  try {
    train_defaults(file);
    load_network(file, {.batch = 2});
  } catch (const Error& error) {
    text = error.what();
  }
  std::filesystem::remove(file);
  return text;
}

void expect_said(const std::string& words, const std::string& layers, const std::string& more = "") {
  const std::string text = said_of(layers, more);
  EXPECT_NE(text.find(words), std::string::npos) << "expected: " << words << "\n     was: " << text;
}

TEST(ForeignWords, AKeyOfAnotherLibraryGetsItsNameHere) {
  expect_said("unknown key 'kernel_size' in 'conv'; did you mean 'k'?", R"({"op": "conv", "kernel_size": 3})");
  expect_said("did you mean 'k'?", R"({"op": "max_pool", "pool_size": 2})");
  expect_said("did you mean 'out'?", R"({"op": "conv", "out_channels": 8})");
  expect_said("did you mean 'out'?", R"({"op": "fc", "units": 8})");
  expect_said("did you mean 'pad'?", R"({"op": "conv", "out": 8, "k": 3, "Padding": "same"})");
  expect_said("did you mean 'vocab'?", R"({"op": "embedding", "out": 8, "input_dim": 3})");
  expect_said("did you mean 'p'?", R"({"op": "dropout", "rate": 0.5})");
  expect_said("did you mean 'slope'?", R"({"op": "leaky_relu", "alpha": 0.5})");
  expect_said("did you mean 'dropout'?", R"({"op": "attention", "dropout_rate": 0.5})");
  expect_said("did you mean 'shape'?", R"({"op": "reshape", "size": [96]})");
  expect_said("did you mean 'dtype'?", R"({"op": "cast", "to": "f32"})");
  expect_said("did you mean 'perm'?", R"({"op": "transpose", "dims": [1, 0, 2]})");
}

TEST(ForeignWords, AKeyThatIsNotNeededIsSaidToBe) {
  expect_said("unknown key 'in_features' in 'fc'; a layer sees the sizes of its input itself; leave the key out",
              R"({"op": "fc", "out": 8, "in_features": 96})");
  expect_said("leave the key out", R"({"op": "fc", "out": 8, "input_dim": 96})");
  expect_said(R"(an activation is a layer of its own after this one: {"op": "relu"})",
              R"({"op": "conv", "out": 8, "k": 3, "activation": "relu"})");
}

TEST(ForeignWords, LayersLossesAndSettingsGetTheirNamesHereToo) {
  expect_said("unknown layer 'Linear'; did you mean 'fc'?", R"({"op": "Linear", "out": 3})");
  expect_said("unknown layer 'Conv2d'; did you mean 'conv'?", R"({"op": "Conv2d"})");
  expect_said("unknown layer 'BatchNorm2d'; did you mean 'bn'?", R"({"op": "BatchNorm2d"})");
  expect_said("unknown layer 'Hardswish'; did you mean 'hard_swish'?", R"({"op": "Hardswish"})");
  expect_said("unknown layer 'Maximum'; did you mean 'max'?", R"({"op": "Maximum"})");
  expect_said("unknown layer 'ReLU'; did you mean 'relu'?", R"({"op": "ReLU"})");
  expect_said("expected an entry with one of op, block, repeat, branches, if, while; did you mean 'op'?",
              R"({"type": "relu"})");
  expect_said("unknown loss 'MSELoss'; did you mean 'mse'?", R"({"op": "relu"})", R"(, "loss": [{"op": "MSELoss"}])");
  expect_said("did you mean 'ignore'?", R"({"op": "fc", "out": 3})",
              R"(, "loss": [{"op": "cross_entropy", "ignore_index": 1}])");
  expect_said("did you mean 'lr'?", R"({"op": "relu"})", R"(, "train": {"learning_rate": 0.1})");
}

TEST(ForeignWords, AWordThatIsKnownHereIsNeverTakenForAnother) {
  expect_said("no error", R"({"op": "lrn", "alpha": 0.1, "k": 1}, {"op": "flatten"}, {"op": "dropout", "p": 0.5})");
  expect_said("no error", R"({"op": "conv2d", "out": 3, "k": 3}, {"op": "batch_norm"}, {"op": "Relu"})");
}

}  // namespace
}  // namespace lethe::testing
