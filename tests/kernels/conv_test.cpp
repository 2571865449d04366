#include "kernels/conv/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "framework/error.h"
#include "kernels/conv/providers.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/workers.h"
#include "tests/support/kernel_runner.h"

namespace lethe::testing {
namespace {

std::int64_t out_size(const ConvShape& s, int axis) {
  return (s.in[axis] + 2 * s.pad[axis] - s.dilation[axis] * (s.kernel[axis] - 1) - 1) / s.stride[axis] + 1;
}

ConvShape with_out(ConvShape s) {
  s.out = {out_size(s, 0), out_size(s, 1)};
  return s;
}

const std::vector<ConvShape> kShapes = {
    with_out({.batch = 2, .channels = 3, .filters = 4, .in = {7, 5}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out(
        {.batch = 3, .channels = 16, .filters = 32, .in = {8, 8}, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}),
    with_out({.batch = 1, .channels = 5, .filters = 7, .in = {9, 6}, .kernel = {1, 1}}),
    with_out({.batch = 5, .channels = 16, .filters = 8, .in = {6, 6}, .kernel = {1, 1}, .stride = {2, 2}}),
    with_out({.batch = 2, .channels = 4, .filters = 6, .groups = 2, .in = {5, 5}, .kernel = {1, 1}}),
    with_out({.batch = 2,
              .channels = 6,
              .filters = 9,
              .groups = 3,
              .in = {9, 7},
              .kernel = {3, 2},
              .stride = {1, 2},
              .pad = {1, 0}}),
    with_out({.batch = 2, .channels = 8, .filters = 8, .groups = 8, .in = {6, 6}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 2, .channels = 32, .filters = 32, .groups = 8, .in = {5, 5}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out(
        {.batch = 2, .channels = 3, .filters = 5, .in = {11, 12}, .kernel = {3, 3}, .pad = {2, 4}, .dilation = {2, 3}}),
    with_out({.batch = 2,
              .channels = 4,
              .filters = 4,
              .groups = 2,
              .in = {9, 9},
              .kernel = {3, 3},
              .stride = {2, 2},
              .pad = {2, 2},
              .dilation = {2, 2}}),
    with_out(
        {.batch = 2, .channels = 3, .filters = 6, .in = {17, 16}, .kernel = {5, 7}, .stride = {3, 2}, .pad = {2, 3}}),
    with_out({.batch = 2, .channels = 2, .filters = 3, .in = {4, 4}, .kernel = {4, 4}}),
    with_out({.batch = 2, .channels = 2, .filters = 3, .in = {2, 3}, .kernel = {3, 5}, .pad = {3, 5}}),
    with_out(
        {.batch = 1, .channels = 2, .filters = 2, .in = {5, 5}, .kernel = {1, 1}, .stride = {3, 3}, .pad = {2, 2}}),
    with_out(
        {.batch = 7, .channels = 24, .filters = 20, .in = {14, 14}, .kernel = {3, 3}, .pad = {1, 1}}),  // several tiles
};

template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(uniform(random));
  return values;
}

std::int64_t x_size(const ConvShape& s) { return s.batch * s.in[0] * s.in[1] * s.channels; }
std::int64_t y_size(const ConvShape& s) { return s.batch * s.out[0] * s.out[1] * s.filters; }
std::int64_t weight_size(const ConvShape& s) { return s.filters * s.kernel[0] * s.kernel[1] * s.channels / s.groups; }

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

void compare_all(DType dtype, Provider provider) {
  for (std::size_t i = 0; i < kShapes.size(); ++i) {
    SCOPED_TRACE(message("shape ", i));
    const auto prepare = [&](ConvPass pass, bool bias, int threads) {
      return prepare_conv(pass, kShapes[i], {.bias = bias}, dtype, {.threads = threads}, provider);
    };
    if (dtype == DType::f64)
      compare_with_definition<double>(kShapes[i], prepare);
    else
      compare_with_definition<float>(kShapes[i], prepare);
  }
}

TEST(Conv, ColumnsInDoubleFollowTheDefinition) { compare_all(DType::f64, Provider::Eigen); }
TEST(Conv, ColumnsInFloatFollowTheDefinition) { compare_all(DType::f32, Provider::Eigen); }
TEST(Conv, OneDnnFollowsTheDefinition) {
  if (!has_onednn()) GTEST_SKIP() << "oneDNN is not built in";
  compare_all(DType::f32, Provider::OneDnn);
}

/// All paddings; images smaller than a tile, and with whole tiles and parts of them; channels that fill vectors and
/// chunks and that do not; more tiles than are transformed at a time.
const std::vector<ConvShape> kWinogradShapes = {
    with_out({.batch = 1, .channels = 1, .filters = 1, .in = {3, 3}, .kernel = {3, 3}}),
    with_out({.batch = 2, .channels = 5, .filters = 3, .in = {1, 2}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 3, .channels = 16, .filters = 32, .in = {8, 8}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 2, .channels = 20, .filters = 17, .in = {9, 14}, .kernel = {3, 3}, .pad = {2, 2}}),
    with_out({.batch = 1, .channels = 40, .filters = 70, .in = {11, 10}, .kernel = {3, 3}}),
    with_out({.batch = 5, .channels = 24, .filters = 130, .in = {13, 16}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 2, .channels = 70, .filters = 8, .in = {30, 31}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 3, .channels = 17, .filters = 40, .in = {13, 8}, .kernel = {5, 5}, .pad = {2, 2}}),
    with_out({.batch = 2, .channels = 3, .filters = 6, .in = {6, 5}, .kernel = {5, 5}, .pad = {4, 4}}),
};

TEST(Conv, WinogradFollowsTheDefinition) {
  for (const ConvShape& s : kWinogradShapes) {
    SCOPED_TRACE(message("shape ", &s - kWinogradShapes.data()));
    const auto prepare = [&](ConvPass pass, bool bias, int threads) {
      return prepare_conv_winograd(pass, s, bias, threads);
    };
    compare_with_definition<float>(s, prepare, true, 4);
  }
}

TEST(Conv, WinogradServesNoOtherShape) {
  for (const ConvShape& s : kShapes) {
    const bool serves = s.groups == 1 && s.kernel[0] == s.kernel[1] && (s.kernel[0] == 3 || s.kernel[0] == 5) &&
                        s.stride == Extent{1, 1} && s.dilation == Extent{1, 1} && s.pad[0] == s.pad[1] &&
                        s.pad[0] < s.kernel[0];
    for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight})
      EXPECT_EQ(prepare_conv_winograd(pass, s, false, 1) != nullptr, serves) << "shape " << &s - kShapes.data();
  }
}

TEST(Conv, WinogradIsChosenWhereItPaysUnlessItIsSwitchedOff) {
  ConvShape s = with_out({.batch = 16, .channels = 16, .filters = 32, .in = {8, 8}, .kernel = {3, 3}, .pad = {1, 1}});
  const auto by = [&](DType dtype, Provider provider, bool winograd) {
    const DeviceInfo device{.threads = 1, .winograd = winograd};
    return prepare_conv(ConvPass::Forward, s, {}, dtype, device, provider)->implementation();
  };
  EXPECT_EQ(by(DType::f32, Provider::Best, true), "own Winograd");
  EXPECT_EQ(by(DType::bf16, Provider::Best, true), "own Winograd, widened");
  EXPECT_NE(by(DType::f32, Provider::Best, false), "own Winograd");
  EXPECT_NE(by(DType::f64, Provider::Best, true), "own Winograd");
  EXPECT_NE(by(DType::f32, Provider::Eigen, true), "own Winograd");
  s.batch = 8;
  EXPECT_NE(by(DType::f32, Provider::Best, true), "own Winograd") << "few pixels";
  s.batch = 16, s.channels = 8;
  EXPECT_NE(by(DType::f32, Provider::Best, true), "own Winograd") << "few channels";
}

/// What a GPU falls back to, on the CPU: all images at once, one by one, and two at a time with a rest.
TEST(Conv, ProductsOfWindowsFollowTheDefinition) {
  for (const ConvShape& s : kShapes) {
    const std::int64_t of_image =
        s.out[0] * s.out[1] * s.kernel[0] * s.kernel[1] * s.channels / s.groups * std::int64_t{sizeof(double)};
    for (const std::int64_t limit : {std::int64_t{1} << 30, std::int64_t{0}, 4 * of_image}) {
      SCOPED_TRACE(message("shape ", &s - kShapes.data(), ", limit ", limit));
      const auto prepare = [&](ConvPass pass, bool, int threads) {
        return prepare_conv_unfold(pass, s, DType::f64, {.threads = threads, .workspace_limit = limit});
      };
      compare_with_definition<double>(s, prepare, false);
    }
  }
}

TEST(Conv, SameThreadsGiveSameBits) {
  const ConvShape s = kShapes.back();
  const auto x = random_values<float>(x_size(s), 1), dy = random_values<float>(y_size(s), 2);
  for (const auto& [provider, winograd] :
       {std::pair(Provider::Best, true), {Provider::Best, false}, {Provider::Eigen, false}}) {
    const DeviceInfo device{.threads = worker_threads(), .winograd = winograd};
    const auto kernel = prepare_conv(ConvPass::GradWeight, s, {}, DType::f32, device, provider);
    const auto first = run_kernel<float>(*kernel, {x, dy}, weight_size(s));
    for (int again = 0; again < 5; ++again) EXPECT_EQ(run_kernel<float>(*kernel, {x, dy}, weight_size(s)), first);
  }
}

TEST(Conv, ColumnMemoryDoesNotGrowWithTheBatch) {
  ConvShape s = with_out({.batch = 8, .channels = 64, .filters = 64, .in = {56, 56}, .kernel = {3, 3}, .pad = {1, 1}});
  const auto bytes = [&](ConvPass pass) {
    return prepare_conv(pass, s, {}, DType::f64, {.threads = 2}, Provider::Eigen)->workspace_bytes();
  };
  for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
    s.batch = 8;
    const std::int64_t of_8 = bytes(pass);
    s.batch = 800;
    EXPECT_EQ(bytes(pass), of_8);
    EXPECT_LT(of_8, 16 << 20);
  }
}

TEST(Conv, WorkspaceIsThatOfTheThreadsAskedFor) {
  const ConvShape s = kShapes.back();
  for (const Provider provider : {Provider::Best, Provider::Eigen})
    for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
      const auto bytes = [&] {
        return prepare_conv(pass, s, {}, DType::f32, {.threads = 4}, provider)->workspace_bytes();
      };
      const auto bytes_with = [&](int threads) {
        const Workers workers(threads);
        return bytes();
      };
      EXPECT_EQ(bytes_with(4), bytes_with(1));
    }
}

TEST(Conv, OneDnnByNameRefusesDouble) {
  EXPECT_THROW(prepare_conv(ConvPass::Forward, kShapes[0], {}, DType::f64, {}, Provider::OneDnn), Error);
}

}  // namespace
}  // namespace lethe::testing
