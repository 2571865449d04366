// Attention in bf16 by our own tiles, on a processor with AMX and by what stands for it elsewhere, beside the same
// numbers in f32.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/error.h"
#include "kernels/attention/attention.h"
#include "kernels/low_floats.h"
#include "tests/support/guarded.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

constexpr int kWorkers = 2;

/// What a kernel writes, `sizes` numbers into each output; the workspace begins as NaN.
struct Outputs {
  std::vector<std::vector<float>> of;
  /// `wide`: those that are f32 where the rest is T.
  template <class T>
  static Outputs run(const Kernel& kernel, const std::vector<const void*>& inputs,
                     const std::vector<std::int64_t>& sizes, const std::vector<bool>& wide) {
    const Guarded workspace(kernel.workspace_bytes());
    std::vector<std::vector<T>> low;
    std::vector<std::vector<float>> high;
    std::vector<void*> in, out;
    for (const void* const input : inputs) in.push_back(const_cast<void*>(input));
    for (const std::int64_t size : sizes) {
      low.emplace_back(static_cast<std::size_t>(size), T(NAN));
      high.emplace_back(static_cast<std::size_t>(size), NAN);
    }
    for (std::size_t i = 0; i < sizes.size(); ++i)
      out.push_back(wide[i] ? static_cast<void*>(high[i].data()) : low[i].data());
    kernel.run({.inputs = in.data(), .outputs = out.data(), .workspace = workspace.data()});
    EXPECT_TRUE(workspace.intact());
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (!wide[i]) high[i].assign(low[i].begin(), low[i].end());
    return {high};
  }
};

std::vector<float> widened(const std::vector<Bf16>& values) { return {values.begin(), values.end()}; }

/// Off by a part of what stands there in the mean: shares are rounded to eight bits, results once.
void expect_near(const std::vector<float>& got, const std::vector<float>& want, const char* what) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_TRUE(std::isfinite(got[i])) << what << ", " << i;
    error += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  EXPECT_LT(std::sqrt(error), 0.006 * std::sqrt(size)) << what;
}

void expect_as_in_f32(AttentionShape s, const std::vector<std::int32_t>& lengths = {}) {
  SCOPED_TRACE(message(s.rows, " rows, ", s.keys, " keys, heads of ", s.size, s.causal ? ", causal" : "", ", window ",
                       s.window, ", dropout ", s.dropout));
  s.lengths = !lengths.empty();
  s.scale = 1 / std::sqrt(static_cast<double>(s.size));
  const std::int64_t of_q = s.batch * s.rows * s.heads * s.size, of_k = s.batch * s.keys * s.kv_heads * s.size,
                     of_lse = s.batch * s.heads * s.rows;
  const auto q = random_values<Bf16>(of_q, 1), k = random_values<Bf16>(of_k, 2), v = random_values<Bf16>(of_k, 3),
             dy = random_values<Bf16>(of_q, 4);
  const auto wide_q = widened(q), wide_k = widened(k), wide_v = widened(v), wide_dy = widened(dy);
  const std::int64_t step = 7;
  std::vector<float> mask = random_values<float>(s.mask.samples * s.mask.heads * s.mask.rows * s.mask.keys, 5);
  for (float& value : mask) value = value < -0.5F ? -std::numeric_limits<float>::infinity() : 2 * value;
  const void* const of_scores = mask.empty() ? nullptr : mask.data();
  const void* const limits = lengths.empty() ? nullptr : lengths.data();
  const std::vector<std::int64_t> sizes = {of_q, of_lse}, of_gradients = {of_q, of_k, of_k};
  const std::vector<bool> all_low = {false, false, false};
  const Outputs want = Outputs::run<float>(
      *prepare_attention_cpu(s, DType::f32, kWorkers),
      {wide_q.data(), wide_k.data(), wide_v.data(), limits, &step, nullptr, of_scores}, sizes, {false, true});
  const Outputs got =
      Outputs::run<Bf16>(*prepare_attention_on_tiles(s, kWorkers),
                         {q.data(), k.data(), v.data(), limits, &step, nullptr, of_scores}, sizes, {false, true});
  expect_near(got.of[0], want.of[0], "y");
  for (std::int64_t i = 0; i < of_lse; ++i)
    ASSERT_NEAR(got.of[1][static_cast<std::size_t>(i)], want.of[1][static_cast<std::size_t>(i)], 1e-4) << "lse " << i;
  const std::vector<Bf16> y(got.of[0].begin(), got.of[0].end());
  const std::vector<float>&wide_y = got.of[0], &lse = got.of[1];
  const Outputs exact = Outputs::run<float>(*prepare_attention_grad_cpu(s, DType::f32, kWorkers),
                                            {wide_q.data(), wide_k.data(), wide_v.data(), limits, &step, nullptr,
                                             of_scores, wide_y.data(), lse.data(), wide_dy.data()},
                                            of_gradients, all_low);
  const Outputs low = Outputs::run<Bf16>(
      *prepare_attention_grad_on_tiles(s, kWorkers),
      {q.data(), k.data(), v.data(), limits, &step, nullptr, of_scores, y.data(), lse.data(), dy.data()}, of_gradients,
      all_low);
  const char* const names[] = {"dq", "dk", "dv"};
  for (std::size_t i = 0; i < 3; ++i) {
    expect_near(low.of[i], exact.of[i], names[i]);
    for (std::size_t at = 0; at < exact.of[i].size(); ++at)  // those of keys that no row sees
      ASSERT_TRUE(exact.of[i][at] != 0 || low.of[i][at] == 0) << names[i] << ", " << at;
  }
}

TEST(TileAttention, GivesThatOfF32) {
  expect_as_in_f32({.batch = 1, .rows = 200, .keys = 200, .heads = 2, .kv_heads = 2, .size = 64, .causal = true});
  expect_as_in_f32({.batch = 2, .rows = 70, .keys = 70, .heads = 4, .kv_heads = 2, .size = 80, .window = 9});
  expect_as_in_f32({.batch = 1, .rows = 5, .keys = 37, .heads = 1, .kv_heads = 1, .size = 20});
  expect_as_in_f32({.batch = 1, .rows = 17, .keys = 17, .heads = 3, .kv_heads = 1, .size = 128, .dropout = 0.25});
  expect_as_in_f32({.batch = 1, .rows = 20, .keys = 20, .heads = 1, .kv_heads = 1, .size = 300, .causal = true});
  expect_as_in_f32({.batch = 1, .rows = 9, .keys = 40, .heads = 1, .kv_heads = 1, .size = 16, .causal = true});
  expect_as_in_f32({.batch = 1, .rows = 20, .keys = 20, .heads = 2, .kv_heads = 2, .size = 1});  // the scale is 1
}

/// Some factors have more tiles as [keys, rows] than as [rows, keys].
TEST(TileAttention, PacksAllSizesOfTiles) {
  for (const std::int64_t rows : {5, 33, 40, 70, 80, 100, 112})
    for (const std::int64_t keys : {17, 30, 64, 100})
      for (const std::int64_t size : {16, 32, 64, 96})
        expect_as_in_f32({.batch = 1, .rows = rows, .keys = keys, .heads = 1, .kv_heads = 1, .size = size});
}

/// Keys after the last of a sample have gradients of zero, although they share tiles with others.
TEST(TileAttention, StopsAtLengths) {
  expect_as_in_f32({.batch = 3, .rows = 90, .keys = 90, .heads = 2, .kv_heads = 2, .size = 32}, {90, 1, 50});
  expect_as_in_f32({.batch = 2, .rows = 20, .keys = 20, .heads = 1, .kv_heads = 1, .size = 32}, {20, 0});
}

TEST(TileAttention, AddsAMaskInF32) {
  expect_as_in_f32({.batch = 2,
                    .rows = 90,
                    .keys = 140,
                    .heads = 4,
                    .kv_heads = 2,
                    .size = 32,
                    .causal = true,
                    .mask = {.samples = 1, .heads = 4, .rows = 90, .keys = 140, .wide = true},
                    .dropout = 0.25});
  expect_as_in_f32({.batch = 3,
                    .rows = 90,
                    .keys = 90,
                    .heads = 2,
                    .kv_heads = 2,
                    .size = 32,
                    .mask = {.samples = 3, .heads = 1, .rows = 1, .keys = 90, .wide = true}},
                   {90, 1, 50});
}

}  // namespace
}  // namespace lethe::testing
