#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/language/text.h"
#include "tests/support/random_program.h"

namespace lethe::testing {
namespace {

using nlohmann::json;

TEST(JsonForm, SaysAllThatTheProgramHolds) {
  const Program program = random_program(1).network.program;
  const json form = json::parse(to_json(program));
  ASSERT_EQ(form.at("vars").size(), program.vars.size());
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const json& var = form["vars"][v];
    EXPECT_EQ(var.at("name"), program.vars[v].name);
    EXPECT_EQ(var.at("shape").get<Shape>(), program.vars[v].shape);
    EXPECT_EQ(var.at("dtype"), std::string(name_of(program.vars[v].dtype)));
    EXPECT_EQ(var.at("kind"), std::string(name_of(program.vars[v].kind)));
    EXPECT_EQ(var.at("bytes"), bytes_of(program.vars[v]));
  }
  ASSERT_EQ(form.at("blocks").size(), 1u);
  EXPECT_EQ(form["blocks"][0].at("parent"), -1);
  const json& ops = form["blocks"][0].at("ops");
  ASSERT_EQ(ops.size(), program.blocks[0].ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = program.blocks[0].ops[i];
    EXPECT_EQ(ops[i].at("type"), op.type);
    EXPECT_EQ(ops[i].at("role"), std::string(name_of(op.role)));
    ASSERT_EQ(ops[i].at("in").size(), op.in.size());
    for (std::size_t slot = 0; slot < op.in.size(); ++slot) {
      if (op.in[slot] == kNone)
        EXPECT_TRUE(ops[i]["in"][slot].is_null());
      else
        EXPECT_EQ(ops[i]["in"][slot], program.vars[op.in[slot]].name);
    }
    EXPECT_EQ(ops[i].at("out").size(), op.out.size());
    EXPECT_EQ(ops[i].at("attrs").size(), static_cast<std::size_t>(std::distance(op.attrs.begin(), op.attrs.end())));
  }
}

TEST(JsonForm, EscapesTextAndWritesAbsentInputsAsNull) {
  Program program;
  add_var(program, {.name = "a \"b\" \\ c", .kind = Kind::Input});
  program.blocks[0].ops.push_back(
      {.type = "relu", .in = {kNone, 0}, .attrs = {{"mode", "x\"y\\z"}, {"flag", 1}, {"at", Ints{1, 2}}}});
  const json form = json::parse(to_json(program, 0));
  EXPECT_EQ(form["vars"][0]["name"], "a \"b\" \\ c");
  const json& op = form["blocks"][0]["ops"][0];
  EXPECT_TRUE(op["in"][0].is_null());
  EXPECT_EQ(op["in"][1], "a \"b\" \\ c");
  EXPECT_EQ(op["attrs"]["mode"], "x\"y\\z");
  EXPECT_EQ(op["attrs"]["at"], json::array({1, 2}));
}

}  // namespace
}  // namespace lethe::testing
