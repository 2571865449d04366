// Device code that completes kernels of libraries.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda_launches.h"
#include "kernels/simt.h"

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
    launch_add_bias(nullptr, dtype, kRows, kColumns, bias.data(), y.data());
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], static_cast<T>(i) + bias[i % kColumns]);
  }
}

TEST(Launches, ABiasIsAddedToEveryRow) {
  expect_bias_on_every_row<float>(DType::f32);
  expect_bias_on_every_row<double>(DType::f64);
}

}  // namespace
}  // namespace lethe::testing
