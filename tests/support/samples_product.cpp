#include "tests/support/samples.h"

namespace lethe::testing {

std::vector<Sample> product_samples() {
  return {
      {.op = "conv2d",
       .in = {{{2, 5, 4, 3}}, {{4, 3, 3, 3}}, {{4}}},
       .attrs = {{"stride", Ints{1, 1}}, {"pad", Ints{1, 1}}}},
      {.op = "conv2d",
       .in = {{{3, 7, 6, 4}}, {{6, 3, 2, 2}}, {.shape = {}, .absent = true}},
       .attrs = {{"stride", Ints{2, 1}}, {"pad", Ints{2, 0}}, {"dilation", Ints{2, 3}}, {"groups", 2}}},
      {.op = "conv2d", .in = {{{2, 3, 3, 5}}, {{3, 1, 1, 5}}}},
      {.op = "conv2d",
       .in = {{{2, 5, 4, 3}}, {{4, 3, 3, 3}}, {{4}}},
       .attrs = {{"pad", Ints{1, 1}}, {"activation", "relu"}},
       .gradient = false},
      {.op = "conv2d", .in = {{{2, 3, 3, 5}}, {{3, 1, 1, 5}}}, .attrs = {{"activation", "relu"}}, .gradient = false},
      {.op = "conv2d_transpose", .in = {{{2, 3, 4, 3}}, {{3, 2, 2, 4}}, {{4}}}, .attrs = {{"stride", Ints{2, 2}}}},
      {.op = "conv2d_transpose",
       .in = {{{2, 4, 3, 4}}, {{4, 3, 3, 3}}, {.shape = {}, .absent = true}},
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
}

}  // namespace lethe::testing
