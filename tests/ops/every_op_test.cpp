// Walks the op table: every op must stand in a sample row or in the backward of one, and every op of a row's program is
// held to what its definition says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/language/control_flow.h"
#include "framework/language/verify.h"
#include "framework/run/prepared.h"
#include "kernels/cpu/workers.h"
#include "tests/support/gradient_check.h"
#include "tests/support/objective.h"
#include "tests/support/op_program.h"
#include "tests/support/rows_apart.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

/// Ops without a kernel, which the executor does itself: tests/framework and tests/memopt have their tests.
const std::set<std::string> kOfSeveralRanks = {
    kAllReduceStart,     kAllReduceWait,     kAllGatherStart, kAllGatherWait, kGatherParamsStart, kGatherParamsWait,
    kReduceScatterStart, kReduceScatterWait, "own_share",     "square_sums"};  // tests/train/ranks_test.cpp
const std::set<std::string> kDoneByTheExecutor = {"while", "if", kDeleteVar};

bool has(const Sample& sample, DType dtype) {
  return std::find(sample.dtypes.begin(), sample.dtypes.end(), dtype) != sample.dtypes.end();
}

class EveryOp : public ::testing::TestWithParam<std::size_t> {
 protected:
  EveryOp() : sample_(all_samples()[GetParam()]) {}
  void SetUp() override {
    if (!find_op(sample_.op)) GTEST_FAIL() << "a sample row names '" << sample_.op << "', which is no op";
  }

  void for_each_op(const CheckOp& check, int threads = 1) { testing::for_each_op(sample_, check, threads); }

  const Sample sample_;
};

void expect_same(const Trial& got, const Trial& expected, const char* why) {
  for (std::size_t slot = 0; slot < got.outputs.size(); ++slot)
    EXPECT_TRUE(got.outputs[slot].holds_same(expected.outputs[slot])) << "output " << slot << ": " << why;
}

TEST_P(EveryOp, WritesAllOfItsOutputsAndNothingElse) {
  for_each_op([](const Interpreter& values, const Op& op, const Kernel& kernel) {
    const Trial over_nan = try_op(values, op, kernel, kUnwritten),
                over_other = try_op(values, op, kernel, std::byte{0xCD});
    EXPECT_EQ(over_nan.harm, "") << "was written";
    EXPECT_EQ(over_other.harm, "") << "was written";
    if (op.type == "empty") return;  // gives memory as it is
    expect_same(over_nan, over_other, "depends on what was in outputs or workspace before, or was not wholly written");
  });
}

TEST_P(EveryOp, GivesFiniteNumbers) {
  for_each_op([](const Interpreter& values, const Op& op, const Kernel& kernel) {
    const Trial trial = try_op(values, op, kernel);
    for (std::size_t slot = 0; slot < op.out.size(); ++slot) {
      const Var& var = values.program().vars[op.out[slot]];
      for (std::int64_t i = 0; is_float(var.dtype) && i < elements(var.shape); ++i)
        ASSERT_TRUE(std::isfinite(number_at(var.dtype, trial.outputs[slot].data(), i)))
            << "output " << slot << ", element " << i;
    }
  });
}

TEST_P(EveryOp, GivesTheSameInPlace) {
  for_each_op([](const Interpreter& values, const Op& op, const Kernel& kernel) {
    const Trial apart = try_op(values, op, kernel);
    const std::vector<InPlace> pairs = inplace_pairs(values.program(), op);
    for (const InPlace& first : pairs)  // two outputs at once
      for (const InPlace& second : pairs)
        if (first.in < second.in && first.out != second.out) {
          const Trial together = try_op(values, op, kernel, kUnwritten, {first, second});
          EXPECT_EQ(together.harm, "") << "was written";
          expect_same(together, apart, "differs from the run in separate memory");
        }
    for (const InPlace& pair : pairs) {
      if (bytes_of(values.program().vars[op.out[pair.out]]) > bytes_of(values.program().vars[op.in[pair.in]])) continue;
      SCOPED_TRACE(::testing::Message() << "output " << pair.out << " in the memory of input " << pair.in);
      const Trial together = try_op(values, op, kernel, kUnwritten, {pair});
      EXPECT_EQ(together.harm, "") << "was written";
      expect_same(together, apart, "differs from the run in separate memory");
    }
  });
}

TEST_P(EveryOp, GivesTheSameOfRowsThatLieApart) {
  const auto check = [](const Interpreter& values, const Op& op, const Kernel& kernel) {
    const OpDef& def = op_def(op.type);
    if (!def.pitched) return;
    const Trial side_by_side = try_op(values, op, kernel);
    for (const Gaps gaps : {Gaps{.in = 3, .out = 5}, Gaps{.in = 4, .out = 0}, Gaps{.in = 0, .out = 1}}) {
      const Trial apart = try_rows_apart(values, op, def.kernels.cpu, {.threads = values.threads()}, gaps);
      EXPECT_EQ(apart.harm, "") << "was written";
      expect_same(apart, side_by_side, "differs from rows side by side");
    }
  };
  for (const int threads : {1, 2}) for_each_op(check, threads);
}

TEST_P(EveryOp, GivesTheSameBitsAgain) {
  for (const int threads : {1, 2})
    for_each_op(
        [](const Interpreter& values, const Op& op, const Kernel& kernel) {
          expect_same(try_op(values, op, kernel), try_op(values, op, kernel), "differs from run to run");
        },
        threads);
}

TEST_P(EveryOp, HasTheRightGradient) {
  if (!sample_.gradient) GTEST_SKIP() << "the row says that there is none";
  ASSERT_TRUE(has(sample_, DType::f64)) << "gradients are checked in f64, which the row leaves out";
  const Workers workers(1);
  const OpProgram made = program_of(sample_, DType::f64);
  Interpreter values(made.program);
  fill_inputs(sample_, made, values);
  std::vector<VarId> vars;
  for (const VarId v : made.in)
    if (v != kNone && made.program.vars[v].dtype == DType::f64 && made.program.vars[v].kind == Kind::Input)
      vars.push_back(v);
  EXPECT_FALSE(made.grads.empty()) << "the rule gives no gradient at all";
  EXPECT_EQ(wrong_gradient(values, made.loss, vars, made.grads, {.kinks = sample_.kinks}), "");
}

TEST_P(EveryOp, AgreesInBothPrecisions) {
  if (!has(sample_, DType::f32) || !has(sample_, DType::f64)) GTEST_SKIP() << "the row has one float dtype";
  const Workers workers(2);
  const OpProgram narrow = program_of(sample_, DType::f32), wide = program_of(sample_, DType::f64);
  Interpreter narrow_values(narrow.program, {.threads = 2}), wide_values(wide.program, {.threads = 2});
  fill_inputs(sample_, narrow, narrow_values);
  fill_inputs(sample_, wide, wide_values);
  narrow_values.run();
  wide_values.run();
  ASSERT_EQ(narrow.program.vars.size(), wide.program.vars.size());
  for (VarId v = 0; v < static_cast<VarId>(narrow.program.vars.size()); ++v) {
    const Var &a = narrow.program.vars[v], &b = wide.program.vars[v];
    EXPECT_EQ(difference(elements(b.shape), {a.dtype, narrow_values.memory(v).data()},
                         {b.dtype, wide_values.memory(v).data()}, 2e-5),
              "")
        << "in '" << b.name << "'";
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryOp, ::testing::Range(std::size_t{0}, all_samples().size()),
                         [](const auto& row) { return sample_names()[row.param]; });

TEST(OpTable, EveryOpStandsInASampleRowOrInItsBackward) {
  std::set<std::string> met = kDoneByTheExecutor;
  for (const Sample& sample : all_samples()) {
    const OpProgram made = program_of(sample, sample.dtypes.at(0));
    for (const Op& op : made.program.blocks[0].ops) met.insert(op.type);
  }
  for (const OpDef* op : all_ops())
    if (op->as_view) met.insert(op->as_view);  // made by the memory stage alone: tests/framework, tests/memopt
  for (const OpDef* op : all_ops())
    EXPECT_TRUE(met.count(op->type) + kOfSeveralRanks.count(op->type) != 0 || by_tests_alone(op->type))
        << "'" << op->type << "' is in no row";
}

TEST(OpTable, EveryGradientRuleIsCheckedByARow) {
  // It is also the gradient through statistics that other ops make, so a row cannot tell: see
  // tests/train/ranks_test.cpp.
  std::set<std::string> checked = {"batch_norm_over_parts"};
  for (const Sample& sample : all_samples())
    if (sample.gradient) checked.insert(sample.op);
  for (const OpDef* op : all_ops())
    EXPECT_TRUE(!op->grad || checked.count(op->type) != 0 || by_tests_alone(op->type)) << "'" << op->type << "'";
}

TEST(OpTable, SlotsOfInPlacePairsExist) {
  for (const OpDef* op : all_ops())
    for (const InPlace& pair : op->inplace) {
      const bool variadic = op->inputs.back().find("...") != std::string::npos;
      EXPECT_TRUE(variadic || pair.in < static_cast<int>(op->inputs.size())) << op->type;
      EXPECT_LT(pair.out, static_cast<int>(op->outputs.size())) << op->type;
    }
}

TEST(OpTable, EveryOpButViewsAndControlFlowHasAKernelAndAShapeRule) {
  for (const OpDef* op : all_ops()) {
    if (kDoneByTheExecutor.count(op->type) != 0 || op->type.rfind("test_", 0) == 0) continue;  // another test's
    EXPECT_TRUE(op->infer != nullptr) << op->type;
    EXPECT_NE(op->is_view(), op->kernels.cpu != nullptr) << op->type << ": a view runs no kernel, all else does";
  }
}

}  // namespace
}  // namespace lethe::testing
