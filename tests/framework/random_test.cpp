#include "framework/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace lethe::testing {
namespace {

void expect_words(Philox4 got, std::array<std::uint32_t, 4> expected) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(got.word[i], expected[i]) << "word " << i;
}

// The known answers for philox4x32-10 that Random123 publishes (kat_vectors).
TEST(Philox, GivesTheKnownAnswers) {
  expect_words(philox(0, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  expect_words(philox(kOnes, kOnes, kOnes), {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_words(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, UniformsLieInTheUnitIntervalWithTheRightMean) {
  constexpr int kCount = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = uniform_at(stream_key(1, 2), 3, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 0.5, 0.005);  // five deviations of the mean
  EXPECT_NEAR(squares / kCount - mean * mean, 1.0 / 12, 0.002);
}

TEST(Philox, LargestWordsStayBelowOne) {
  EXPECT_LT(uniform_of(~0u, ~0u), 1);
  EXPECT_EQ(uniform_of(0, 0), 0);
}

TEST(Philox, SeedStreamStepAndElementEachGiveOtherValues) {
  const float base = uniform_at(stream_key(1, 1), 1, 1);
  EXPECT_NE(base, uniform_at(stream_key(2, 1), 1, 1));
  EXPECT_NE(base, uniform_at(stream_key(1, 2), 1, 1));
  EXPECT_NE(base, uniform_at(stream_key(1, 1), 2, 1));
  EXPECT_NE(base, uniform_at(stream_key(1, 1), 1, 2));
}

TEST(Random, SameSeedGivesTheSameSequenceAndAnotherSeedAnother) {
  Random a(5, 1), b(5, 1), c(6, 1);
  std::vector<std::uint32_t> from_a, from_b, from_c;
  for (int i = 0; i < 9; ++i) {
    from_a.push_back(a.next());
    from_b.push_back(b.next());
    from_c.push_back(c.next());
  }
  EXPECT_EQ(from_a, from_b);
  EXPECT_NE(from_a, from_c);
}

TEST(Random, BelowGivesEveryNumberUnderTheBoundAboutEquallyOften) {
  Random random(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
}

}  // namespace
}  // namespace lethe::testing
