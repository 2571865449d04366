#include "tests/support/samples.h"

namespace lethe::testing {
namespace {

SampleInput lengths_of(std::int64_t samples, double most, double least = -1) {
  return {.shape = {samples}, .low = least, .high = most, .dtype = DType::i32};
}

/// A gradient is taken of y alone.
Sample attention(std::vector<SampleInput> in, const Attrs& attrs) {
  return {.op = "attention", .in = std::move(in), .attrs = attrs, .through = {0}};
}

/// Of shares that rounding of lse makes larger than 1, which none is.
Sample attention_grad_of_low_lse(const SampleInput& kv, const Attrs& attrs) {
  const SampleInput queries{{2, 19, 16}}, lse{.shape = {2, 2, 19}, .low = -9, .high = -3, .wide = true};
  return {.op = "attention_grad",
          .in = {queries, kv, kv, kAbsent, kAbsent, queries, lse, queries},
          .attrs = attrs,
          .gradient = false};
}

std::vector<Sample> attention_samples() {
  const SampleInput queries{{2, 5, 12}}, keys{{2, 9, 6}}, step{.shape = {}, .low = 3, .high = 4, .dtype = DType::i64};
  const auto dropping = [](Attrs attrs) {
    attrs.set("dropout", 0.4);
    attrs.set("seed", 7);
    attrs.set("key", 11);
    return attrs;
  };
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
      attention({{{2, 5, 16}}, {{2, 37, 8}}, {{2, 37, 8}}}, {{"heads", 4}, {"kv_heads", 2}, {"causal", 1}}),
      attention({{{2, 21, 24}}, kAbsent, kAbsent, lengths_of(2, 22), step},
                dropping({{"heads", 2}, {"kv_heads", 1}, {"causal", 1}, {"window", 18}})),
      attention({{{2, 7, 16}}, kAbsent, kAbsent, kAbsent, step},
                dropping({{"heads", 4}, {"kv_heads", 2}, {"causal", 1}})),
      attention({queries, keys, keys, lengths_of(2, 10, 4), step}, dropping({{"heads", 4}, {"kv_heads", 2}})),
      attention_grad_of_low_lse({{2, 19, 16}}, {{"heads", 2}, {"causal", 1}}),
      attention_grad_of_low_lse({{2, 21, 8}}, {{"heads", 2}, {"kv_heads", 1}}),
  };
}

}  // namespace

std::vector<Sample> product_samples() {
  std::vector<Sample> rows = attention_samples();
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
      {.op = "fc", .in = {{{5, 7}}, {{3, 7}}, {{3}}}},
      {.op = "fc", .in = {{{3, 20}}, {{9, 20}}}},
      {.op = "matmul", .in = {{{4, 3}}, {{3, 5}}}},
      {.op = "matmul", .in = {{{3, 4}}, {{3, 5}}}, .attrs = {{"transpose_a", 1}}},
      {.op = "matmul",
       .in = {{{3, 4}}, {{3, 5}}},
       .attrs = {{"transpose_a", 1}, {"wide_output", 1}},
       .gradient = false},
      {.op = "matmul", .in = {{{4, 3}}, {{5, 3}}}, .attrs = {{"transpose_b", 1}}},
      {.op = "matmul", .in = {{{2, 3, 4}}, {{2, 5, 3}}}, .attrs = {{"transpose_a", 1}, {"transpose_b", 1}}},
  };
  rows.insert(rows.end(), products.begin(), products.end());
  return rows;
}

}  // namespace lethe::testing
