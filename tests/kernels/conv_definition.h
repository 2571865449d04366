// Convolutions by their definition, and what computes them held against it.
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "framework/error.h"
#include "kernels/conv/conv.h"
#include "kernels/cpu/workers.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {

inline std::int64_t out_size(const ConvShape& s, int axis) {
  return (s.in[axis] + 2 * s.pad[axis] - s.dilation[axis] * (s.kernel[axis] - 1) - 1) / s.stride[axis] + 1;
}

inline ConvShape with_out(ConvShape s) {
  s.out = {out_size(s, 0), out_size(s, 1)};
  return s;
}

/// Calls f(index in x, in weight, in y) for every product in the convolution's definition.
template <class F>
void for_each_product(const ConvShape& s, const F& f) {
  const std::int64_t c = s.channels / s.groups, o = s.filters / s.groups;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t oy = 0; oy < s.out[0]; ++oy)
      for (std::int64_t ox = 0; ox < s.out[1]; ++ox)
        for (std::int64_t filter = 0; filter < s.filters; ++filter)
          for (std::int64_t ky = 0; ky < s.kernel[0]; ++ky)
            for (std::int64_t kx = 0; kx < s.kernel[1]; ++kx) {
              const std::int64_t y = oy * s.stride[0] - s.pad[0] + ky * s.dilation[0];
              const std::int64_t x = ox * s.stride[1] - s.pad[1] + kx * s.dilation[1];
              if (y < 0 || y >= s.in[0] || x < 0 || x >= s.in[1]) continue;
              for (std::int64_t i = 0; i < c; ++i)
                f(((n * s.in[0] + y) * s.in[1] + x) * s.channels + filter / o * c + i,
                  ((filter * s.kernel[0] + ky) * s.kernel[1] + kx) * c + i,
                  ((n * s.out[0] + oy) * s.out[1] + ox) * s.filters + filter);
            }
}

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<long double>& want, double terms) {
  ASSERT_EQ(got.size(), want.size());
  const double tolerance = std::max(16.0, terms) * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0L, std::abs(want[i]))) << "element " << i;
}

/// Every pass of a provider against the definition, with one, two and three threads. `rounding`: how much more an
/// element may be off than one that is summed term by term.
template <class T, class Prepare>
void compare_with_definition(const ConvShape& s, const Prepare& prepare, bool has_bias = true, double rounding = 1) {
  const auto x = random_values<T>(x_size(s), 1), weight = random_values<T>(weight_size(s), 2);
  const auto dy = random_values<T>(y_size(s), 3), bias = random_values<T>(s.filters, 4);
  std::vector<long double> y(dy.size()), y_biased(dy.size()), dx(x.size()), dw(weight.size());
  for_each_product(s, [&](std::int64_t i, std::int64_t w, std::int64_t o) {
    y[o] += static_cast<long double>(x[i]) * weight[w];
    dx[i] += static_cast<long double>(dy[o]) * weight[w];
    dw[w] += static_cast<long double>(x[i]) * dy[o];
  });
  for (std::size_t i = 0; i < y.size(); ++i) y_biased[i] = y[i] + bias[i % bias.size()];
  const double reach = rounding * static_cast<double>(weight_size(s)),
               positions = rounding * static_cast<double>(y_size(s) / s.filters);
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(message(threads, " threads"));
    const Workers workers(threads);
    const auto run = [&](ConvPass pass, const std::vector<std::vector<T>>& inputs, std::int64_t size) {
      return run_kernel(*prepare(pass, inputs.size() == 3, threads), inputs, size);
    };
    expect_near(run(ConvPass::Forward, {x, weight}, y_size(s)), y, reach);
    if (has_bias) expect_near(run(ConvPass::Forward, {x, weight, bias}, y_size(s)), y_biased, reach);
    expect_near(run(ConvPass::GradInput, {dy, weight}, x_size(s)), dx, reach);
    expect_near(run(ConvPass::GradWeight, {x, dy}, weight_size(s)), dw, positions);
  }
}

}  // namespace lethe::testing
