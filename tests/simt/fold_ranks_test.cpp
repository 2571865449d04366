// Sums of ranks on a GPU have the bits of those on the host.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/random.h"
#include "kernels/ranks/cuda_launches.h"

namespace lethe::testing {
namespace {

template <class T>
class FoldRanksOf : public ::testing::Test {};
using Wide = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FoldRanksOf, Wide);

TYPED_TEST(FoldRanksOf, AddsAlongTheSameTree) {
  constexpr std::int64_t kCount = 300, kDistance = 304;
  for (std::int64_t ranks = 2; ranks <= 17; ++ranks)
    for (const std::int64_t number : {std::int64_t{0}, ranks / 2, ranks - 1}) {
      std::vector<TypeParam> own, others(static_cast<std::size_t>((ranks - 1) * kDistance));
      const auto drawn = [&](std::int64_t i) {  // numbers whose sum depends on the order
        Random random(1, static_cast<std::uint64_t>(ranks), static_cast<std::uint64_t>(i));
        return std::ldexp(static_cast<TypeParam>(random.uniform() - 0.5), static_cast<int>(random.below(30)));
      };
      for (std::int64_t i = 0; i < kCount; ++i) own.push_back(drawn(i));
      for (std::int64_t i = 0; i < std::ssize(others); ++i) others[i] = drawn(kCount + i);
      std::vector<TypeParam> own_on_host = own, others_on_host = others;
      const DType dtype = sizeof(TypeParam) == 4 ? DType::f32 : DType::f64;
      fold_on_host({dtype, kCount, {number, ranks}, own_on_host.data(), others_on_host.data(), kDistance});
      launch_fold(nullptr, {dtype, kCount, {number, ranks}, own.data(), others.data(), kDistance});
      EXPECT_EQ(own, own_on_host) << "rank " << number << " of " << ranks;
    }
}

}  // namespace
}  // namespace lethe::testing
