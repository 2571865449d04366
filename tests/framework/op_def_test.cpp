#include "framework/language/op_def.h"

#include <gtest/gtest.h>

#include <set>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/op_facts.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

TEST(DidYouMean, NamesTheNearestWordIfItIsNear) {
  EXPECT_EQ(nearest("strde", {"pad", "stride", "out"}), "stride");
  EXPECT_EQ(nearest("convolution", {"pad", "fc"}), "");
  EXPECT_EQ(did_you_mean("strde", {"stride"}), "; did you mean 'stride'?");
  EXPECT_EQ(did_you_mean("qqqqqq", {"stride"}), "");
}

TEST(OpTable, UnknownOpIsNamedWithASuggestion) {
  EXPECT_TRUE(fails_with("no op named 'relv'; did you mean 'relu'?", [] { op_def("relv"); }));
  EXPECT_EQ(find_op("relv"), nullptr);
}

TEST(OpTable, RegisteringATypeTwiceIsRefused) { EXPECT_THROW(Register({.type = "relu"}), std::logic_error); }

TEST(OpTable, AllOpsAreSortedByType) {
  const std::vector<const OpDef*> all = all_ops();
  ASSERT_FALSE(all.empty());
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1]->type, all[i]->type);
}

// What begins is known by its type (framework/language/op_facts.h), what ends by OpDef::waits: no op may be known to
// one side alone.
TEST(OpTable, EachExchangeThatAnOpBeginsAnotherOneWaitsFor) {
  const auto stem = [](const std::string& type, const std::string& end) {
    return type.ends_with(end) ? type.substr(0, type.size() - end.size()) : "";
  };
  std::set<std::string> begun, ended;
  for (const OpDef* const def : all_ops()) {
    const std::string begins = stem(def->type, "_start"), ends = stem(def->type, "_wait");
    EXPECT_EQ(begins_exchange(Op{.type = def->type}), !begins.empty()) << def->type;
    EXPECT_EQ(def->waits, !ends.empty()) << def->type;
    if (!begins.empty()) begun.insert(begins);
    if (!ends.empty()) ended.insert(ends);
  }
  EXPECT_FALSE(begun.empty());
  EXPECT_EQ(begun, ended);
}

TEST(AppendOp, NamesOutputsAfterOpAndSlot) {
  Program program;
  const VarId x = add_var(program, {.name = "x", .shape = {2}, .kind = Kind::Input});
  const VarId y = append_op(program, 0, Role::Forward, "relu", {x}, {}, "relu1").front();
  const VarId again = append_op(program, 0, Role::Forward, "relu", {x}, {}, "relu1").front();
  EXPECT_EQ(program.vars[y].name, "relu1.y");
  EXPECT_EQ(program.vars[again].name, "relu1.y.2");
  EXPECT_EQ(program.vars[y].shape, Shape{2});
}

TEST(AppendOp, OutputsOfAnUpdateAreItsFirstInputs) {
  Program program;
  const VarId x = add_var(program, {.name = "x", .kind = Kind::State});
  EXPECT_EQ(append_op(program, 0, Role::Forward, "increment", {x}, {}, "counter"), std::vector<VarId>{x});
  EXPECT_EQ(program.blocks[0].ops[0].out, std::vector<VarId>{x});
  EXPECT_EQ(program.vars.size(), 1u);
}

}  // namespace
}  // namespace lethe::testing
