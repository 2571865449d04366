#include "memopt/analysis/check_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "framework/language/op_def.h"
#include "framework/language/text.h"
#include "framework/language/views.h"
#include "tests/support/expect_error.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

Program moved(const Program& program, std::size_t from, std::size_t to) {
  Program other = program;
  std::vector<Op>& ops = other.blocks[0].ops;
  const Op op = ops[from];
  ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(from));
  ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(to), op);
  return other;
}

constexpr const char* kProgram =
    "input x f32[4]\ninput lr f32[]\nparam w f32[4]\ntemp a f32[4]\ntemp b f32[4]\ntemp c f32[4]\nblock 0 {\n"
    "  a = exp(x)\n  b = add(a, w)\n  w = sgd(w, a, lr) {decay=0.0}\n  c = exp(a)\n}\n";

std::string error_of_moving(std::size_t from, std::size_t to) {
  const Program program = parse_program(kProgram);
  return error_of([&] { check_order(program, moved(program, from, to)); });
}

TEST(CheckOrder, AcceptsWhatKeepsEveryDependency) {
  EXPECT_EQ(error_of_moving(3, 1), "(nothing)");
  EXPECT_EQ(error_of_moving(2, 3), "(nothing)");
}

TEST(CheckOrder, NamesWhoReadsOtherValues) {
  EXPECT_EQ(error_of_moving(0, 1), "order: add of 'b' does not read and write what it did before it was moved");
  EXPECT_EQ(error_of_moving(2, 1), "order: add of 'b' does not read and write what it did before it was moved")
      << "the update goes before a reader of what it replaces";
}

TEST(CheckOrder, NamesAnOpThatIsMissingOrAnother) {
  const Program program = parse_program(kProgram);
  Program fewer = program, other = program;
  fewer.blocks[0].ops.pop_back();
  EXPECT_EQ(error_of([&] { check_order(program, fewer); }), "order: block 0 has 3 ops, had 4");
  other.blocks[0].ops[3].type = "relu";
  EXPECT_EQ(error_of([&] { check_order(program, other); }),
            "order: exp of 'c' does not read and write what it did before it was moved");
}

/// Whether two ops may not change places: one writes what the other touches. A view writes nothing but its name.
bool meet(const Op& a, const Op& b, const std::vector<VarId>& root) {
  const auto writes = [&](const Op& op, VarId v) {
    if (op_def(op.type).is_view()) return op.out[0] == v;
    return std::any_of(op.out.begin(), op.out.end(), [&](VarId out) { return v != kNone && root[out] == root[v]; });
  };
  const auto touches = [&](const Op& of, const Op& op) {
    return std::any_of(of.in.begin(), of.in.end(), [&](VarId v) { return writes(op, v); }) ||
           std::any_of(of.out.begin(), of.out.end(), [&](VarId v) { return writes(op, v); });
  };
  return touches(a, b) || touches(b, a);
}

TEST(CheckOrder, OfNeighboursThatChangePlacesFindsThoseThatMeet) {
  int refused = 0, tried = 0;
  for (const int seed : random_seeds()) {
    const Program program = random_program(static_cast<std::uint64_t>(seed)).network.program;
    const std::vector<VarId> root = view_root(program);
    const std::vector<Op>& ops = program.blocks[0].ops;
    std::mt19937 random(static_cast<unsigned>(seed));
    const std::size_t i = random() % (ops.size() - 1);
    const bool expected = meet(ops[i], ops[i + 1], root);
    EXPECT_EQ(error_of([&] { check_order(program, moved(program, i, i + 1)); }) != "(nothing)", expected)
        << "seed " << seed << ", op " << i << '\n'
        << to_text(program);
    refused += expected;
    ++tried;
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, tried);
}

}  // namespace
}  // namespace lethe::testing
