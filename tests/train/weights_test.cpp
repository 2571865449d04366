#include "train/session/weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "tests/train/data_samples.h"
#include "tests/train/run_samples.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

class Weights : public ::testing::Test {
 protected:
  std::string file() const { return (folder_.path() / "w.safetensors").string(); }
  std::vector<float> in_file(const std::string& name) const {
    SafetensorsReader reader(file());
    const std::vector<std::byte> bytes = reader.read(*reader.find(name));
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  void count_up(const std::string& name) {
    std::vector<float> values(static_cast<std::size_t>(elements(run_.store.var(name).shape)));
    std::iota(values.begin(), values.end(), 0.0f);
    run_.store.write(name, values.data(), static_cast<std::int64_t>(values.size() * sizeof(float)));
  }
  /// A file of zeros with those tensors.
  void write(const std::vector<TensorEntry>& tensors) const {
    SafetensorsWriter writer(file(), tensors);
    for (const TensorEntry& tensor : tensors) writer.write(std::vector<std::byte>(tensor.bytes()));
    writer.finish();
  }
  std::string loading_fails() {
    return error_from([&] { load_weights(file(), run_.store, run_.network); });
  }

  TemporaryFolder folder_;
  SmallRun run_;
};

TEST_F(Weights, ConvolutionsStandAsOihw) {
  count_up("conv.weight");  // [O=2, kh=1, kw=3, I=2]
  save_weights(file(), run_.store, run_.network);
  EXPECT_EQ(SafetensorsReader(file()).find("conv.weight")->shape, (Shape{2, 2, 1, 3}));
  EXPECT_EQ(in_file("conv.weight"), (std::vector<float>{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
}

TEST_F(Weights, FullyConnectedColumnsStandInTheOrderOfChannelsFirst) {
  count_up("fc.weight");  // [2, h=2 * w=3 * c=2]
  save_weights(file(), run_.store, run_.network);
  EXPECT_EQ(SafetensorsReader(file()).find("fc.weight")->shape, (Shape{2, 12}));
  EXPECT_EQ(in_file("fc.weight"),
            (std::vector<float>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11, 12, 14, 16, 18, 20, 22, 13, 15, 17, 19, 21, 23}));
}

TEST_F(Weights, OfRowsOfPixelsStandAsInMemoryAndComeBack) {
  Builder net({.batch = 2});
  const VarId image = net.input("image", {4, 5, 3});
  net.layer("fc", net.layer("reshape", image, {{"shape", Ints{-1, 3}}, {"batch", 1}}), {{"out", 7}}, "fc");
  const Network network = net.finish();
  Store store(*run_.device);
  store.add(network.program);
  std::vector<float> values(7 * 3);
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
  std::iota(values.begin(), values.end(), 0.0f);
  store.write("fc.weight", values.data(), bytes);
  save_weights(file(), store, network);
  EXPECT_EQ(in_file("fc.weight"), values);
  const std::vector<std::byte> before = store.read("fc.weight");
  store.write("fc.weight", std::vector<float>(values.size()).data(), bytes);
  load_weights(file(), store, network);
  EXPECT_EQ(store.read("fc.weight"), before);
}

TEST_F(Weights, AreNotSavedInALayoutThatTheyDoNotFill) {
  for (ParamInfo& info : run_.network.params)
    if (info.layout.kind == FileLayout::FlatImage) info.layout.hwc = {2, 3, 4};
  EXPECT_EQ(error_from([&] { save_weights(file(), run_.store, run_.network); }, Exit::Internal),
            "'fc.weight' is [2,12], which no images of 2x3x4 fill");
}

TEST_F(Weights, HoldParametersAndRunningStatisticsOnly) {
  save_weights(file(), run_.store, run_.network);
  const SafetensorsReader reader(file());
  EXPECT_EQ(reader.tensors().size(), 4u);
  EXPECT_TRUE(reader.find("bn.running_mean"));
  EXPECT_FALSE(reader.find("step"));
  EXPECT_FALSE(reader.find("fc.bias@momentum"));
}

TEST_F(Weights, OptimizerFileHoldsTheRestInTheLayoutOfTheParameters) {
  count_up("conv.weight@momentum");
  save_optimizer(file(), run_.store, run_.network);
  const SafetensorsReader reader(file());
  EXPECT_EQ(reader.tensors().size(), 4u);
  EXPECT_EQ(reader.find("step")->dtype, DType::i64);
  EXPECT_EQ(reader.find("conv.weight@momentum")->shape, (Shape{2, 2, 1, 3}));
  EXPECT_EQ(in_file("conv.weight@momentum"), (std::vector<float>{0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11}));
}

TEST_F(Weights, ComeBackToTheBit) {
  run_.fill(3);
  const std::string optimizer = (folder_.path() / "o.safetensors").string();
  save_weights(file(), run_.store, run_.network);
  save_optimizer(optimizer, run_.store, run_.network);
  run_.fill(4);
  load_weights(file(), run_.store, run_.network);
  EXPECT_FALSE(run_.holds(3));
  load_optimizer(optimizer, run_.store, run_.network);
  EXPECT_TRUE(run_.holds(3));
}

TEST_F(Weights, DoublesAreConverted) {
  SafetensorsWriter writer(file(), {{.name = "conv.weight", .dtype = DType::f64, .shape = {2, 2, 1, 3}},
                                    {.name = "bn.running_mean", .shape = {2}},
                                    {.name = "fc.weight", .shape = {2, 12}},
                                    {.name = "fc.bias", .shape = {2}}});
  std::vector<double> values(12);
  std::iota(values.begin(), values.end(), 0.5);
  const auto* first = reinterpret_cast<const std::byte*>(values.data());
  writer.write({first, first + 96});
  for (const std::size_t bytes : {8u, 96u, 8u}) writer.write(std::vector<std::byte>(bytes));
  writer.finish();
  load_weights(file(), run_.store, run_.network);
  EXPECT_EQ(run_.floats("conv.weight"),
            (std::vector<float>{0.5, 3.5, 1.5, 4.5, 2.5, 5.5, 6.5, 9.5, 7.5, 10.5, 8.5, 11.5}));
}

TEST_F(Weights, ThatATypeCannotHoldAreNeitherSavedNorLoadedInIt) {
  run_.fill(1);
  const float large[] = {65519, 65520};  // the first that becomes infinite in f16
  run_.store.write("fc.bias", large, sizeof large);
  EXPECT_EQ(error_from([&] { save_weights(file(), run_.store, run_.network, "", DType::f16); }),
            "'fc.bias': 65520 is too large for f16");
  EXPECT_FALSE(std::filesystem::exists(file()));
  save_weights(file(), run_.store, run_.network, "", DType::bf16);
  const double huge[] = {0, -1e300};
  SafetensorsWriter writer(file(), {{.name = "fc.bias", .dtype = DType::f64, .shape = {2}},
                                    {.name = "bn.running_mean", .shape = {2}},
                                    {.name = "conv.weight", .shape = {2, 2, 1, 3}},
                                    {.name = "fc.weight", .shape = {2, 12}}});
  const auto* first = reinterpret_cast<const std::byte*>(huge);
  writer.write({first, first + sizeof huge});
  for (const std::size_t bytes : {8u, 48u, 96u}) writer.write(std::vector<std::byte>(bytes));
  writer.finish();
  EXPECT_EQ(loading_fails(), file() + ": tensor 'fc.bias': -1e+300 is too large for f32");
}

TEST_F(Weights, MismatchesAreListedInOneLineAndNothingIsLoaded) {
  run_.fill(1);
  write({{.name = "conv.weigth", .shape = {2, 2, 1, 3}},
         {.name = "bn.running_mean", .shape = {2}},
         {.name = "fc.weight", .shape = {12, 2}},
         {.name = "fc.bias", .shape = {2}}});
  EXPECT_EQ(loading_fails(), file() +
                                 ": missing 'conv.weight'; did you mean 'conv.weigth'?; unexpected 'conv.weigth'; "
                                 "tensor 'fc.weight' is f32[12,2], expected f32[2,12]");
  EXPECT_TRUE(run_.holds(1));
}

TEST_F(Weights, LongListsAreCut) {
  write({{.name = "z", .shape = {2}}});
  EXPECT_EQ(loading_fails(),
            file() + ": missing 'conv.weight', 'bn.running_mean', 'fc.weight' and 1 more; unexpected 'z'");
}

TEST_F(Weights, WholeNumbersAreNotTakenForReals) {
  write({{.name = "conv.weight", .shape = {2, 2, 1, 3}},
         {.name = "bn.running_mean", .shape = {2}},
         {.name = "fc.weight", .shape = {2, 12}},
         {.name = "fc.bias", .dtype = DType::i32, .shape = {2}}});
  EXPECT_EQ(loading_fails(), file() + ": tensor 'fc.bias' is i32[2], expected f32[2]");
}

}  // namespace
}  // namespace lethe::testing
