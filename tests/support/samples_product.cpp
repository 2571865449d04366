#include "tests/support/samples.h"

namespace lethe::testing {
namespace {

SampleInput lengths_of(std::int64_t samples, double most, double least = -1) {
  return {.shape = {samples}, .low = least, .high = most, .dtype = DType::i32};
}

/// Of some texts in a sample: about two in so many rows.
SampleInput positions_of(std::int64_t samples, std::int64_t rows) {
  return {
      .shape = {samples, rows}, .low = 0, .high = 2.0 * static_cast<double>(rows), .dtype = DType::i32, .texts = true};
}

/// A gradient is taken of y alone.
Sample attention(std::vector<SampleInput> in, const Attrs& attrs) {
  return {.op = "attention", .in = std::move(in), .attrs = attrs, .through = {0}};
}

/// With a mask of such a shape, and in f32 if `wide`.
Sample with_mask(Sample sample, const Shape& mask, bool wide = false) {
  sample.in.resize(6, kAbsent);
  sample.in.push_back({.shape = mask, .low = -2, .high = 2, .wide = wide});
  return sample;
}

/// Of shares that rounding of lse makes larger than 1, which none is.
Sample attention_grad_of_low_lse(const SampleInput& kv, const Attrs& attrs) {
  const SampleInput queries{{2, 19, 16}}, lse{.shape = {2, 2, 19}, .low = -9, .high = -3, .wide = true};
  return {.op = "attention_grad",
          .in = {queries, kv, kv, kAbsent, kAbsent, kAbsent, kAbsent, queries, lse, queries},
          .attrs = attrs,
          .gradient = false};
}

/// As the parameter that a mask is in most networks has it.
Sample wide_mask_grad() {
  const SampleInput qkv{{2, 7, 18}}, y{{2, 7, 6}}, mask{{1, 2, 1, 7}},
      lse{.shape = {2, 2, 7}, .low = 1, .high = 2, .wide = true};
  return {.op = "attention_mask_grad",
          .in = {qkv, kAbsent, kAbsent, kAbsent, kAbsent, kAbsent, mask, y, lse, y},
          .attrs = {{"heads", 2}, {"wide_output", 1}},
          .gradient = false};
}

const SampleInput kStep{.shape = {}, .low = 3, .high = 4, .dtype = DType::i64};
Attrs dropping(Attrs attrs) {
  attrs.set("dropout", 0.4);
  attrs.set("seed", 7);
  attrs.set("key", 11);
  return attrs;
}

/// Of several tiles of a GPU's block, some of which nobody sees, some of which are seen in part. Scores differ enough
/// for single keys to matter.
std::vector<Sample> attention_in_blocks() {
  const SampleInput q80{{1, 34, 160}}, kv80{{1, 100, 80}}, one96{{2, 66, 96}}, one128{{1, 70, 128}};
  std::vector<Sample> rows = {
      attention({{{1, 130, 192}}, kAbsent, kAbsent}, {{"heads", 1}, {"causal", 1}, {"scale", 0.5}}),
      attention({q80, kv80, kv80}, {{"heads", 2}, {"kv_heads", 1}, {"causal", 1}, {"scale", 0.5}}),
      attention({one96, one96, one96, lengths_of(2, 67, 20), kStep},
                dropping({{"heads", 1}, {"window", 35}, {"scale", 0.5}})),
      attention({one128, one128, one128, kAbsent, kStep}, dropping({{"heads", 1}, {"causal", 1}, {"scale", 0.5}})),
      attention({{{1, 200, 72}}, kAbsent, kAbsent, kAbsent, kAbsent, positions_of(1, 200)},
                {{"heads", 2}, {"causal", 1}}),
  };
  for (std::size_t i = 0, n = rows.size(); i < n; ++i) {
    rows[i].gradient = false;
    rows[i].dtypes = {DType::bf16, DType::f16};
    Sample grad = rows[i];
    grad.op = "attention_grad";
    grad.through = {};
    const Shape q = grad.in[0].shape;
    const std::int64_t heads = grad.attrs.integer("heads");
    const SampleInput y{{q[0], q[1], grad.in[1].absent ? q[2] / 3 : q[2]}};
    grad.in.resize(7, kAbsent);
    grad.in.insert(grad.in.end(), {y, {.shape = {q[0], heads, q[1]}, .low = 3, .high = 5, .wide = true}, y});
    rows.push_back(grad);
  }
  return rows;
}

std::vector<Sample> attention_samples() {
  const SampleInput queries{{2, 5, 12}}, keys{{2, 9, 6}};
  return {
      attention({{{2, 7, 18}}}, {{"heads", 2}}),
      attention({{{1, 33, 15}}}, {{"heads", 1}, {"causal", 1}}),
      attention({{{2, 6, 32}}}, {{"heads", 4}, {"kv_heads", 2}, {"causal", 1}}),
      attention({{{1, 40, 6}}}, {{"heads", 1}, {"causal", 1}, {"window", 33}, {"scale", 1.5}}),
      attention({{{2, 9, 12}}}, {{"heads", 2}, {"kv_heads", 1}, {"window", 3}}),
      attention({{{4, 8, 9}}, kAbsent, kAbsent, lengths_of(4, 10)}, {{"heads", 1}}),
      attention({{{4, 8, 9}}, kAbsent, kAbsent, lengths_of(4, 10)}, {{"heads", 1}, {"causal", 1}, {"window", 2}}),
      attention({queries, keys, keys}, {{"heads", 4}, {"kv_heads", 2}}),
      attention({queries, keys, keys}, {{"heads", 4}, {"kv_heads", 2}, {"causal", 1}}),
      attention({{{4, 5, 12}}, {{4, 9, 6}}, {{4, 9, 6}}, lengths_of(4, 10)},
                {{"heads", 4}, {"kv_heads", 2}, {"causal", 1}, {"window", 4}}),
      attention({{{4, 9, 4}}, {{4, 5, 4}}, {{4, 5, 4}}, lengths_of(4, 6)}, {{"heads", 2}}),
      attention({{{1, 3, 260}}, {{1, 3, 260}}, {{1, 3, 260}}}, {{"heads", 1}}),
      // More than a GPU's blocks have room for.
      attention({{{1, 33, 260}}, {{1, 33, 130}}, {{1, 33, 130}}, kAbsent, kStep},
                dropping({{"heads", 2}, {"kv_heads", 1}, {"causal", 1}})),
      attention({{{2, 34, 130}}, {{2, 34, 130}}, {{2, 34, 130}}, lengths_of(2, 35, 9)},
                {{"heads", 1}, {"causal", 1}, {"window", 17}}),
      attention({{{2, 5, 16}}, {{2, 37, 8}}, {{2, 37, 8}}}, {{"heads", 4}, {"kv_heads", 2}, {"causal", 1}}),
      attention({{{2, 21, 24}}, kAbsent, kAbsent, lengths_of(2, 22), kStep},
                dropping({{"heads", 2}, {"kv_heads", 1}, {"causal", 1}, {"window", 18}})),
      attention({{{2, 7, 16}}, kAbsent, kAbsent, kAbsent, kStep},
                dropping({{"heads", 4}, {"kv_heads", 2}, {"causal", 1}})),
      attention({queries, keys, keys, lengths_of(2, 10, 4), kStep}, dropping({{"heads", 4}, {"kv_heads", 2}})),
      attention({{{2, 23, 24}}, kAbsent, kAbsent, kAbsent, kStep, positions_of(2, 23)},
                dropping({{"heads", 2}, {"kv_heads", 1}, {"causal", 1}})),
      attention({{{1, 37, 130}}, {{1, 37, 130}}, {{1, 37, 130}}, kAbsent, kAbsent, positions_of(1, 37)},
                {{"heads", 1}, {"causal", 1}, {"window", 9}}),
      with_mask(attention({{{2, 7, 18}}}, {{"heads", 2}}), {1, 2, 7, 7}),
      with_mask(attention({{{2, 7, 18}}}, {{"heads", 2}}), {2, 2, 7, 7}, true),
      with_mask(
          attention({queries, keys, keys, lengths_of(2, 10, 4), kStep}, dropping({{"heads", 4}, {"kv_heads", 2}})),
          {2, 1, 5, 9}),
      with_mask(attention({{{2, 21, 24}}, kAbsent, kAbsent, lengths_of(2, 22)},
                          {{"heads", 2}, {"kv_heads", 1}, {"causal", 1}, {"window", 18}}),
                {1, 1, 1, 21}, true),
      with_mask(attention({{{2, 23, 24}}, kAbsent, kAbsent, kAbsent, kAbsent, positions_of(2, 23)},
                          {{"heads", 2}, {"kv_heads", 1}, {"causal", 1}}),
                {2, 2, 1, 23}),
      with_mask(attention({{{1, 33, 66}}, {{1, 37, 33}}, {{1, 37, 33}}, kAbsent, kStep},
                          dropping({{"heads", 2}, {"kv_heads", 1}})),
                {1, 2, 33, 37}),
      with_mask(attention({{{1, 18, 130}}, {{1, 19, 130}}, {{1, 19, 130}}}, {{"heads", 1}}), {1, 1, 18, 19}),
      attention({{{2, 7, 18}}}, {{"heads", 2}, {"scale", 2.0}, {"softcap", 1.5}}),
      attention({{{1, 33, 260}}, {{1, 33, 130}}, {{1, 33, 130}}},
                {{"heads", 2}, {"kv_heads", 1}, {"causal", 1}, {"softcap", 0.5}}),
      with_mask(attention({{{2, 19, 33}}, kAbsent, kAbsent, kAbsent, kStep},
                          dropping({{"heads", 1}, {"scale", 1.0}, {"softcap", 2.5}})),
                {1, 1, 19, 19}),
      attention_grad_of_low_lse({{2, 19, 16}}, {{"heads", 2}, {"causal", 1}}),
      attention_grad_of_low_lse({{2, 21, 8}}, {{"heads", 2}, {"kv_heads", 1}}),
      wide_mask_grad(),
  };
}

}  // namespace

std::vector<Sample> product_samples() {
  std::vector<Sample> rows = attention_samples();
  const std::vector<Sample> in_blocks = attention_in_blocks();
  rows.insert(rows.end(), in_blocks.begin(), in_blocks.end());
  const std::vector<Sample> products = {
      {.op = "conv2d",
       .in = {{{2, 5, 4, 3}}, {{4, 3, 3, 3}}, {{4}}},
       .attrs = {{"stride", Ints{1, 1}}, {"pad", Ints{1, 1}}}},
      {.op = "conv2d",
       .in = {{{3, 7, 6, 4}}, {{6, 3, 2, 2}}, kAbsent},
       .attrs = {{"stride", Ints{2, 1}}, {"pad", Ints{2, 0}}, {"dilation", Ints{2, 3}}, {"groups", 2}}},
      {.op = "conv2d", .in = {{{2, 3, 3, 5}}, {{3, 1, 1, 5}}}},
      {.op = "conv2d",
       .in = {{{2, 5, 4, 3}}, {{4, 3, 3, 3}}, {{4}}},
       .attrs = {{"pad", Ints{1, 1}}, {"activation", "relu"}},
       .gradient = false},
      {.op = "conv2d", .in = {{{2, 3, 3, 5}}, {{3, 1, 1, 5}}}, .attrs = {{"activation", "relu"}}, .gradient = false},
      {.op = "conv2d_transpose", .in = {{{2, 3, 4, 3}}, {{3, 2, 2, 4}}, {{4}}}, .attrs = {{"stride", Ints{2, 2}}}},
      {.op = "conv2d_transpose",
       .in = {{{2, 4, 3, 4}}, {{4, 3, 3, 3}}, kAbsent},
       .attrs = {{"stride", Ints{2, 3}},
                 {"pad", Ints{1, 0}},
                 {"output_padding", Ints{1, 2}},
                 {"dilation", Ints{2, 1}},
                 {"groups", 2}}},
      {.op = "conv2d_transpose", .in = {{{2, 3, 3, 5}}, {{5, 1, 1, 3}}, {{3}}}},
      {.op = "conv2d_transpose",
       .in = {{{2, 3, 4, 3}}, {{3, 3, 3, 4}}, {{4}}},
       .attrs = {{"pad", Ints{1, 1}}, {"activation", "relu"}},
       .gradient = false},
      {.op = "fc", .in = {{{5, 7}}, {{3, 7}}, {{3}}}, .attrs = {{"activation", "relu"}}, .gradient = false},
      {.op = "fc", .in = {{{3, 20}}, {{9, 20}}}, .attrs = {{"activation", "relu"}}, .gradient = false},
      {.op = "bias_grad", .in = {{{3, 90, 5}}}, .gradient = false},
      {.op = "bias_grad", .in = {{{3, 90, 16}}}, .gradient = false},
      {.op = "bias_grad", .in = {{{3, 90, 16}}}, .attrs = {{"wide_output", 1}}, .gradient = false},
      {.op = "fc", .in = {{{5, 7}}, {{3, 7}}, {{3}}}},
      {.op = "fc", .in = {{{3, 20}}, {{9, 20}}}},
      {.op = "matmul", .in = {{{4, 3}}, {{3, 5}}}},
      {.op = "matmul", .in = {{{3, 4}}, {{3, 5}}}, .attrs = {{"transpose_a", 1}}},
      {.op = "matmul",
       .in = {{{3, 4}}, {{3, 5}}},
       .attrs = {{"transpose_a", 1}, {"wide_output", 1}},
       .gradient = false},
      {.op = "matmul",
       .in = {{{90, 16}}, {{90, 8}}},
       .attrs = {{"transpose_a", 1}, {"sums_of_a", 1}},
       .gradient = false},
      {.op = "matmul",
       .in = {{{90, 16}}, {{90, 8}}},
       .attrs = {{"transpose_a", 1}, {"sums_of_a", 1}, {"wide_output", 1}},
       .gradient = false},
      {.op = "matmul", .in = {{{5, 7}}, {{7, 16}}, {{5, 16}, -3, 3}}, .attrs = {{"gelu_grad", 1}}, .gradient = false},
      {.op = "matmul", .in = {{{4, 3}}, {{5, 3}}}, .attrs = {{"transpose_b", 1}}},
      {.op = "matmul", .in = {{{2, 3, 4}}, {{2, 5, 3}}}, .attrs = {{"transpose_a", 1}, {"transpose_b", 1}}},
  };
  rows.insert(rows.end(), products.begin(), products.end());
  return rows;
}

}  // namespace lethe::testing
