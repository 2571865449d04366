// Several updates in one launch: the same bits as one by one.
#include <gtest/gtest.h>

#include <cstring>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "framework/run/prepared.h"
#include "kernels/device_code.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {
namespace {

/// An update op on `count` parameters of different sizes; `slots`: its inputs after the gradient.
struct Family {
  const char* op;
  std::vector<const char*> states;
  std::string slots, attrs;
};
const std::vector<Family> kFamilies = {
    {"sgd", {}, "lr", "weight_decay=0.1"},
    {"momentum", {"m"}, "lr, scale", "momentum=0.9, nesterov=1, weight_decay=0.1"},
    {"adam", {"m", "q"}, "lr, step, scale", "beta1=0.9, beta2=0.99, eps=1e-08, weight_decay=0.1, decoupled=1"},
    {"adam", {"m", "q"}, "lr, step", "beta1=0.9, beta2=0.99, eps=1e-08, weight_decay=0.0"},
    {"lion", {"m"}, "lr, scale", "beta1=0.9, beta2=0.99, weight_decay=0.1"},
    {"rmsprop", {"q"}, "lr", "alpha=0.9, eps=1e-08, weight_decay=0.1"},
    {"rmsprop_momentum", {"q", "m"}, "lr", "alpha=0.9, eps=1e-08, momentum=0.9"}};

/// Sizes with and without rests of packs; in the middle one of several blocks.
std::int64_t size_of(int i) { return i == 3 ? 5000 : 1 + i * 7 % 40; }

std::string update_program(const Family& family, const char* dtype, int count) {
  std::string vars = message("input lr ", dtype, "[]\ninput scale ", dtype, "[]\nstate step i64[]\n"), ops;
  for (int i = 0; i < count; ++i) {
    std::string outs = message("w", i);
    vars += message("param w", i, ' ', dtype, '[', size_of(i), "]\ninput g", i, ' ', dtype, '[', size_of(i), "]\n");
    for (const char* state : family.states) {
      vars += message("state ", state, i, ' ', dtype, '[', size_of(i), "]\n");
      outs += message(", ", state, i);
    }
    ops += message("  ", outs, " = ", family.op, '(', outs, ", g", i, ", ", family.slots, ") {", family.attrs,
                   "} optimize\n");
  }
  return vars + "block 0 {\n" + ops + "}\n";
}

/// Statistics of layers of different sizes.
std::string statistics_program(int count) {
  std::string vars, ops;
  for (int i = 0; i < count; ++i) {
    for (const char* name : {"param a", "param b", "input m", "input v"})
      vars += message(name, i, " f32[", size_of(i), "]\n");
    ops += message("  a", i, ", b", i, " = batch_norm_update(a", i, ", b", i, ", m", i, ", v", i,
                   ") {momentum=0.1, count=", 4 + i, "} optimize\n");
  }
  return vars + "block 0 {\n" + ops + "}\n";
}

void fill(Interpreter& values) {
  const std::vector<Var>& vars = values.program().vars;
  for (std::size_t v = 0; v < vars.size(); ++v)
    if (is_float(vars[v].dtype)) values.fill_uniform(static_cast<VarId>(v), 0.1, 1, v);
  if (const VarId step = find_var(values.program(), "step"); step != kNone)
    std::memset(values.memory(step).data(), 0, sizeof(std::int64_t));
}

/// A program's ops with device kernels, on values of an interpreter.
class DeviceCalls {
 public:
  explicit DeviceCalls(Interpreter& values) {
    const Program& program = values.program();
    for (const Op& op : program.blocks[0].ops) {
      kernels_.push_back(op_def(op.type).kernels.cuda({program, op, {.kind = DeviceKind::Cuda, .name = "shim"}}));
      workspaces_.emplace_back(static_cast<std::size_t>(kernels_.back()->workspace_bytes()) + 1);
      for (const auto* vars : {&op.in, &op.out}) {
        slots_.emplace_back();
        for (const VarId v : *vars) slots_.back().push_back(v == kNone ? nullptr : values.memory(v).data());
      }
      calls_.push_back(
          {kernels_.back().get(), {slots_[slots_.size() - 2].data(), slots_.back().data(), workspaces_.back().data()}});
    }
  }
  const std::vector<KernelCall>& calls() const { return calls_; }
  void** inputs_of(std::size_t op) { return slots_[2 * op].data(); }

 private:
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::vector<std::byte>> workspaces_;
  std::vector<std::vector<void*>> slots_;
  std::vector<KernelCall> calls_;
};

void expect_same_values(const Interpreter& a, const Interpreter& b) {
  for (std::size_t v = 0; v < a.program().vars.size(); ++v)
    EXPECT_TRUE(a.memory(static_cast<VarId>(v)).holds_same(b.memory(static_cast<VarId>(v))))
        << "'" << a.program().vars[v].name << "'";
}

void expect_grouped_as_one_by_one(const std::string& text) {
  const Program program = parse_program(text);
  for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
    simt::order = order;
    Interpreter one_by_one(program), grouped(program);
    fill(one_by_one);
    fill(grouped);
    DeviceCalls alone(one_by_one), together(grouped);
    for (const KernelCall& call : alone.calls()) {
      EXPECT_TRUE(alone.calls()[0].kernel->groups_with(*call.kernel));
      call.kernel->run(call.args);
    }
    together.calls()[0].kernel->run_group(together.calls());
    expect_same_values(grouped, one_by_one);
  }
}

// 70: more than one launch takes.
TEST(GroupedUpdates, GiveTheBitsOfOneByOne) {
  for (const Family& family : kFamilies)
    for (const char* dtype : {"f32", "f64"}) {
      SCOPED_TRACE(message(family.op, ' ', dtype));
      expect_grouped_as_one_by_one(update_program(family, dtype, 70));
    }
}

TEST(GroupedUpdates, OfStatisticsToo) { expect_grouped_as_one_by_one(statistics_program(70)); }

// 120: more than one launch takes.
TEST(GroupedCopies, GiveTheBitsOfOneByOne) {
  for (const char* dtype : {"bf16", "f16"}) {
    SCOPED_TRACE(dtype);
    std::string vars, ops;
    for (int i = 0; i < 120; ++i) {
      const int size = i % 7 == 0 ? 1 : 10 * i + i % 3;
      vars += message("param w", i, " f32[", size, "]\ntemp c", i, ' ', dtype, '[', size, "]\n");
      ops += message("  c", i, " = cast(w", i, ") {dtype=\"", dtype, "\"}\n");
    }
    expect_grouped_as_one_by_one(vars + "block 0 {\n" + ops + "}\n");
  }
}

TEST(GroupedCopies, AreFromF32ToOneLowFloat) {
  const auto groups = [](const char* from, const char* to, const char* other) {
    const Program program = parse_program(message("param w ", from, "[3]\ntemp a ", to, "[3]\ntemp b ", other,
                                                  "[3]\nblock 0 {\n  a = cast(w) {dtype=\"", to,
                                                  "\"}\n  b = cast(w) {dtype=\"", other, "\"}\n}\n"));
    Interpreter values(program);
    const DeviceCalls calls(values);
    return calls.calls()[0].kernel->groups_with(*calls.calls()[1].kernel);
  };
  EXPECT_TRUE(groups("f32", "bf16", "bf16"));
  EXPECT_FALSE(groups("f32", "bf16", "f16"));
  EXPECT_FALSE(groups("f32", "i32", "i32"));
}

TEST(GroupedUpdates, WithARateOfTheirOwnAreDoneOneByOne) {
  const Family& adam = kFamilies[2];
  const Program program = parse_program(update_program(adam, "f32", 3));
  Interpreter one_by_one(program), grouped(program);
  fill(one_by_one);
  fill(grouped);
  DeviceCalls alone(one_by_one), together(grouped);
  const float rate = 0.5F;
  for (DeviceCalls* calls : {&alone, &together}) calls->inputs_of(1)[4] = const_cast<float*>(&rate);
  for (const KernelCall& call : alone.calls()) call.kernel->run(call.args);
  together.calls()[0].kernel->run_group(together.calls());
  expect_same_values(grouped, one_by_one);
}

TEST(GroupedUpdates, OfOtherRulesDtypesOrRatesAreNotJoined) {
  const Program program = parse_program(update_program(kFamilies[0], "f32", 1)),
                wide = parse_program(update_program(kFamilies[0], "f64", 1)),
                momentum = parse_program(update_program(kFamilies[1], "f32", 1)),
                adam = parse_program(update_program(kFamilies[2], "f32", 1)),
                plain_adam = parse_program(update_program(kFamilies[3], "f32", 1));
  Interpreter a(program), b(wide), c(momentum), d(adam), e(plain_adam);
  const auto groups = [](Interpreter& first, Interpreter& other) {
    DeviceCalls x(first), y(other);
    return x.calls()[0].kernel->groups_with(*y.calls()[0].kernel);
  };
  EXPECT_TRUE(groups(a, a));
  EXPECT_FALSE(groups(a, b)) << "dtype";
  EXPECT_FALSE(groups(a, c)) << "rule";
  EXPECT_FALSE(groups(d, e)) << "rates: with and without a scale, decayed and not";
}

}  // namespace
}  // namespace lethe::testing
