#include "tests/support/samples.h"

namespace lethe::testing {
namespace {

Attrs window(std::int64_t k, std::int64_t stride, std::int64_t pad, bool ceil = false) {
  return {{"k", Ints{k, k}}, {"stride", Ints{stride, stride}}, {"pad", Ints{pad, pad}}, {"ceil_mode", ceil}};
}

Attrs without_padding(Attrs attrs) {
  attrs.set("count_include_pad", false);
  return attrs;
}

/// With another padding below and to the right, and positions `dilation` apart.
Attrs uneven(Attrs attrs, std::int64_t after, std::int64_t dilation) {
  attrs.set("after", Ints{after, after});
  attrs.set("dilation", Ints{dilation, dilation});
  return attrs;
}

Attrs with_index(Attrs attrs, const char* dtype) {
  attrs.set("index", dtype);
  return attrs;
}

Attrs resize(std::int64_t height, std::int64_t width, const char* mode, bool aligned = false) {
  return {{"size", Ints{height, width}}, {"mode", mode}, {"align_corners", aligned}};
}

Attrs columns(std::int64_t k, std::int64_t stride, std::int64_t pad, std::int64_t dilation) {
  return {{"kernel", Ints{k, k}},
          {"stride", Ints{stride, stride}},
          {"pad", Ints{pad, pad}},
          {"dilation", Ints{dilation, dilation}}};
}

/// With an alpha at which neighbours matter.
Attrs lrn(std::int64_t size, double beta) { return {{"size", size}, {"alpha", 2.0}, {"beta", beta}, {"k", 1.0}}; }

SampleInput labels(std::int64_t samples, double classes) { return {{samples}, 0, classes, DType::i32}; }

std::vector<Sample> position_samples() {
  const SampleInput one_offset{.shape = {}, .low = 0, .high = 900, .dtype = DType::i32};
  const SampleInput an_offset_each{.shape = {3}, .low = 0, .high = 900, .dtype = DType::i32};
  const auto heads = [](std::int64_t size) { return Attrs{{"head_size", size}, {"base", 10000.0}}; };
  Attrs some = heads(4);
  some.set("rotated", 3);
  Attrs slowed = heads(8);  // whose pairs turn 10.2, 1.02, 0.1 and 0.01 times in the length
  slowed.set("factor", 8.0);
  slowed.set("low_freq_factor", 0.5);
  slowed.set("original_length", 64.0);
  return {
      {.op = "rope", .in = {{{2, 5, 24}}, kAbsent}, .attrs = heads(6)},
      {.op = "rope", .in = {{{3, 5, 20}}, one_offset}, .attrs = some},
      {.op = "rope", .in = {{{3, 2, 20}}, an_offset_each}, .attrs = some},
      {.op = "rope", .in = {{{2, 5, 16}}, one_offset}, .attrs = slowed},
      {.op = "sinusoidal_positions",
       .in = {},
       .attrs = {{"length", 9}, {"width", 7}, {"base", 10000.0}, {"dtype", kUnderTest}},
       .gradient = false},
  };
}

std::vector<Sample> loss_samples() {
  return {
      {.op = "softmax_cross_entropy", .in = {{{5, 10}, -3, 3}, labels(5, 10)}},
      {.op = "softmax_cross_entropy", .in = {{{3, 37}, -3, 3}, labels(3, 37)}, .attrs = {{"label_smoothing", 0.1}}},
      {.op = "softmax_cross_entropy", .in = {{{9, 10}, -3, 3}, {{9}, -6, 10, DType::i32}}},
      {.op = "softmax_cross_entropy", .in = {{{7, 48}, -3, 3}, {{7}, -20, 48, DType::i32}}},
      {.op = "nll_loss", .in = {{{5, 10}, -3, 0}, labels(5, 10)}},
      {.op = "softmax_cross_entropy", .in = {{{2, 3, 4, 5}, -3, 3}, {{2, 3, 4}, -2, 5, DType::i32}}},
      {.op = "nll_loss", .in = {{{9, 10}, -3, 0}, {{9}, -6, 10, DType::i32}}},
      {.op = "nll_loss", .in = {{{2, 6, 10}, -3, 0}, {{2, 6}, -2, 10, DType::i32}}},
      {.op = "mse_loss", .in = {{{3, 4, 5}}, {{3, 4, 5}}}},
      {.op = "l1_loss", .in = {{{3, 40}, 0, 1}, {{3, 40}, 1, 2}}},
      {.op = "huber_loss", .in = {{{3, 40}, 0, 1}, {{3, 40}, 1, 2}}, .attrs = {{"delta", 0.75}}},
      {.op = "sigmoid_cross_entropy", .in = {{{3, 4, 5}, -3, 3}, {{3, 4, 5}, 0, 1}}},
      {.op = "linear_cross_entropy", .in = {{{5, 7}}, {{10, 7}}, kAbsent, labels(5, 10)}, .through = {0}},
      {.op = "linear_cross_entropy",
       .in = {{{3, 6, 20}}, {{9, 20}}, {{9}}, {{3, 6}, -3, 9, DType::i32}},
       .attrs = {{"label_smoothing", 0.1}, {"z_loss", 0.01}},
       .through = {0}},
      {.op = "linear_cross_entropy_grad",
       .in = {{{8, 7}},
              {{33, 7}},
              {{33}},
              {{8}, -3, 33, DType::i32},
              {.shape = {8}, .wide = true},
              {.shape = {8}, .low = 3, .high = 4, .wide = true}},
       .attrs = {{"z_loss", 0.1}},
       .gradient = false},
      {.op = "linear_cross_entropy_and_grad",
       .in = {{{40, 7}}, {{33, 7}}, {{33}}, {{40}, -3, 33, DType::i32}, {.shape = {40}, .wide = true}},
       .gradient = false},
      {.op = "linear_cross_entropy_and_grad",
       .in = {{{9, 7}}, {{33, 7}}, kAbsent, labels(9, 33), {.shape = {9}, .wide = true}},
       .attrs = {{"label_smoothing", 0.2}, {"z_loss", 0.1}, {"wide_output", 1}},
       .gradient = false},
      {.op = "linear_cross_entropy_x_grad",
       .in = {{{8, 7}},
              {{33, 7}},
              {{33}},
              {{8}, -3, 33, DType::i32},
              {.shape = {8}, .wide = true},
              {.shape = {8}, .low = 3, .high = 4, .wide = true}},
       .gradient = false},
      {.op = "linear_cross_entropy_and_x_grad",
       .in = {{{9, 7}}, {{33, 7}}, kAbsent, labels(9, 33), {.shape = {9}, .wide = true}},
       .gradient = false},
      {.op = "linear_cross_entropy_weight_grad",
       .in = {{{8, 7}},
              {{33, 7}},
              kAbsent,
              {{8}, -3, 33, DType::i32},
              {.shape = {8}, .wide = true},
              {.shape = {8}, .low = 3, .high = 4, .wide = true}},
       .attrs = {{"wide_output", 1}},
       .gradient = false},
      {.op = "linear_cross_entropy_and_weight_grad",
       .in = {{{40, 7}}, {{33, 7}}, {{33}}, {{40}, -3, 33, DType::i32}, {.shape = {40}, .wide = true}},
       .gradient = false},
      // More rows than a GPU takes at once, and classes that make no pack.
      {.op = "linear_cross_entropy_and_grad",
       .in = {{{1030, 2}}, {{1029, 2}}, {{1029}}, {{1030}, -3, 1029, DType::i32}, {.shape = {1030}, .wide = true}},
       .gradient = false,
       .dtypes = {DType::f64, DType::bf16}},
      {.op = "accuracy", .in = {{{40, 3}}, labels(40, 3)}, .attrs = {{"k", 1}}, .gradient = false},
      {.op = "accuracy", .in = {{{9, 70}}, labels(9, 70)}, .attrs = {{"k", 5}}, .gradient = false},
      {.op = "accuracy", .in = {{{3, 13, 4}}, {{3, 13}, -1, 4, DType::i32}}, .gradient = false},
  };
}

std::vector<Sample> pool_samples() {
  return {
      {.op = "max_pool", .in = {{{2, 6, 6, 5}}}, .attrs = window(2, 2, 0)},
      {.op = "max_pool", .in = {{{2, 7, 8, 70}}}, .attrs = window(3, 2, 1)},
      {.op = "max_pool", .in = {{{1, 8, 6, 3}}}, .attrs = window(3, 2, 0, true)},
      {.op = "max_pool", .in = {{{1, 9, 9, 2}}}, .attrs = window(2, 3, 1)},
      {.op = "max_pool", .in = {{{1, 17, 17, 2}}}, .attrs = window(16, 1, 0)},
      {.op = "max_pool", .in = {{{2, 7, 8, 5}}}, .attrs = with_index(window(3, 2, 1), "f64"), .through = {0}},
      {.op = "max_pool_value", .in = {{{2, 7, 8, 70}}}, .attrs = window(3, 2, 1)},
      {.op = "max_pool_value", .in = {{{1, 8, 6, 3}}}, .attrs = window(3, 1, 1, true)},
      {.op = "max_pool", .in = {{{2, 7, 5, 16}}}, .attrs = window(3, 2, 1)},
      {.op = "max_pool_value", .in = {{{1, 6, 6, 24}}}, .attrs = window(3, 2, 1)},
      {.op = "avg_pool", .in = {{{1, 6, 7, 16}}}, .attrs = window(3, 2, 1)},
      {.op = "max_pool", .in = {{{2, 5, 7, 8}}}, .attrs = window(2, 2, 1, true)},
      {.op = "max_pool", .in = {{{1, 4, 5, 8}}}, .attrs = window(3, 1, 1)},
      {.op = "avg_pool", .in = {{{1, 5, 4, 8}}}, .attrs = window(2, 2, 0)},
      {.op = "avg_pool", .in = {{{1, 4, 5, 8}}}, .attrs = without_padding(window(3, 1, 1))},
      {.op = "avg_pool", .in = {{{1, 6, 8, 8}}}, .attrs = without_padding(window(3, 2, 0, true))},
      // Beside each size that has a form of its own on a GPU, one that has not.
      {.op = "max_pool", .in = {{{2, 7, 8, 8}}}, .attrs = uneven(window(3, 2, 1), 2, 1)},
      {.op = "max_pool", .in = {{{1, 8, 9, 16}}}, .attrs = uneven(window(3, 1, 2), 2, 2)},
      {.op = "max_pool", .in = {{{1, 9, 8, 3}}}, .attrs = uneven(window(2, 2, 0, true), 3, 3)},
      {.op = "max_pool_value", .in = {{{2, 7, 8, 8}}}, .attrs = uneven(window(2, 2, 0), 1, 1)},
      {.op = "max_pool_value", .in = {{{1, 8, 9, 16}}}, .attrs = uneven(window(3, 2, 3), 1, 2)},
      {.op = "avg_pool", .in = {{{1, 7, 8, 8}}}, .attrs = uneven(window(3, 2, 0), 2, 1)},
      {.op = "avg_pool", .in = {{{1, 8, 9, 5}}}, .attrs = uneven(window(3, 2, 1, true), 4, 2)},
      {.op = "avg_pool", .in = {{{2, 9, 8, 8}}}, .attrs = without_padding(uneven(window(2, 2, 1), 0, 3))},
      {.op = "unfold", .in = {{{2, 5, 6, 3}}}, .attrs = columns(3, 2, 1, 1)},
      {.op = "unfold", .in = {{{1, 7, 5, 20}}}, .attrs = columns(2, 1, 0, 2)},
      {.op = "avg_pool", .in = {{{2, 6, 6, 5}}}, .attrs = window(2, 2, 0)},
      {.op = "avg_pool", .in = {{{1, 7, 8, 70}}}, .attrs = window(3, 2, 1, true)},
      {.op = "avg_pool", .in = {{{1, 7, 8, 3}}}, .attrs = without_padding(window(3, 2, 1))},
      {.op = "lrn", .in = {{{2, 3, 3, 7}}}, .attrs = lrn(5, 0.75)},
      {.op = "lrn", .in = {{{2, 150}}}, .attrs = lrn(4, 0.6)},
      {.op = "lrn", .in = {{{3, 2}}}, .attrs = lrn(5, 0.75)},
      {.op = "lrn", .in = {{{2, 3, 24}}}, .attrs = lrn(5, 0.75)},
      {.op = "lrn", .in = {{{5, 8}}}, .attrs = lrn(3, 0.75)},
      {.op = "global_avg_pool", .in = {{{3, 4, 5, 7}}}},
      {.op = "global_avg_pool", .in = {{{2, 9, 9, 24}}}},
      {.op = "global_avg_pool", .in = {{{1, 30, 40, 20}}}},
  };
}

std::vector<Sample> resize_samples() {
  return {
      {.op = "upsample", .in = {{{2, 3, 4, 5}}}, .attrs = resize(6, 12, "nearest")},
      {.op = "upsample", .in = {{{1, 5, 7, 16}}}, .attrs = resize(8, 3, "nearest")},
      {.op = "upsample", .in = {{{2, 3, 4, 5}}}, .attrs = resize(6, 8, "bilinear")},
      {.op = "upsample", .in = {{{1, 3, 5, 16}}}, .attrs = resize(7, 4, "bilinear")},
      {.op = "upsample", .in = {{{1, 4, 1, 3}}}, .attrs = resize(9, 3, "bilinear", true)},
      {.op = "upsample", .in = {{{1, 4, 5, 2}}}, .attrs = resize(1, 10, "bilinear", true)},
      {.op = "pixel_shuffle", .in = {{{2, 3, 4, 8}}}, .attrs = {{"r", 2}}},
      {.op = "pixel_shuffle", .in = {{{1, 2, 3, 27}}}, .attrs = {{"r", 3}}},
      {.op = "pixel_unshuffle", .in = {{{2, 6, 4, 3}}}, .attrs = {{"r", 2}}},
  };
}

std::vector<Sample> reduction_samples() {
  std::vector<Sample> rows = {
      {.op = "mean", .in = {{{4, 3, 5}}}},
      {.op = "mean", .in = {{{90, 50, 9}}}, .attrs = {{"axes", Ints{0, 1}}}},
      {.op = "mean", .in = {{{4, 3, 5, 2}}}, .attrs = {{"axes", Ints{0, 2}}, {"keep_dims", true}}},
      {.op = "mean", .in = {{{}}}},
      {.op = "sum", .in = {{{4, 300}}}, .attrs = {{"axes", Ints{1}}}},
      {.op = "sum", .in = {{{4, 3, 5}}}, .attrs = {{"axes", Ints{1}}}},
      {.op = "sum", .in = {{{201, 211}}}},
      {.op = "reduce_prod", .in = {{{4, 3, 5}, 0.5, 2}}, .attrs = {{"axes", Ints{1}}, {"keep_dims", true}}},
      {.op = "reduce_prod", .in = {{{4, 3, 5, 2}}}, .attrs = {{"axes", Ints{1, 3}}}},
      {.op = "reduce_prod", .in = {{{90, 70}, 0.95, 1.05}}},
      {.op = "reduce_prod", .in = {{{}}}},
  };
  for (const char* op : {"reduce_max", "reduce_min"}) {
    rows.push_back({.op = op, .in = {{{4, 3, 5}}}, .attrs = {{"axes", Ints{1}}, {"keep_dims", true}}});
    rows.push_back({.op = op, .in = {{{4, 3, 5, 2}}}, .attrs = {{"axes", Ints{0, 2}}}});
    rows.push_back({.op = op, .in = {{{3, 300}}}, .attrs = {{"axes", Ints{1}}}});
    rows.push_back({.op = op, .in = {{{300, 3}}}, .attrs = {{"axes", Ints{0}}}});
    rows.push_back({.op = op, .in = {{{90, 70}}}});
    rows.push_back({.op = op, .in = {{{}}}});
  }
  return rows;
}

}  // namespace

std::vector<Sample> nn_samples() {
  std::vector<Sample> all;
  for (const auto& part : {position_samples(), loss_samples(), pool_samples(), resize_samples(), reduction_samples()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lethe::testing
