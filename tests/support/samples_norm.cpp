// Rows of norms and of softmax.
#include "tests/support/samples.h"

namespace lethe::testing {
namespace {

/// Statistics: given, not differentiated.
SampleInput statistics(std::int64_t channels, double low, double high) {
  return {.shape = {channels}, .low = low, .high = high, .kind = Kind::State, .wide = true};
}

/// Mean or inverse of a norm of rows: one a row.
SampleInput of_rows(Shape rows) { return {.shape = std::move(rows), .low = 0.5, .high = 2, .wide = true}; }

/// Scale or bias of a norm.
SampleInput of_channels(std::int64_t n) { return {.shape = {n}, .wide = true}; }

std::vector<Sample> channel_samples() {
  const Attrs eps{{"eps", 1e-5}};
  const SampleInput small{{4, 3, 5, 6}}, large{{2, 41, 47, 16}}, six = of_channels(6), sixteen = of_channels(16);
  return {
      {.op = "batch_norm", .in = {{{4, 3, 5, 6}}, of_channels(6), of_channels(6)}, .attrs = eps, .through = {0}},
      {.op = "batch_norm", .in = {{{37, 3}, 4, 5}, kAbsent, kAbsent}, .attrs = eps, .through = {0}},
      {.op = "batch_norm", .in = {{{12, 1100}}, of_channels(1100), of_channels(1100)}, .attrs = eps, .through = {0}},
      {.op = "batch_norm", .in = {{{2, 41, 47, 16}}, of_channels(16), of_channels(16)}, .attrs = eps, .through = {0}},
      {.op = "batch_norm_inference",
       .in = {{{4, 3, 5, 6}}, of_channels(6), of_channels(6), statistics(6, -1, 1), statistics(6, 0.5, 2)},
       .attrs = eps},
      {.op = "batch_norm_inference",
       .in = {{{7, 5}}, kAbsent, kAbsent, statistics(5, -1, 1), statistics(5, 0.5, 2)},
       .attrs = eps},
      {.op = "batch_norm_inference",
       .in = {large, sixteen, kAbsent, kAbsent, statistics(16, 0.5, 2)},
       .attrs = eps,
       .gradient = false},
      {.op = "batch_norm",
       .in = {{{4, 3, 5, 8}}, of_channels(8), of_channels(8)},
       .attrs = {{"eps", 1e-5}, {"activation", "relu"}},
       .gradient = false},
      {.op = "batch_norm",
       .in = {small, six, six, small, six, six, statistics(6, -1, 1), statistics(6, 0.5, 2)},
       .attrs = {{"eps", 1e-5}, {"added_eps", 1e-3}, {"activation", "relu"}},
       .gradient = false},
      {.op = "batch_norm",
       .in = {large, sixteen, kAbsent, large, kAbsent, sixteen, statistics(16, -1, 1), statistics(16, 0.5, 2)},
       .attrs = {{"eps", 1e-5}, {"added_eps", 1e-5}},
       .gradient = false},
      {.op = "channel_statistics", .in = {{{4, 3, 5, 6}}}, .gradient = false},
      {.op = "channel_statistics", .in = {{{2, 41, 47, 16}}}, .gradient = false},
      {.op = "batch_norm_inference",
       .in = {{{7, 5}}, of_channels(5), of_channels(5), statistics(5, -1, 1), statistics(5, 0.5, 2)},
       .attrs = {{"eps", 1e-5}, {"activation", "relu"}},
       .gradient = false},
      {.op = "batch_norm_join_grad",
       .in = {{{4, 3, 5, 6}},
              of_channels(6),
              statistics(6, -1, 1),
              statistics(6, 0.5, 2),
              {{4, 3, 5, 6}},
              {{4, 3, 5, 6}},
              {{4, 3, 5, 6}}},
       .attrs = eps,
       .gradient = false,
       .dtypes = kWide},
      {.op = "batch_norm_join_grad",
       .in = {{{2, 41, 47, 16}},
              of_channels(16),
              statistics(16, -1, 1),
              statistics(16, 0.5, 2),
              {{2, 41, 47, 16}},
              {{2, 41, 47, 16}},
              {{2, 41, 47, 16}}},
       .attrs = eps,
       .gradient = false,
       .dtypes = kWide},
      {.op = "batch_norm_join_grad",
       .in = {{{37, 5}}, kAbsent, statistics(5, -1, 1), statistics(5, 0.5, 2), {{37, 5}}, {{37, 5}}},
       .attrs = eps,
       .gradient = false},
      {.op = "batch_norm_join_grad",
       .in = {{{2, 41, 47, 8}},
              of_channels(8),
              statistics(8, -1, 1),
              statistics(8, 0.5, 2),
              {{2, 41, 47, 8}},
              {{2, 41, 47, 8}}},
       .attrs = eps,
       .gradient = false},
      {.op = "batch_norm_grad",
       .in = {{{4, 3, 5, 6}},
              of_channels(6),
              statistics(6, -1, 1),
              statistics(6, 0.5, 2),
              {{4, 3, 5, 6}},
              of_channels(6)},
       .attrs = {{"eps", 1e-5}, {"masked", true}},
       .gradient = false},
      {.op = "batch_norm_grad",
       .in = {{{2, 41, 47, 16}},
              of_channels(16),
              statistics(16, -1, 1),
              statistics(16, 0.5, 2),
              {{2, 41, 47, 16}},
              of_channels(16)},
       .attrs = {{"eps", 1e-5}, {"masked", true}},
       .gradient = false},
      {.op = "batch_norm_grad",
       .in = {{{7, 5}}, kAbsent, statistics(5, -1, 1), statistics(5, 0.5, 2), {{7, 5}}},
       .attrs = {{"eps", 1e-5}, {"masked", true}, {"fixed", true}},
       .gradient = false},
      {.op = "batch_norm_moments", .in = {{{4, 3, 5, 6}}}, .attrs = {{"count", 120}}, .gradient = false},
      {.op = "batch_norm_moments", .in = {{{2, 41, 47, 16}, 4, 5}}, .attrs = {{"count", 3854}}, .gradient = false},
      {.op = "batch_norm_statistics",
       .in = {{{2, 6}, 0, 1, DType::f64}},
       .attrs = {{"dtype", kUnderTest}},
       .gradient = false,
       .dtypes = kWide},
      {.op = "batch_norm_over_parts",
       .in = {{{4, 3, 5, 6}}, of_channels(6), of_channels(6), statistics(6, -1, 1), statistics(6, 0.5, 2)},
       .attrs = {{"eps", 1e-5}, {"count", 120}},
       .gradient = false},
      {.op = "batch_norm_grad_sums",
       .in = {{{2, 41, 47, 16}}, statistics(16, -1, 1), statistics(16, 0.5, 2), {{2, 41, 47, 16}}},
       .attrs = eps,
       .gradient = false},
      {.op = "batch_norm_grad_of_sums",
       .in = {{{4, 3, 5, 6}},
              of_channels(6),
              statistics(6, -1, 1),
              statistics(6, 0.5, 2),
              {{4, 3, 5, 6}},
              {{2, 6}, -9, 9, DType::f64}},
       .attrs = {{"eps", 1e-5}, {"count", 120}},
       .gradient = false},
      {.op = "batch_norm_update",
       .in = {statistics(6, -1, 1), statistics(6, 0.5, 2), {{6}}, {{6}, 0.5, 2}},
       .attrs = {{"momentum", 0.1}, {"count", 60}},
       .gradient = false,
       .dtypes = kWide},
  };
}

std::vector<Sample> row_samples() {
  return {
      {.op = "softmax", .in = {{{3, 5, 7}, -3, 3}}},
      {.op = "softmax", .in = {{{2, 300}, -3, 3}}},
      {.op = "softmax", .in = {{{2, 3, 6, 6}, -3, 3}}, .attrs = {{"causal", 1}}},
      {.op = "softmax", .in = {{{2, 5, 5}, -3, 3}}, .attrs = {{"causal", 1}}},
      {.op = "softmax", .in = {{{60, 60}, -3, 3}}, .attrs = {{"causal", 1}}},
      // On a GPU: several rows a warp, a row of several warps, and in packs and without rows that no team holds.
      {.op = "softmax", .in = {{{7, 48}, -3, 3}}},
      {.op = "softmax", .in = {{{2, 24, 24}, -3, 3}}, .attrs = {{"causal", 1}}},
      {.op = "softmax", .in = {{{2, 1100}, -3, 3}}},
      {.op = "softmax", .in = {{{2, 1104}, -3, 3}}},
      {.op = "softmax", .in = {{{2, 2051}, -3, 3}}},
      {.op = "softmax", .in = {{{1, 16400}, -3, 3}}},
      {.op = "log_softmax", .in = {{{5, 10}, -3, 3}}},
      {.op = "log_softmax", .in = {{{2, 1100}, -3, 3}}, .gradient = false},
      {.op = "layer_norm",
       .in = {{{4, 3, 37}}, of_channels(37), of_channels(37)},
       .attrs = {{"eps", 1e-5}},
       .through = {0}},
      {.op = "layer_norm",
       .in = {{{40, 64}}, of_channels(64), of_channels(64)},
       .attrs = {{"eps", 1e-5}},
       .through = {0}},
      {.op = "layer_norm",
       .in = {{{6, 1030}}, of_channels(1030), of_channels(1030)},
       .attrs = {{"eps", 1e-5}},
       .through = {0}},
      {.op = "layer_norm", .in = {{{4, 3, 37}}, of_channels(37)}, .attrs = {{"eps", 1e-5}}, .through = {0}},
      {.op = "rms_norm", .in = {{{4, 3, 37}}, of_channels(37)}, .attrs = {{"eps", 1e-5}}, .through = {0}},
      {.op = "rms_norm", .in = {{{40, 64}}, of_channels(64)}, .attrs = {{"eps", 1e-5}}, .through = {0}},
      {.op = "rms_norm", .in = {{{5, 24}}, of_channels(24)}, .attrs = {{"eps", 1e-5}, {"offset", 1.0}}, .through = {0}},
      {.op = "rms_norm", .in = {{{6, 1030}, 2, 3}, of_channels(1030)}, .attrs = {{"eps", 1e-5}}, .through = {0}},
      // With the sums that join_sums has them make, of long rows, too, which a GPU's team does not hold.
      {.op = "layer_norm",
       .in = {{{4, 3, 37}}, of_channels(37), of_channels(37), {{4, 3, 37}}},
       .attrs = {{"eps", 1e-5}},
       .gradient = false},
      {.op = "layer_norm",
       .in = {{{3, 768}}, of_channels(768), kAbsent, {{3, 768}}},
       .attrs = {{"eps", 1e-5}},
       .gradient = false},
      {.op = "rms_norm", .in = {{{40, 64}}, of_channels(64), {{40, 64}}}, .attrs = {{"eps", 1e-5}}, .gradient = false},
      {.op = "rms_norm",
       .in = {{{2, 16400}}, of_channels(16400), {{2, 16400}}},
       .attrs = {{"eps", 1e-5}},
       .gradient = false},
      // With what fuse_sums adds.
      {.op = "layer_norm_grad",
       .in = {{{4, 3, 37}}, of_channels(37), of_rows({4, 3}), of_rows({4, 3}), {{4, 3, 37}}, {{4, 3, 37}}},
       .gradient = false},
      // On a GPU: teams of two warps, of four and of eight, and more rows than there are teams.
      {.op = "layer_norm_grad",
       .in = {{{5, 768}}, of_channels(768), of_rows({5}), of_rows({5}), {{5, 768}}},
       .gradient = false},
      {.op = "layer_norm_grad",
       .in = {{{5, 2048}}, of_channels(2048), of_rows({5}), of_rows({5}), {{5, 2048}}},
       .gradient = false},
      {.op = "rms_norm_grad", .in = {{{3, 4096}}, of_channels(4096), of_rows({3}), {{3, 4096}}}, .gradient = false},
      {.op = "layer_norm_grad",
       .in = {{{1200, 128}}, of_channels(128), of_rows({1200}), of_rows({1200}), {{1200, 128}}, {{1200, 128}}},
       .gradient = false},
      {.op = "rms_norm_grad",
       .in = {{{40, 64}}, of_channels(64), of_rows({40}), {{40, 64}}, {{40, 64}}},
       .gradient = false},
  };
}

std::vector<Sample> group_samples() {
  const auto groups = [](std::int64_t n) { return Attrs{{"groups", n}, {"eps", 1e-5}}; };
  const SampleInput six = of_channels(6);
  return {
      {.op = "group_norm", .in = {{{3, 4, 5, 6}}, six, six}, .attrs = groups(2), .through = {0}},
      {.op = "group_norm", .in = {{{2, 4, 5, 6}, 2, 5}, six, kAbsent}, .attrs = groups(6), .through = {0}},
      {.op = "group_norm", .in = {{{4, 7, 6}}, kAbsent, kAbsent}, .attrs = groups(3), .through = {0}},
      {.op = "group_norm", .in = {{{5, 6}}, six, six}, .attrs = groups(1), .through = {0}},
      {.op = "group_norm",
       .in = {{{2, 13, 11, 16}}, of_channels(16), of_channels(16)},
       .attrs = groups(4),
       .through = {0}},
      // One sample, whose sums several threads take.
      {.op = "group_norm",
       .in = {{{1, 64, 65, 16}}, of_channels(16), of_channels(16)},
       .attrs = groups(4),
       .gradient = false},
      {.op = "group_norm_grad",
       .in = {{{1, 64, 65, 16}}, of_channels(16), of_rows({1, 4}), of_rows({1, 4}), {{1, 64, 65, 16}}},
       .attrs = groups(4),
       .gradient = false},
      {.op = "group_norm",
       .in = {{{1, 3, 1100}}, of_channels(1100), of_channels(1100)},
       .attrs = groups(11),
       .through = {0}},
  };
}

}  // namespace

std::vector<Sample> norm_samples() {
  std::vector<Sample> all = channel_samples();
  for (const auto& part : {row_samples(), group_samples()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lethe::testing
