#include "framework/autodiff/autodiff.h"

#include <gtest/gtest.h>

#include "framework/autodiff/widen_outputs.h"
#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/support/expect_error.h"
#include "tests/support/gradient_check.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

/// The ops of role Backward, as text.
std::vector<std::string> backward_lines(const Program& program) {
  std::vector<std::string> lines;
  std::istringstream in(to_text(program));
  const std::string role = " backward";
  for (std::string line; std::getline(in, line);)
    if (line.size() > role.size() && line.compare(line.size() - role.size(), role.size(), role) == 0)
      lines.push_back(line.substr(2, line.size() - 2 - role.size()));
  return lines;
}

using Lines = std::vector<std::string>;

/// A program over x (input), w and v (params), all f64[3], with `ops`, of which the last gives the loss.
struct Written {
  explicit Written(const std::string& temps, const std::string& ops)
      : program(parse_program("input x f64[3]\nparam w f64[3]\nparam v f64[3]\n" + temps +
                              "temp loss f64[]\nblock 0 {\n" + ops + "}\n")) {
    verify(program);
    grads = append_backward(program, find_var(program, "loss"));
    verify(program);
  }
  /// "w <- w@GRAD, ..."
  std::string pairs() const {
    std::string text;
    for (const ParamGrad& g : grads)
      text.append(text.empty() ? "" : ", ")
          .append(program.vars[g.param].name)
          .append(" <- ")
          .append(program.vars[g.grad].name);
    return text;
  }
  Program program;
  std::vector<ParamGrad> grads;
};

const std::string kSeed = "loss@GRAD = fill_constant() {dtype=\"f64\", shape=[], value=1.0}";

TEST(Autodiff, WalksTheChainBackwards) {
  const Written made("temp a f64[3]\ntemp b f64[3]\n", "a = relu(w)\nb = relu(a)\nloss = test_objective(b)\n");
  EXPECT_EQ(backward_lines(made.program), (Lines{kSeed, "b@GRAD = test_objective_grad(b, loss@GRAD) {slot=0}",
                                                 "a@GRAD = relu_grad(b, b@GRAD)", "w@GRAD = relu_grad(a, a@GRAD)"}));
  EXPECT_EQ(made.pairs(), "w <- w@GRAD");
}

TEST(Autodiff, SeveralReadersAreSummedLastReaderFirst) {
  const Written made("temp a f64[3]\ntemp b f64[3]\ntemp c f64[3]\n",
                     "a = relu(w)\nb = relu(w)\nc = relu(w)\nloss = test_objective(a, b, c)\n");
  const Lines lines = backward_lines(made.program);
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[4], "w@GRAD = relu_grad(c, c@GRAD)");
  EXPECT_EQ(lines[5], "w@GRAD.2 = relu_grad(b, b@GRAD)");
  EXPECT_EQ(lines[6], "w@GRAD.3 = relu_grad(a, a@GRAD)");
  EXPECT_EQ(lines[7], "w@GRAD.4 = sum_n(w@GRAD, w@GRAD.2, w@GRAD.3)");
  EXPECT_EQ(made.pairs(), "w <- w@GRAD.4");
}

TEST(Autodiff, OneOpThatReadsAVarTwiceGivesItTwoGradients) {
  Written made("temp a f64[3]\n", "a = mul(w, w)\nloss = test_objective(a)\n");
  Interpreter values(made.program);
  values.fill_uniform(1, 0.5, 1, 1);
  values.fill_uniform(2, 0.5, 1, 2);
  EXPECT_EQ(wrong_gradient(values, find_var(made.program, "loss"), {1}, made.grads), "");
}

TEST(Autodiff, PartsThatNeedNoGradientGetNone) {
  const Written made("temp a f64[3]\ntemp b f64[3]\ntemp c f64[3]\n",
                     "a = relu(x)\nb = relu(w)\nc = add(a, b)\nloss = test_objective(c)\n");
  for (const std::string& line : backward_lines(made.program)) {
    EXPECT_EQ(line.find("a@GRAD"), std::string::npos) << line;
    EXPECT_EQ(line.find("x@GRAD"), std::string::npos) << line;
  }
  EXPECT_EQ(made.pairs(), "w <- " + made.program.vars[made.grads.at(0).grad].name);
}

TEST(Autodiff, UnusedVarsAndParamsGetNone) {
  const Written made("temp a f64[3]\ntemp unused f64[3]\n",
                     "a = relu(w)\nunused = relu(v)\nloss = test_objective(a)\n");
  EXPECT_EQ(made.pairs(), "w <- w@GRAD") << "v does not lead to the loss";
  EXPECT_EQ(find_var(made.program, "unused@GRAD"), kNone);
}

TEST(Autodiff, LossWithoutParamsGivesNothingAndAppendsNothing) {
  const Written made("temp a f64[3]\n", "a = relu(x)\nloss = test_objective(a)\n");
  EXPECT_TRUE(made.grads.empty());
  EXPECT_TRUE(backward_lines(made.program).empty());
}

TEST(Autodiff, InputsGetGradientsWhenAskedFor) {
  Program program = parse_program(
      "input x f64[3]\ntemp a f64[3]\ntemp loss f64[]\nblock 0 {\na = relu(x)\nloss = test_objective(a)\n}\n");
  const std::vector<ParamGrad> grads = append_backward(program, find_var(program, "loss"), {0});
  ASSERT_EQ(grads.size(), 1u);
  EXPECT_EQ(program.vars[grads[0].grad].name, "x@GRAD");
}

TEST(Autodiff, PairsStandInTheOrderOfTheParams) {
  const Written made("temp a f64[3]\ntemp b f64[3]\n", "a = relu(v)\nb = mul(a, w)\nloss = test_objective(b)\n");
  ASSERT_EQ(made.grads.size(), 2u);
  EXPECT_LT(made.grads[0].param, made.grads[1].param);
}

TEST(Autodiff, BackwardEndsAtTheLowestParameterThatIsTrained) {
  Program program = parse_program(
      "input x f64[3]\nparam w f64[3]\nparam v f64[3]\nparam u f64[3]\ntemp a f64[3]\ntemp b f64[3]\ntemp c f64[3]\n"
      "temp loss f64[]\nblock 0 {\na = mul(x, w)\nb = mul(a, v)\nc = mul(b, u)\nloss = test_objective(c)\n}\n");
  const VarId w = find_var(program, "w"), u = find_var(program, "u");
  const auto grads = append_backward(program, find_var(program, "loss"), {}, kNone, {w, u});
  ASSERT_EQ(grads.size(), 1U);
  EXPECT_EQ(grads[0].param, find_var(program, "v"));
  EXPECT_EQ(backward_lines(program), (Lines{kSeed, "c@GRAD = test_objective_grad(c, loss@GRAD) {slot=0}",
                                            "b@GRAD = mul(c@GRAD, u)", "v@GRAD = mul(b@GRAD, a)"}))
      << "u is read, w is not, and neither has a gradient";
}

TEST(Autodiff, OpWithoutARuleIsNamed) {
  EXPECT_TRUE(fails_with("op 'relu_grad' has no gradient (needed for 'a')",
                         [] { Written("temp a f64[3]\n", "a = relu_grad(x, w)\nloss = test_objective(a)\n"); }));
}

TEST(Autodiff, LossMustBeAScalar) {
  Program program = parse_program("param w f64[3]\ntemp a f64[3]\nblock 0 {\na = relu(w)\n}\n");
  EXPECT_TRUE(fails_with("the loss 'a' has shape [3], expected a scalar", [&] { append_backward(program, 1); }));
}

TEST(Autodiff, RandomNetworksHaveTheGradientsThatDifferencesGive) {
  for (const int seed : random_seeds(random_programs() / 3)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const TrainingProgram made = random_smooth_program(static_cast<std::uint64_t>(seed));
    Interpreter values(made.network.program);
    fill_network(made.network, values);
    std::vector<VarId> params;
    for (const ParamGrad& g : made.grads) params.push_back(g.param);
    EXPECT_EQ(wrong_gradient(values, made.network.loss, params, made.grads, {.tolerance = 1e-5, .most_elements = 5}),
              "")
        << to_text(made.network.program);
  }
}

/// x [3,2] times c, the bf16 copy of w [2,2], which `more` may read too; the objective takes z. With the gradients of w
/// and of the vars of these names.
Program low_product(const std::string& more, const std::vector<std::string>& also = {}, bool narrow = false) {
  Program program = parse_program(
      "input x bf16[3,2]\nparam w f32[2,2]\ntemp c bf16[2,2]\ntemp y bf16[3,2]\ntemp z bf16[3,2]\ntemp wide f32[3,2]\n"
      "temp loss f32[]\nblock 0 {\nc = cast(w) {dtype=\"bf16\"}\ny = matmul(x, c)\n" +
      more + "wide = cast(z) {dtype=\"f32\"}\nloss = test_objective(wide)\n}\n");
  std::vector<VarId> vars;
  for (const std::string& name : also) vars.push_back(find_var(program, name));
  const auto grads = append_backward(program, find_var(program, "loss"), vars, kNone, {}, narrow);
  verify(program);
  EXPECT_EQ(grads.size(), 1 + also.size());
  for (const ParamGrad& g : grads) {
    EXPECT_EQ(program.vars[g.grad].name.rfind(program.vars[g.param].name + "@GRAD", 0), 0U);
    EXPECT_EQ(program.vars[g.grad].dtype, narrow ? DType::bf16 : program.vars[g.param].dtype);
  }
  return program;
}

TEST(Autodiff, AProductWritesTheGradientOfAnF32ParameterInF32) {
  const Program program = low_product("z = relu(y)\n", {"x"});
  const Lines lines = backward_lines(program);
  const std::string& last = lines.back();
  EXPECT_EQ(last, "w@GRAD = matmul(x, y@GRAD) {transpose_a=1, transpose_b=0, wide_output=1}");
  EXPECT_EQ(find_var(program, "c@GRAD"), kNone) << "a var that nothing uses would get memory";
}

TEST(Autodiff, WhatOthersReadIsNotWrittenWide) {
  const auto expect_narrow = [](const Program& program, const std::string& cast) {
    const Lines lines = backward_lines(program);
    EXPECT_EQ(lines.back(), cast);
    for (const std::string& line : lines) EXPECT_EQ(line.find("wide_output"), std::string::npos) << line;
  };
  expect_narrow(low_product("z = matmul(y, c)\n"), "w@GRAD = cast(c@GRAD.3) {dtype=\"f32\"}");
}

TEST(Autodiff, ANarrowGradientIsWhatBackwardComputes) {
  const Program program = low_product("z = relu(y)\n", {"x"}, true);
  EXPECT_EQ(backward_lines(program).back(), "w@GRAD = matmul(x, y@GRAD) {transpose_a=1, transpose_b=0}");
  EXPECT_EQ(find_var(program, "c@GRAD"), kNone) << "a var that nothing uses would get memory";
  const Program twice = low_product("z = matmul(y, c)\n", {}, true);
  EXPECT_EQ(backward_lines(twice).back(), "w@GRAD = sum_n(c@GRAD, c@GRAD.2)") << to_text(twice);
}

TEST(Autodiff, AGradientThatIsReadAtTheEndStaysAsItIs) {
  const Program program = parse_program(
      "input a bf16[2,2]\nparam p f32[2,2]\ntemp g bf16[2,2]\ntemp wide f32[2,2]\nblock 0 {\n"
      "g = matmul(a, a) backward\nwide = cast(g) {dtype=\"f32\"} backward\n}\n");
  const VarId p = find_var(program, "p"), g = find_var(program, "g"), wide = find_var(program, "wide");
  Program kept = program, widened = program;
  std::vector<ParamGrad> both = {{p, wide}, {p, g}}, one = {{p, wide}}, shared = {{p, wide}, {p, wide}};
  widen_outputs(kept, both);
  EXPECT_EQ(kept, program);
  keep_narrow(kept, both);
  EXPECT_EQ(kept, program);
  keep_narrow(kept, shared);
  EXPECT_EQ(kept, program);
  widen_outputs(widened, one);
  verify(widened);
  EXPECT_EQ(find_var(widened, "g"), kNone);
  EXPECT_EQ(widened.vars[one[0].grad].name, "wide");
}

}  // namespace
}  // namespace lethe::testing
