// Device code that completes kernels of libraries.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/conv/cuda_launches.h"
#include "kernels/device_code.h"
#include "kernels/gemm/cuda_launches.h"

namespace lethe::testing {
namespace {

template <class T>
void expect_bias_on_every_row(DType dtype) {
  constexpr std::int64_t kRows = 5, kColumns = 3;
  const std::vector<T> bias = {100, 200, 300};
  for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
    simt::order = order;
    std::vector<T> y(kRows * kColumns);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<T>(i);
    launch_epilogue(nullptr, dtype, {kRows, kColumns}, {.bias = true}, bias.data(), y.data());
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(compute(y[i]), compute(static_cast<T>(compute(static_cast<T>(i)) + compute(bias[i % kColumns]))));
  }
}

TEST(Launches, AnEpilogueActivatesWithAndWithoutABias) {
  for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
    simt::order = order;
    const std::vector<float> bias = {2, -2};
    std::vector<float> y = {-1, 1, -3, 3}, plain = y;
    launch_epilogue(nullptr, DType::f32, {2, 2}, {.bias = true, .relu = true}, bias.data(), y.data());
    EXPECT_EQ(y, (std::vector<float>{1, 0, 0, 1}));
    launch_epilogue(nullptr, DType::f32, {2, 2}, {.relu = true}, nullptr, plain.data());
    EXPECT_EQ(plain, (std::vector<float>{0, 1, 0, 3}));
  }
}

TEST(Launches, AnEpilogueLeavesWhatLiesBetweenRows) {
  const std::vector<float> bias = {1, 2, 3, 4, 5};
  std::vector<float> odd(4 * 8, 10), packed(4 * 8, 10);
  launch_epilogue(nullptr, DType::f32, {.rows = 4, .columns = 5, .gap = 3}, {.bias = true}, bias.data(), odd.data());
  launch_epilogue(nullptr, DType::f32, {.rows = 4, .columns = 4, .gap = 4}, {.bias = true}, bias.data(), packed.data());
  for (std::size_t i = 0; i < odd.size(); ++i) {
    EXPECT_EQ(odd[i], i % 8 < 5 ? 10 + bias[i % 8] : 10) << i;
    EXPECT_EQ(packed[i], i % 8 < 4 ? 10 + bias[i % 8] : 10) << i;
  }
}

/// One channel of two, of two images: windows of the middle and of the padding, and back.
TEST(Launches, WindowsOfAChannelGoToColumnsAndBack) {
  const WindowAxis height{.in = 3, .out = 3, .k = 3, .pad = 1}, width{.in = 2, .out = 1, .k = 2};
  const Windows w{.images = 2, .channels = 1, .height = height, .width = width, .first = 1, .stride = 2};
  std::vector<float> image(24);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
    simt::order = order;
    std::vector<float> columns(36, -1), back(24, -1);
    launch_unfold(nullptr, DType::f32, w, image.data(), columns.data());
    EXPECT_EQ((std::vector<float>(columns.begin(), columns.begin() + 12)),
              (std::vector<float>{0, 0, 1, 3, 5, 7, 1, 3, 5, 7, 9, 11}));
    EXPECT_EQ(columns[18 + 2], 13);
    launch_fold(nullptr, DType::f32, w, columns.data(), back.data());
    // The upper and lower rows are in two windows, the middle one in three.
    EXPECT_EQ((std::vector<float>(back.begin(), back.begin() + 12)),
              (std::vector<float>{-1, 2, -1, 6, -1, 15, -1, 21, -1, 18, -1, 22}));
  }
}

/// Three windows over a pixel whose sum bf16 would lose on the way: columns are f32.
TEST(Launches, FoldsAndNarrowsFromF32) {
  const WindowAxis one{}, three{.in = 3, .out = 3, .k = 3, .pad = 1};
  const Windows w{.images = 1, .channels = 1, .height = three, .width = one};
  const std::vector<float> columns(9, 1.0F / 3);
  std::vector<Bf16> image(3), narrow(9);
  launch_fold(nullptr, DType::bf16, w, columns.data(), image.data());
  EXPECT_EQ(compute(image[1]), 1.0F);
  launch_narrow(nullptr, DType::bf16, 9, columns.data(), narrow.data());
  EXPECT_EQ(narrow[8].bits, Bf16(1.0F / 3).bits);
}

TEST(Launches, ABiasIsAddedToEveryRow) {
  expect_bias_on_every_row<float>(DType::f32);
  expect_bias_on_every_row<double>(DType::f64);
  expect_bias_on_every_row<Bf16>(DType::bf16);
}

}  // namespace
}  // namespace lethe::testing
