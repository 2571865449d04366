// What computes convolutions held against their definition.
#pragma once
#include <gtest/gtest.h>

#include <cmath>

#include "framework/error.h"
#include "kernels/cpu/workers.h"
#include "tests/support/conv_products.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {

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
