// Sums of gradients in bf16, rounded by chance.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "framework/autodiff/loss_share.h"
#include "framework/builder/builder.h"
#include "framework/language/init.h"
#include "framework/language/text.h"
#include "framework/random.h"
#include "framework/ranks/part_sums.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kParts = 7, kSeed = 5, kStep = 3;

using Floats = std::vector<float>;

/// Each element of x rounded to bf16, up or down by 16 bits, as addition `name` of the step draws them.
Floats rounded(const std::string& name, Floats x) {
  const std::uint64_t key = stream_key(kSeed, hash_of(name) / 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t word = philox(key, kStep, i / 8).word[i % 8 / 2];
    x[i] = std::bit_cast<float>((std::bit_cast<std::uint32_t>(x[i]) + (word >> i % 2 * 16) % 65536) & 0xFFFF0000u);
  }
  return x;
}
Floats sum(Floats a, const Floats& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

NetworkWithGradients in_bf16() {
  Builder net({.batch = 2, .training = true});
  net.loss("cross_entropy", net.layer("fc", net.input("x", {67}), {{"out", 5}}, "fc"),
           net.input("label", {}, DType::i32));
  NetworkWithGradients made{net.finish(), {}};
  Program& program = made.network.program;
  made.gradients =
      append_backward(program, made.network.loss, {}, append_loss_share(program, made.network.loss, kParts));
  return in_parts(std::move(made), {.parts = kParts, .accumulate = DType::bf16, .seed = kSeed});
}

TEST(Accumulate, TheGradientIsTheSumOverTheTreeRoundedAtEachPlace) {
  const NetworkWithGradients made = in_bf16();
  const Program& program = made.network.program;
  Interpreter values(program);
  for (const ParamInfo& info : made.network.params) values.fill_uniform(info.var, -1, 1, 1);
  values.fill_uniform(made.network.inputs[0], -1, 1, 2);
  values.fill_uniform(made.network.inputs[1], 0, 5, 3);
  values.set(find_var(program, "step"), 0, kStep);
  values.run();
  const auto floats_of = [&](VarId v) {
    Floats all;
    for (std::int64_t i = 0; i < elements(program.vars[v].shape); ++i)
      all.push_back(static_cast<float>(values.number(v, i)));
    return all;
  };
  ASSERT_EQ(made.gradients.size(), 2U);
  for (const auto& [param, gradient] : made.gradients) {
    const std::string name = program.vars[param].name + "@SUM";
    std::vector<Floats> g = {{}};  // by part, from 1
    for (const Op& op : program.blocks[0].ops)
      if (op.type == kAccumulate && program.vars[op.out[0]].name.starts_with(name) &&
          program.vars[op.in[1]].dtype == DType::f32)
        g.push_back(floats_of(op.in[1]));
    ASSERT_EQ(g.size(), kParts + 1U);
    const auto of = [&](int part, int addition, const Floats& x) {
      return rounded(message(name, part, "@GRAD/", addition), x);
    };
    const Floats to_2 = of(2, 0, sum(of(1, 0, g[1]), g[2]));
    const Floats to_4 = of(4, 1, sum(to_2, of(4, 0, sum(of(3, 0, g[3]), g[4]))));
    const Floats to_6 = of(6, 0, sum(of(5, 0, g[5]), g[6]));
    EXPECT_EQ(floats_of(gradient), of(7, 1, sum(to_4, of(7, 0, sum(to_6, g[7]))))) << name;
    EXPECT_EQ(program.vars[gradient].dtype, DType::f32);
  }
}

TEST(Accumulate, IsRightOnAverage) {
  constexpr std::int64_t kCount = 4096, kSteps = 16;
  const Program program = parse_program(
      message("input sum bf16[", kCount, "]\ninput value f32[", kCount, "]\nstate step i64[]\ntemp y bf16[", kCount,
              "]\nblock 0 {\n  y = accumulate(sum, value, step) {key=11, seed=7} optimize\n}\n"));
  Interpreter values(program);
  for (const double value : {1e-3, -3e-4, 5.0}) {
    const double exact = 1.0f + static_cast<float>(value);  // as f32, in which it is summed
    const double unit = std::ldexp(1, std::ilogb(exact) - 7), up = exact / unit - std::floor(exact / unit);
    double mean = 0;
    for (std::int64_t i = 0; i < kCount; ++i) values.set(0, i, 1), values.set(1, i, value);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      values.set(2, 0, static_cast<double>(step));
      values.run();
      for (std::int64_t i = 0; i < kCount; ++i) mean += values.number(3, i) / (kCount * kSteps);
    }
    const double sigma = unit * std::sqrt(up * (1 - up) / (kCount * kSteps));
    EXPECT_NEAR(mean, exact, 4 * sigma + 1e-12) << value;
    EXPECT_EQ(up == 0, value == 5.0) << "else nothing is rounded";
  }
}

}  // namespace
}  // namespace lethe::testing
