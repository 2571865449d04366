#include "kernels/divisor.h"

#include <gtest/gtest.h>

#include <vector>

namespace lethe::testing {
namespace {

TEST(Divisor, DividesAsDivisionDoes) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d < 300; ++d) divisors.push_back(d);
  for (std::int64_t d = 2; d <= kMost; d *= 2) divisors.insert(divisors.end(), {d - 1, d, d + 1});
  divisors.insert(divisors.end(), {kMost, kMost + 1, kMost * 5});
  for (const std::int64_t d : divisors) {
    const Divisor divisor(d);
    std::vector<std::int64_t> numbers = {0, 1, kMost, kMost + 1, std::int64_t{1} << 40};
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{7}, kMost / d, kMost / 2 / d})
      numbers.insert(numbers.end(), {k * d - 1, k * d, k * d + 1});
    for (const std::int64_t i : numbers) {
      if (i < 0) continue;
      ASSERT_EQ(divisor.quotient(i), i / d) << i << " by " << d;
      if (i <= kMost) {
        ASSERT_EQ(divisor.quotient(static_cast<std::int32_t>(i)), i / d) << i << " by " << d;
      }
      ASSERT_EQ(divisor.remainder(i), i % d) << i << " by " << d;
    }
  }
}

}  // namespace
}  // namespace lethe::testing
