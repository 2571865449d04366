#include "tests/support/samples.h"

namespace lethe::testing {

std::vector<Sample> unary_samples() {
  std::vector<Sample> rows = {
      {.op = "hard_sigmoid",
       .in = {{{2, 3, 5}, -4, 4}},
       .attrs = {{"alpha", 0.2}, {"beta", 0.5}},
       .kinks = {-2.5, 2.5}},
      {.op = "hard_swish", .in = {{{2, 3, 5}, -5, 5}}, .kinks = {-3, 3}},
      {.op = "elu", .in = {{{2, 3, 5}, -3, 3}}, .attrs = {{"alpha", 1.5}}, .kinks = {0}},
      {.op = "elu", .in = {{{2, 3, 5}, -3, 3}}, .attrs = {{"alpha", -0.5}}, .kinks = {0}},
      {.op = "elu", .in = {{{2, 3, 5}, -3, 3}}, .attrs = {{"alpha", 0.7}, {"input_scale", 1 / 0.7}}},
      {.op = "elu", .in = {{{2, 3, 5}, -3, 3}}, .attrs = {{"alpha", 1.6}, {"scale", 1.05}}, .kinks = {0}},
      {.op = "shrink", .in = {{{2, 3, 5}, -2, 2}}, .attrs = {{"bias", 0.3}, {"lambd", 0.75}}, .kinks = {-0.75, 0.75}},
      {.op = "sign", .in = {{{2, 3, 5}}}, .kinks = {0}},
      {.op = "floor", .in = {{{2, 3, 5}, -2, 2}}, .kinks = {-1, 0, 1}},
      {.op = "ceil", .in = {{{2, 3, 5}, -2, 2}}, .kinks = {-1, 0, 1}},
      {.op = "round", .in = {{{2, 3, 5}, -2, 2}}, .kinks = {-1.5, -0.5, 0.5, 1.5}},
  };
  struct Range {
    const char* op;
    double low, high;
  };
  const std::vector<Range> smooth = {
      {"erf", -3, 3},  {"mish", -5, 5},      {"softsign", -4, 4}, {"reciprocal", 0.25, 4}, {"sin", -4, 4},
      {"cos", -4, 4},  {"tan", -1.25, 1.25}, {"asin", -0.9, 0.9}, {"acos", -0.9, 0.9},     {"atan", -4, 4},
      {"sinh", -2, 2}, {"cosh", -2, 2},      {"asinh", -4, 4},    {"acosh", 1.25, 4},      {"atanh", -0.9, 0.9}};
  for (const Range& of : smooth) rows.push_back({.op = of.op, .in = {{{2, 3, 5}, of.low, of.high}}});
  return rows;
}

}  // namespace lethe::testing
