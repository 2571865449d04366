#include "framework/language/program.h"

#include <gtest/gtest.h>

namespace lethe::testing {
namespace {

TEST(Program, ATakenNameGetsTheNextNumber) {
  Program program;
  program.vars.push_back({.name = "x"});  // as a reader of texts does
  EXPECT_EQ(program.vars[add_var(program, {.name = "x"})].name, "x.2");
  EXPECT_EQ(program.vars[add_var(program, {.name = "x"})].name, "x.3");
  EXPECT_EQ(program.vars[add_var(program, {.name = "y"})].name, "y");
}

TEST(Program, ACopyKnowsItsNamesAndIsEqual) {
  Program program;
  add_var(program, {.name = "x"});
  Program copy = program;
  EXPECT_EQ(copy, program);
  add_var(program, {.name = "y"});
  EXPECT_EQ(copy.vars[add_var(copy, {.name = "x"})].name, "x.2");
  EXPECT_EQ(copy.vars[add_var(copy, {.name = "y"})].name, "y") << "taken in the other only";
}

TEST(Program, ANameIsFreeAgainOnceItsVarIsGone) {
  Program program;
  add_var(program, {.name = "x"});
  add_var(program, {.name = "y"});
  program.vars.pop_back();
  EXPECT_EQ(program.vars[add_var(program, {.name = "y"})].name, "y");
}

}  // namespace
}  // namespace lethe::testing
