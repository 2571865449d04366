// Every way to compute a convolution or a product, over shapes that fit no vector, tile or window.
#include "tests/support/odd_shapes.h"

#include <gtest/gtest.h>

#include "framework/error.h"
#include "kernels/conv/providers.h"
#include "kernels/cpu/workers.h"
#include "kernels/gemm/providers.h"
#include "tests/support/conv_products.h"

namespace lethe::testing {
namespace {

constexpr int kOddThreads = 2;
const DeviceInfo kOddCpu{.threads = kOddThreads, .winograd = false};
constexpr ConvPass kEachPass[] = {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight};

constexpr DType kEachFloat[] = {DType::f64, DType::f32, DType::bf16, DType::f16};

struct ConvWay {
  DType dtype;
  std::function<std::unique_ptr<Kernel>(ConvPass, const ConvShape&)> prepare;
};
struct ProductWay {
  DType dtype;
  std::function<std::unique_ptr<Kernel>(const GemmShape&)> prepare;
};

std::vector<ConvWay> conv_ways() {
  std::vector<ConvWay> ways;
  for (const DType dtype : kEachFloat)  // by the rules, and without oneDNN
    for (const Provider provider : {Provider::Best, Provider::Eigen})
      ways.push_back({dtype, [=](ConvPass pass, const ConvShape& s) {
                        return prepare_conv(pass, s, {}, dtype, kOddCpu, provider);
                      }});
  for (const DType dtype : {DType::f32, DType::bf16}) {
    ways.push_back({dtype, [=](ConvPass pass, const ConvShape& s) {
                      return prepare_conv_winograd(pass, s, false, dtype, kOddThreads);
                    }});
#ifdef LETHE_HAS_ONEDNN
    if (onednn_serves(dtype))
      ways.push_back({dtype, [=](ConvPass pass, const ConvShape& s) -> std::unique_ptr<Kernel> {
                        if (!is_trusted(pass, s, dtype)) return nullptr;
                        return prepare_conv_onednn(pass, s, false, dtype, kOddThreads, false);
                      }});
#endif
  }
  ways.push_back({DType::f32,
                  [](ConvPass pass, const ConvShape& s) { return prepare_conv_unfold(pass, s, DType::f32, kOddCpu); }});
  return ways;
}

std::vector<ProductWay> product_ways() {
  std::vector<ProductWay> ways;
  for (const DType dtype : kEachFloat)
    for (const Provider provider : {Provider::Best, Provider::Eigen})
      ways.push_back({dtype, [=](const GemmShape& s) { return prepare_gemm(s, dtype, kOddCpu, provider); }});
#ifdef LETHE_HAS_ONEDNN
  for (const DType dtype : {DType::f32, DType::bf16})
    if (onednn_serves(dtype))
      ways.push_back({dtype, [=](const GemmShape& s) { return prepare_gemm_onednn(s, dtype, kOddThreads, false); }});
#endif
  return ways;
}

void expect_right(const ConvShape& s) {
  static const std::vector<ConvWay> ways = conv_ways();
  for (const ConvPass pass : kEachPass)
    for (const DType dtype : kEachFloat) {
      const Expected expected = expected_of(pass, s, dtype);
      for (const ConvWay& way : ways)
        if (way.dtype == dtype) {
          EXPECT_EQ(wrong_over_rubbish(expected, [&] { return way.prepare(pass, s); }), "")
              << text_of(pass, s) << ", " << name_of(dtype);
        }
    }
}

void expect_right(const GemmShape& s) {
  static const std::vector<ProductWay> ways = product_ways();
  for (const DType dtype : kEachFloat) {
    const Expected expected = expected_of(s, dtype);
    for (const ProductWay& way : ways)
      if (way.dtype == dtype) {
        EXPECT_EQ(wrong_over_rubbish(expected, [&] { return way.prepare(s); }), "")
            << described(s) << ", " << name_of(dtype);
      }
  }
}

/// Of shapes that oneDNN 2.6.3 computes wrongly by AMX, and like ones.
TEST(OddShapes, ConvolutionsFollowTheDefinition) {
  const Workers workers(kOddThreads);
  for (const std::int64_t groups : {1, 2})
    for (const std::int64_t stride : {2, 3, 4})  // wider than the image
      expect_right(with_out({.batch = 3,
                             .channels = 32,
                             .filters = 32,
                             .groups = groups,
                             .in = {5, stride - 1},
                             .kernel = {3, 3},
                             .stride = {stride, stride},
                             .pad = {1, 1}}));
  expect_right(with_out({.batch = 2, .channels = 48, .filters = 40, .in = {1, 20}, .kernel = {1, 5}, .pad = {0, 2}}));
  expect_right(with_out(
      {.batch = 2, .channels = 40, .filters = 40, .in = {8, 8}, .kernel = {3, 3}, .pad = {2, 2}, .dilation = {2, 2}}));
  expect_right(with_out({.batch = 2, .channels = 64, .filters = 32, .in = {8, 8}, .kernel = {1, 2}, .stride = {2, 2}}));
  expect_right(with_out({.batch = 2, .channels = 33, .filters = 3, .in = {5, 6}, .kernel = {1, 1}}));
  expect_right(with_out(  // the dilated kernel reaches beyond the image
      {.batch = 2, .channels = 33, .filters = 17, .in = {3, 2}, .kernel = {3, 3}, .pad = {3, 3}, .dilation = {3, 3}}));
  for (const std::int64_t channels : {1, 3, 7})  // a 1x1 kernel of fewer channels than a vector, with a stride
    expect_right(
        with_out({.batch = 2, .channels = channels, .filters = 3, .in = {8, 8}, .kernel = {1, 1}, .stride = {2, 2}}));
  std::mt19937 random(7);
  for (int i = 0; i < 10; ++i) expect_right(random_conv(random));
}

TEST(OddShapes, ProductsFollowTheDefinition) {
  const Workers workers(kOddThreads);
  for (const std::int64_t m : {64, 65, 66, 80, 81})
    expect_right(GemmShape{.m = m, .n = 59, .k = 63, .transpose_b = true});
  std::mt19937 random(7);
  for (int i = 0; i < 16; ++i) expect_right(random_product(random));
}

#ifdef LETHE_HAS_ONEDNN
/// What a processor with AMX falls back to is there on any that multiplies bf16.
TEST(OddShapes, CodeThatMultipliesTilesIsPassedOver) {
  if (!onednn_serves(DType::bf16)) GTEST_SKIP() << "this processor has no products of bf16, or oneDNN is missing";
  const Workers workers(kOddThreads);
  std::mt19937 random(3);
  const auto expect_without = [](const Kernel* kernel) {
    if (!kernel) return 0;
    for (const char* const name : {"amx", "oneDNN x64:gemm"})
      EXPECT_EQ(kernel->implementation().find(name), std::string::npos) << kernel->implementation();
    return 1;
  };
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      const GemmShape s{.m = 70, .n = 33, .k = 130, .transpose_a = transpose_a, .transpose_b = transpose_b};
      EXPECT_EQ(expect_without(prepare_gemm_onednn(s, DType::bf16, kOddThreads, false).get()), 1) << described(s);
    }
  int convolutions = 0, products = 0;
  for (int i = 0; i < 30; ++i) {
    const ConvShape s = random_conv(random);
    for (const ConvPass pass : kEachPass)
      convolutions += expect_without(prepare_conv_onednn(pass, s, false, DType::bf16, kOddThreads, false).get());
    products += expect_without(prepare_gemm_onednn(random_product(random), DType::bf16, kOddThreads, false).get());
  }
  EXPECT_GT(convolutions, 45);
  EXPECT_GT(products, 15);
}
#endif

/// tests/sweeps/onednn.cpp goes through thousands.
TEST(OddShapes, TrustedTilesFollowTheDefinition) {
  if (!onednn_has_tiles()) GTEST_SKIP() << "this processor has no AMX, or oneDNN is not built in";
  const Workers workers(kOddThreads);
  std::mt19937 random(11);
  for (int trusted = 0; trusted < 40;)
    if (const ConvShape s = random_conv(random); is_trusted_with_tiles(s)) expect_right(s), ++trusted;
}

TEST(TrustedInBf16, AreImagesAsWideAsTheStrideAndPairsOfFilters) {
  const auto is_trusted_in_bf16 = [](ConvPass pass, const ConvShape& s) { return is_trusted(pass, s, DType::bf16); };
  ConvShape s{.channels = 32, .filters = 32, .in = {1, 2}, .kernel = {1, 1}, .stride = {4, 2}};
  for (const ConvPass pass : kEachPass) EXPECT_TRUE(is_trusted_in_bf16(pass, s));
  s.stride[1] = 3;
  for (const ConvPass pass : kEachPass) EXPECT_EQ(is_trusted_in_bf16(pass, s), pass != ConvPass::GradWeight);
  s.stride[1] = 1, s.filters = 33;
  for (const ConvPass pass : kEachPass) EXPECT_EQ(is_trusted_in_bf16(pass, s), pass != ConvPass::GradInput);
  s.kernel[0] = 3;
  for (const ConvPass pass : kEachPass) EXPECT_TRUE(is_trusted_in_bf16(pass, s));
}

TEST(Trusted, AreStridedWeightGradientsOf1x1KernelsThatFillAVector) {
  ConvShape s{.channels = 16, .filters = 3, .in = {8, 8}, .kernel = {1, 1}, .stride = {2, 2}};
  for (const ConvPass pass : kEachPass) EXPECT_TRUE(is_trusted(pass, s, DType::f32));
  s.channels = 15;
  for (const ConvPass pass : kEachPass) EXPECT_EQ(is_trusted(pass, s, DType::f32), pass != ConvPass::GradWeight);
  for (const bool has_stride : {true, false}) {
    ConvShape other = s;
    (has_stride ? other.kernel : other.stride) = has_stride ? Extent{3, 3} : Extent{1, 1};
    EXPECT_TRUE(is_trusted(ConvPass::GradWeight, other, DType::f32));
  }
}

TEST(TrustedTiles, AreThoseOfPlainWindowsAndWholeTiles) {
  const ConvShape plain =
      with_out({.batch = 2, .channels = 64, .filters = 32, .in = {14, 14}, .kernel = {3, 3}, .pad = {1, 1}});
  EXPECT_TRUE(is_trusted_with_tiles(plain));
  const auto with = [&](const auto& change) {
    ConvShape s = plain;
    change(s);
    return is_trusted_with_tiles(s);
  };
  EXPECT_FALSE(with([](ConvShape& s) { s.channels = 40; }));
  EXPECT_FALSE(with([](ConvShape& s) { s.filters = 48; }));
  EXPECT_TRUE(with([](ConvShape& s) { s.kernel = {1, 1}; }));
  for (const std::size_t axis : {0U, 1U}) {
    EXPECT_FALSE(with([&](ConvShape& s) { s.dilation[axis] = 2; }));
    EXPECT_FALSE(with([&](ConvShape& s) { s.in[axis] = 2; })) << "narrower than the kernel";
    EXPECT_FALSE(with([&](ConvShape& s) { s.in[axis] = s.stride[axis] = 3; })) << "a stride in a narrow image";
    EXPECT_TRUE(with([&](ConvShape& s) { s.in[axis] = 16, s.stride[axis] = 3; }));
    EXPECT_FALSE(with([&](ConvShape& s) { s.in[axis] = 16, s.stride[axis] = 4; })) << "beyond the kernel";
  }
  EXPECT_TRUE(with([](ConvShape& s) { s.groups = 1, s.channels = 32; }));
  EXPECT_FALSE(with([](ConvShape& s) { s.groups = 2; })) << "16 filters a group";
}

}  // namespace
}  // namespace lethe::testing
