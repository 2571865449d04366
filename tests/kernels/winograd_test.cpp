#include "kernels/conv/providers.h"
#include "kernels/low_lanes.h"
#include "kernels/provider.h"
#include "tests/kernels/conv_definition.h"

namespace lethe::testing {
namespace {

/// All paddings; images smaller than a tile, and with whole tiles and parts of them; channels that fill vectors,
/// panels and chunks and that do not, and more than are summed at once; more tiles than are transformed at once.
const std::vector<ConvShape> kWinogradShapes = {
    with_out({.batch = 1, .channels = 1, .filters = 1, .in = {3, 3}, .kernel = {3, 3}}),
    with_out({.batch = 2, .channels = 5, .filters = 3, .in = {1, 2}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 3, .channels = 16, .filters = 32, .in = {8, 8}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 2, .channels = 20, .filters = 17, .in = {9, 14}, .kernel = {3, 3}, .pad = {2, 2}}),
    with_out({.batch = 1, .channels = 40, .filters = 70, .in = {11, 10}, .kernel = {3, 3}}),
    with_out({.batch = 5, .channels = 24, .filters = 130, .in = {13, 16}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 2, .channels = 6, .filters = 8, .in = {62, 63}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 1, .channels = 260, .filters = 20, .in = {5, 6}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 1, .channels = 20, .filters = 300, .in = {6, 5}, .kernel = {3, 3}, .pad = {1, 1}}),
    with_out({.batch = 3, .channels = 17, .filters = 40, .in = {13, 8}, .kernel = {5, 5}, .pad = {2, 2}}),
    with_out({.batch = 2, .channels = 3, .filters = 6, .in = {6, 5}, .kernel = {5, 5}, .pad = {4, 4}}),
};

TEST(Winograd, FollowsTheDefinition) {
  for (const ConvShape& s : kWinogradShapes) {
    SCOPED_TRACE(message("shape ", &s - kWinogradShapes.data()));
    const auto prepare = [&](ConvPass pass, bool bias, int threads) {
      return prepare_conv_winograd(pass, s, bias, DType::f32, threads);
    };
    compare_with_definition<float>(s, prepare, true, 4);
    const auto for_many = [&](ConvPass pass, bool bias, int) {
      return prepare_conv_winograd(pass, s, bias, DType::f32, 16);
    };
    compare_with_definition<float>(s, for_many, true, 4);
  }
}

/// Results of values of bf16 are what f32 gives, rounded once.
TEST(Winograd, RoundsToBf16Once) {
  for (const ConvShape& s : kWinogradShapes) {
    SCOPED_TRACE(message("shape ", &s - kWinogradShapes.data()));
    const std::int64_t sizes[] = {y_size(s), x_size(s), weight_size(s)};
    for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
      const bool bias = pass == ConvPass::Forward;
      std::vector<std::vector<Bf16>> low = {
          random_values<Bf16>(pass == ConvPass::GradInput ? y_size(s) : x_size(s), 1),
          random_values<Bf16>(pass == ConvPass::GradWeight ? y_size(s) : weight_size(s), 2)};
      if (bias) low.push_back(random_values<Bf16>(s.filters, 3));
      std::vector<std::vector<float>> wide;
      for (const auto& values : low) wide.emplace_back(values.begin(), values.end());
      const auto run = [&](auto zero, DType dtype, const auto& inputs) {
        return run_kernel<decltype(zero)>(*prepare_conv_winograd(pass, s, bias, dtype, 3), inputs,
                                          sizes[static_cast<int>(pass)]);
      };
      const std::vector<float> want = run(float{}, DType::f32, wide);
      const std::vector<Bf16> got = run(Bf16{}, DType::bf16, low);
      for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(got[i].bits, Bf16(want[i]).bits) << "element " << i;
    }
  }
}

/// The root mean square of what results of a pass are off, over that of the results.
double error(ConvPass pass, const ConvShape& s) {
  const auto x = random_values<float>(x_size(s), 1), weight = random_values<float>(weight_size(s), 2),
             dy = random_values<float>(y_size(s), 3);
  const std::int64_t sizes[] = {y_size(s), x_size(s), weight_size(s)};
  std::vector<double> want(static_cast<std::size_t>(sizes[static_cast<int>(pass)]));
  for_each_product(s, [&](std::int64_t i, std::int64_t w, std::int64_t o) {
    if (pass == ConvPass::Forward) want[o] += double{x[i]} * weight[w];
    if (pass == ConvPass::GradInput) want[i] += double{dy[o]} * weight[w];
    if (pass == ConvPass::GradWeight) want[w] += double{x[i]} * dy[o];
  });
  const auto got = run_kernel<float>(*prepare_conv_winograd(pass, s, false, DType::f32, 2),
                                     {pass == ConvPass::GradInput ? dy : x, pass == ConvPass::GradWeight ? dy : weight},
                                     std::ssize(want));
  double off = 0, all = 0;
  for (std::size_t i = 0; i < want.size(); ++i) off += std::pow(got[i] - want[i], 2), all += want[i] * want[i];
  return std::sqrt(off / all);
}

/// What is documented; and long sums, over channels and over tiles, are made of shorter ones.
TEST(Winograd, RoundsLittle) {
  const ConvShape s =
      with_out({.batch = 2, .channels = 64, .filters = 64, .in = {12, 12}, .kernel = {3, 3}, .pad = {1, 1}});
  for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight})
    EXPECT_LT(error(pass, s), 1.2e-6) << static_cast<int>(pass);
  const ConvShape deep =
      with_out({.batch = 1, .channels = 2048, .filters = 16, .in = {8, 8}, .kernel = {3, 3}, .pad = {1, 1}});
  EXPECT_LT(error(ConvPass::Forward, deep), 1.3e-6);
  const ConvShape large =
      with_out({.batch = 4, .channels = 4, .filters = 4, .in = {256, 256}, .kernel = {3, 3}, .pad = {1, 1}});
  EXPECT_LT(error(ConvPass::GradWeight, large), 3e-6);
}

TEST(Winograd, ForgetsThePassBefore) {
  ConvShape s = kWinogradShapes[5];
  const auto x = random_values<float>(x_size(s), 1), other = random_values<float>(weight_size(s), 2),
             weight = random_values<float>(weight_size(s), 3);
  const Workers workers(2);
  const auto kernel = prepare_conv_winograd(ConvPass::Forward, s, false, DType::f32, 2);
  std::vector<std::byte> workspace(static_cast<std::size_t>(kernel->workspace_bytes()) + 64);
  void* const aligned_to = workspace.data() + (64 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 64);
  std::vector<float> y(static_cast<std::size_t>(y_size(s)));
  for (const auto& w : {other, weight}) {
    void* const inputs[] = {const_cast<float*>(x.data()), const_cast<float*>(w.data()), nullptr};
    void* const outputs[] = {y.data()};
    kernel->run({.inputs = inputs, .outputs = outputs, .workspace = aligned_to});
  }
  EXPECT_EQ(y, run_kernel<float>(*kernel, {x, weight}, y_size(s)));
}

TEST(Winograd, ServesStrideOneSquaresOfThreeAndFive) {
  const auto serves = [](const ConvShape& s) {
    return prepare_conv_winograd(ConvPass::Forward, s, false, DType::f32, 1) != nullptr;
  };
  const ConvShape s =
      with_out({.batch = 1, .channels = 16, .filters = 16, .in = {9, 9}, .kernel = {3, 3}, .pad = {1, 1}});
  EXPECT_TRUE(serves(s));
  for (const DType dtype : {DType::f16, DType::f64})
    EXPECT_EQ(prepare_conv_winograd(ConvPass::Forward, s, false, dtype, 1), nullptr);
  const std::vector<void (*)(ConvShape&)> changes = {
      [](ConvShape& c) { c.groups = 2; },      [](ConvShape& c) { c.kernel = {3, 5}; },
      [](ConvShape& c) { c.kernel = {4, 4}; }, [](ConvShape& c) { c.kernel = {1, 1}; },
      [](ConvShape& c) { c.stride = {1, 2}; }, [](ConvShape& c) { c.dilation = {2, 1}; },
      [](ConvShape& c) { c.pad = {1, 2}; },    [](ConvShape& c) { c.pad = {3, 3}; }};
  for (const auto& change : changes) {
    ConvShape other = s;
    change(other);
    EXPECT_FALSE(serves(with_out(other))) << "change " << &change - changes.data();
  }
}

TEST(Winograd, IsChosenWhereItPaysUnlessItIsSwitchedOff) {
  ConvShape s = with_out({.batch = 16, .channels = 16, .filters = 32, .in = {8, 8}, .kernel = {3, 3}, .pad = {1, 1}});
  const auto by = [&](DType dtype, Provider provider, bool winograd) {
    const DeviceInfo device{.threads = 1, .winograd = winograd};
    return prepare_conv(ConvPass::Forward, s, {}, dtype, device, provider)->implementation();
  };
  EXPECT_EQ(by(DType::f32, Provider::Best, true), "own Winograd");
  EXPECT_EQ(by(DType::f16, Provider::Best, true), "own Winograd, widened");
  EXPECT_EQ(by(DType::bf16, Provider::Best, true) == "own Winograd", !multiplies_on_cpu(DType::bf16));
  EXPECT_NE(by(DType::f32, Provider::Best, false), "own Winograd");
  EXPECT_NE(by(DType::f64, Provider::Best, true), "own Winograd");
  EXPECT_NE(by(DType::f32, Provider::Eigen, true), "own Winograd");
  s.batch = 8;
  EXPECT_NE(by(DType::f32, Provider::Best, true), "own Winograd") << "few pixels";
  s.batch = 16, s.channels = 8;
  EXPECT_NE(by(DType::f32, Provider::Best, true), "own Winograd") << "few channels";
}

/// Where the processor multiplies bf16 itself.
TEST(Winograd, IsChosenForBf16WhereItTakesLessTime) {
  if (!multiplies_on_cpu(DType::bf16) || onednn_has_tiles()) GTEST_SKIP() << "for AVX-512's instructions for bf16";
  const auto is_chosen = [](ConvPass pass, std::int64_t channels, std::int64_t filters, std::int64_t size,
                            std::int64_t kernel = 3) {
    const ConvShape s = with_out({.batch = 16,
                                  .channels = channels,
                                  .filters = filters,
                                  .in = {size, size},
                                  .kernel = {kernel, kernel},
                                  .pad = {kernel / 2, kernel / 2}});
    return prepare_conv(pass, s, {}, DType::bf16, {.threads = 1})->implementation() == "own Winograd";
  };
  for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
    EXPECT_TRUE(is_chosen(pass, 64, 128, 16));
    EXPECT_FALSE(is_chosen(pass, 64, 64, 14)) << "tiles reach over the edge";
    EXPECT_FALSE(is_chosen(pass, 64, 64, 16, 5));
  }
  EXPECT_FALSE(is_chosen(ConvPass::Forward, 63, 64, 16));
  EXPECT_TRUE(is_chosen(ConvPass::GradWeight, 32, 64, 16));
  EXPECT_FALSE(is_chosen(ConvPass::GradWeight, 31, 64, 16));
  EXPECT_FALSE(is_chosen(ConvPass::GradWeight, 64, 257, 16));
}

/// Ties, NaN and infinity among them.
TEST(Winograd, RoundsVectorsAsBf16DoesOne) {
  for (std::uint32_t upper = 0; upper <= 0xFFFF; ++upper)
    for (const std::uint32_t lower : {0x0U, 0x1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      const std::uint32_t bits = upper << 16 | lower;
      const simd::Halves rounded = simd::round_to_bf16(std::bit_cast<simd::Lanes>(simd::Words{} + bits));
      ASSERT_EQ(rounded[simd::kLanes - 1], Bf16Format::round(std::bit_cast<float>(bits))) << bits;
    }
}

}  // namespace
}  // namespace lethe::testing
