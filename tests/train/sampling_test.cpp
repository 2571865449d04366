#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/train/data_samples.h"
#include "train/session/logits.h"

namespace lethe::testing {
namespace {

/// How often each symbol is drawn at `draws` positions.
std::vector<int> drawn(const std::vector<double>& logits, const Sampling& sampling, int draws = 20000) {
  std::vector<int> counts(logits.size());
  for (int at = 0; at < draws; ++at) ++counts[static_cast<std::size_t>(draw(logits, sampling, at))];
  return counts;
}

/// Logits of probabilities 0.1, 0.4, 0.2, 0.3.
const std::vector<double> kSampledLogits = {std::log(0.1), std::log(0.4), std::log(0.2), std::log(0.3)};

void expect_shares(const std::vector<int>& counts, const std::vector<double>& shares) {
  double all = 0;
  for (const int count : counts) all += count;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double deviation = std::sqrt(all * shares[i] * (1 - shares[i]));
    EXPECT_NEAR(counts[i], all * shares[i], 4 * deviation) << i;
  }
}

TEST(SamplingTest, DrawsByProbability) { expect_shares(drawn(kSampledLogits, {}), {0.1, 0.4, 0.2, 0.3}); }

TEST(SamplingTest, TemperatureFlattensAndSharpens) {
  expect_shares(drawn(kSampledLogits, {.temperature = 0.5}), {1 / 30.0, 16 / 30.0, 4 / 30.0, 9 / 30.0});
  expect_shares(drawn(kSampledLogits, {.temperature = 1e30}), {0.25, 0.25, 0.25, 0.25});
  expect_shares(drawn(kSampledLogits, {.temperature = 0}), {0, 1, 0, 0});
}

TEST(SamplingTest, TopKKeepsTheLikeliest) {
  expect_shares(drawn(kSampledLogits, {.top_k = 2}), {0, 4 / 7.0, 0, 3 / 7.0});
  expect_shares(drawn(kSampledLogits, {.top_k = 9}), {0.1, 0.4, 0.2, 0.3});
  EXPECT_EQ(draw(std::vector<double>{1, 1, 1}, {.top_k = 1}, 0), 0) << "of equal ones the first";
}

TEST(SamplingTest, TopPKeepsTheFewestThatReachIt) {
  expect_shares(drawn(kSampledLogits, {.top_p = 0.6}), {0, 4 / 7.0, 0, 3 / 7.0});
  expect_shares(drawn(kSampledLogits, {.top_p = 0.75}), {0, 4 / 9.0, 2 / 9.0, 3 / 9.0});
  expect_shares(drawn(kSampledLogits, {.top_p = 0.01}), {0, 1, 0, 0});
}

TEST(SamplingTest, IsAFunctionOfSeedAndPosition) {
  const Sampling one{.seed = 1}, two{.seed = 2};
  EXPECT_EQ(drawn(kSampledLogits, one, 500), drawn(kSampledLogits, one, 500));
  EXPECT_NE(drawn(kSampledLogits, one, 500), drawn(kSampledLogits, two, 500));
}

TEST(SamplingTest, RefusesWhatIsNoNumber) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_from(
                [&] {
                  draw(std::vector<double>{0, nan}, {}, 6);
                },
                Exit::Numeric),
            "the network gives what is no number for symbol 7");
  error_from([&] { draw(std::vector<double>{0, infinite}, {}, 0); }, Exit::Numeric);
  EXPECT_EQ(draw(std::vector<double>{-infinite, 0}, {}, 0), 1);
}

}  // namespace
}  // namespace lethe::testing
