#include "kernels/conv/conv.h"

#include <gtest/gtest.h>

#include "framework/error.h"
#include "kernels/conv/providers.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/workers.h"
#include "tests/kernels/conv_definition.h"

namespace lethe::testing {
namespace {

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

void compare_all(DType dtype, Provider provider) {
  for (std::size_t i = 0; i < kShapes.size(); ++i) {
    SCOPED_TRACE(message("shape ", i));
    const auto prepare = [&](ConvPass pass, bool bias, int threads) {
      return prepare_conv(pass, kShapes[i], {.bias = bias}, dtype, {.threads = threads, .winograd = false}, provider);
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

TEST(Conv, TheRulesChoiceFollowsTheDefinition) {
  compare_all(DType::f32, Provider::Best);
  const ConvShape pointwise = with_out({.batch = 2, .channels = 8, .filters = 8, .in = {5, 5}, .kernel = {1, 1}});
  const auto is_product = [&](ConvPass pass, DType dtype) {
    return prepare_conv(pass, pointwise, {}, dtype, {})->implementation().rfind("product, ", 0) == 0;
  };
  EXPECT_EQ(is_product(ConvPass::GradWeight, DType::f32), has_onednn());
  EXPECT_FALSE(is_product(ConvPass::GradInput, DType::f32));
  EXPECT_EQ(is_product(ConvPass::GradInput, DType::bf16), onednn_has_tiles());
  const bool is_widened = !multiplies_on_cpu(DType::bf16);  // then it is a product of f32
  EXPECT_EQ(is_product(ConvPass::GradWeight, DType::bf16), onednn_has_tiles() || (is_widened && has_onednn()));
  for (const DType dtype : {DType::f32, DType::bf16}) EXPECT_FALSE(is_product(ConvPass::Forward, dtype));
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
  ConvShape s = kShapes.back();
  s.filters = 130;  // several chunks of them
  const auto x = random_values<float>(x_size(s), 1), dy = random_values<float>(y_size(s), 2),
             weight = random_values<float>(weight_size(s), 3);
  for (const auto& [provider, winograd] :
       {std::pair(Provider::Best, true), {Provider::Best, false}, {Provider::Eigen, false}})
    for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
      const DeviceInfo device{.threads = worker_threads(), .winograd = winograd};
      const auto kernel = prepare_conv(pass, s, {}, DType::f32, device, provider);
      const auto run = [&] {
        if (pass == ConvPass::Forward) return run_kernel<float>(*kernel, {x, weight}, y_size(s));
        if (pass == ConvPass::GradInput) return run_kernel<float>(*kernel, {dy, weight}, x_size(s));
        return run_kernel<float>(*kernel, {x, dy}, weight_size(s));
      };
      const auto first = run();
      for (int again = 0; again < 5; ++again) EXPECT_EQ(run(), first);
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
