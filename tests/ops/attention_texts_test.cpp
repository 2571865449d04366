// Attention of texts that stand one after the other in a sample.
#include <gtest/gtest.h>

#include "tests/ops/attention_definition.h"

namespace lethe::testing {
namespace {

/// Positions of texts of these lengths, sample by sample.
Tensor positions_of(const std::vector<std::vector<int>>& samples) {
  Tensor positions{{std::ssize(samples), 0}, {}, DType::i32};
  for (const std::vector<int>& lengths : samples)
    for (const int length : lengths)
      for (int t = 0; t < length; ++t) positions.values.push_back(t);
  positions.shape[1] = std::ssize(positions.values) / positions.shape[0];
  return positions;
}

/// More than a tile of rows and of keys; texts that begin and end within tiles, with their borders, and beyond them.
TEST(Attention, NoKeyBeforeItsTextIsSeen) {
  const Tensor positions = positions_of({{1, 63, 64, 5, 137}, {200, 70}});
  const auto begin = [&](auto b, auto t) { return t - static_cast<std::int64_t>(positions.values[b * 270 + t]); };
  const auto causal = [&](auto b, auto t, auto s) { return s <= t && s >= begin(b, t); };
  const auto near = [&](auto b, auto t, auto s) { return causal(b, t, s) && s > t - 50; };
  const auto later = [&](auto b, auto, auto s) { return s >= begin(b, 269); };
  for (const DType dtype : {DType::f32, DType::f64}) {
    expect_definition({2, 270, 270, kScale, causal}, {}, {{"causal", 1}}, dtype, positions);
    expect_definition({2, 270, 270, kScale, near, 0.25}, {}, {{"causal", 1}, {"window", 50}}, dtype, positions);
  }
  // The one row is the last position.
  expect_definition({2, 1, 270, kScale, later}, {}, {{"causal", 1}}, DType::f64, {{2, 1}, {136, 69}, DType::i32});
}

/// To the bit, whatever stands there: what a text gives and what becomes of it.
TEST(Attention, ATextDoesNotSeeWhatStandsBesideIt) {
  const Tensor positions = positions_of({{40, 60, 170}});
  const Attrs attrs{{"heads", kHeads}, {"kv_heads", kGroups}, {"causal", 1}};
  const auto of_text = [&](unsigned others, const std::string& op, std::size_t output) {
    std::vector<Tensor> in;
    for (const std::int64_t heads : {kHeads, kGroups, kGroups, kHeads}) {
      in.push_back(random_tensor({1, 270, heads * kSize}, static_cast<unsigned>(in.size())));
      const Tensor other = random_tensor(in.back().shape, others + static_cast<unsigned>(in.size()));
      for (std::int64_t i = 0; i < elements(other.shape); ++i)
        if (const std::int64_t t = i / (heads * kSize); t < 40 || t >= 100) in.back().values[i] = other.values[i];
    }
    const Tensor dy = in.back();
    in.back() = {};
    in.insert(in.end(), {{}, positions});
    if (op == "attention_grad")
      in.insert(in.end(), {{}, run_op("attention", in, attrs), run_op("attention", in, attrs, 1), dy});
    const Tensor all = run_op(op, in, attrs, output);
    const std::int64_t width = all.shape[2];
    return std::vector(all.values.begin() + 40 * width, all.values.begin() + 100 * width);
  };
  EXPECT_EQ(of_text(10, "attention", 0), of_text(20, "attention", 0));
  for (const std::size_t output : {0, 1, 2})
    EXPECT_EQ(of_text(10, "attention_grad", output), of_text(20, "attention_grad", output)) << output;
}

}  // namespace
}  // namespace lethe::testing
