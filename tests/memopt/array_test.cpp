// Temps that ops change in place, under every setting.
#include <gtest/gtest.h>

#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "tests/memopt/same_result.h"

namespace lethe::testing {
namespace {

/// An array of three entries: emptied, one entry written, read and added to; others dead and alive beside it.
TrainingProgram with_an_array() {
  TrainingProgram made;
  Network& net = made.network;
  Program& program = net.program;
  const auto call = [&](const char* type, std::vector<VarId> in, const Attrs& attrs = {}) {
    return append_op(program, 0, Role::Forward, type, std::move(in), attrs, type).front();
  };
  const VarId x = add_var(program, {.name = "x", .shape = {4, 5}, .dtype = DType::f64, .kind = Kind::Input});
  const VarId index = add_var(program, {.name = "index", .dtype = DType::i64, .kind = Kind::Input});
  net.inputs = {x, index};
  const VarId array = call("empty", {}, {{"shape", Ints{3, 4, 5}}, {"dtype", "f64"}});
  const VarId before = call("tanh", {x});
  call("array_clear", {array});
  call("array_write", {array, call("square", {before}), index});
  const VarId entry = call("array_read", {array, index});
  call("array_add", {array, call("sigmoid", {entry}), call("offset", {index}, {{"by", 1}})});
  net.loss = call("mean", {call("sum_n", {array, array})});
  net.outputs = {net.loss};
  return made;
}

TEST(ArrayInPlace, GivesTheSameUnderAllSettings) {
  const TrainingProgram made = with_an_array();
  verify(made.network.program);
  const Given given = given_to(made.network, 3);
  const Outcome expected = run_under(made, options_of("none", false, made.network), given);
  EXPECT_NE(expected.losses[0], expected.losses[1]);
  for (const std::string& setting : all_settings()) {
    SCOPED_TRACE(setting);
    const Outcome outcome = run_under(made, options_of(setting, false, made.network), given);
    expect_same_outcome(outcome, expected);
    EXPECT_EQ(outcome.taken, outcome.predicted) << "bytes";
  }
}

}  // namespace
}  // namespace lethe::testing
