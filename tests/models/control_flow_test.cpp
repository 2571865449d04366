// Loops and branches of network files that are decided at run time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "framework/language/verify.h"
#include "models/network.h"

namespace lethe::testing {
namespace {

class ControlFlowFile : public ::testing::Test {
 protected:
  /// A network with 4 numbers as its input and these layers; `more` are further members.
  Network load(const std::string& layers, const std::string& more = "", DType dtype = DType::f32) {
    std::ofstream(file_) << R"({"version": 1, "inputs": {"x": {"shape": [4]}, "label": {"shape": [], "dtype": "i32"}},)"
                         << more << "\"layers\": [" << layers << "]}";
    Network network = load_network(file_, {.batch = 2, .dtype = dtype});
    verify(network.program);
    return network;
  }
  void TearDown() override { std::filesystem::remove(file_); }

  const std::string file_ = ::testing::TempDir() + "lethe_" + std::to_string(getpid()) + "_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
};

/// The first op of a type, in whichever block.
const Op& op_of(const Program& program, const std::string& type) {
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      if (op.type == type) return op;
  throw Error("no op " + type);
}

bool is_among(const std::vector<VarId>& vars, VarId var) {
  return std::find(vars.begin(), vars.end(), var) != vars.end();
}

std::vector<std::string> parameters(const Network& network) {
  std::vector<std::string> names;
  for (const ParamInfo& param : network.params) names.push_back(network.program.vars[param.var].name);
  return names;
}

constexpr const char* kHalving = R"(
    {"while": {"state": {"h": "@in", "left": 8},
               "cond": [{"op": "greater", "in": "left", "value": 1}],
               "max": "=2*5"},
     "do": {"layers": [{"op": "fc", "out": 4, "name": "y"}, {"op": "scale", "a": 0.5, "in": "left", "name": "half"}],
            "next": {"h": "y", "left": "half"}},
     "name": "loop"})";

TEST_F(ControlFlowFile, LoopCarriesItsStatesAndKnowsItsTrips) {
  const Network network = load(std::string(R"({"op": "relu", "name": "first"},)") + kHalving);
  const Program& p = network.program;
  const Op& loop = op_of(p, "while");
  EXPECT_EQ(loop.attrs.integer("max_trips"), 10);
  EXPECT_TRUE(is_among(loop.in, find_var(p, "first.y")));
  ASSERT_EQ(p.blocks[loop.blocks[0]].ops.size(), 1U);
  EXPECT_EQ(p.blocks[loop.blocks[0]].ops[0].type, "greater");
  EXPECT_EQ(p.vars[loop.out[1]].shape, (Shape{2, 4}));
  EXPECT_EQ(p.vars[loop.out[2]].shape, Shape{});
  EXPECT_EQ(network.outputs, std::vector<VarId>{loop.out[1]});
}

TEST_F(ControlFlowFile, ParametersOfALoopAreMadeOnceAndBelongToTheNetwork) {
  const Network network = load(kHalving);
  EXPECT_EQ(parameters(network), (std::vector<std::string>{"loop/do/y.weight", "loop/do/y.bias"}));
  EXPECT_EQ(network.program.vars[network.params[0].var].block, 0);
}

TEST_F(ControlFlowFile, ListsOfALoopStartAtItsFirstState) {
  const Network network = load(R"(
    {"while": {"state": {"h": "@in"}, "max": 3, "cond": [{"op": "mean"}, {"op": "less", "value": 9}]},
     "do": {"layers": [{"op": "relu", "name": "y"}], "next": {"h": "y"}}})");
  const Op& loop = op_of(network.program, "while");
  EXPECT_EQ(op_of(network.program, "mean").in, std::vector<VarId>{loop.out[1]});
  EXPECT_EQ(op_of(network.program, "relu").in, std::vector<VarId>{loop.out[1]});
}

TEST_F(ControlFlowFile, StatesAreKnownAfterTheLoopByItsName) {
  const Network network = load(std::string(kHalving) + R"(,
    {"branches": [[{"op": "relu", "in": "loop"}], [{"op": "mul", "in": ["loop/h", "loop/left"]}]], "join": "add"})");
  const Op& loop = op_of(network.program, "while");
  EXPECT_EQ(op_of(network.program, "relu").in, std::vector<VarId>{loop.out[1]});
  EXPECT_EQ(op_of(network.program, "mul").in, (std::vector<VarId>{loop.out[1], loop.out[2]}));
}

TEST_F(ControlFlowFile, ResultNamesTheStateThatGoesOn) {
  std::string text = kHalving;
  text.insert(text.rfind("\"name\""), R"("result": "left", )");
  const Network network = load(text);
  EXPECT_EQ(network.outputs, std::vector<VarId>{op_of(network.program, "while").out[2]});
}

TEST_F(ControlFlowFile, NumberAsAStateIsOfTheNetworksDtype) {
  const Network network = load(kHalving, R"("vars": {"unused": 1},)", DType::f64);
  EXPECT_EQ(network.program.vars[op_of(network.program, "while").out[2]].dtype, DType::f64);
}

TEST_F(ControlFlowFile, LoopWithoutAConditionCountsItsTrips) {
  const Network network = load(R"(
    {"while": {"state": {"h": "@in"}, "max": 3},
     "do": {"layers": [{"op": "cast", "in": "@trip", "dtype": "f32"}, {"op": "add", "in": ["h", "cast1"], "name": "y"}],
            "next": {"h": "y"}}})");
  const Op& loop = op_of(network.program, "while");
  const Op& condition = network.program.blocks[loop.blocks[0]].ops.at(0);
  EXPECT_EQ(condition.in[0], loop.out[0]);
  EXPECT_EQ(op_of(network.program, "cast").in, std::vector<VarId>{loop.out[0]});
}

TEST_F(ControlFlowFile, MemoptOfALoopAsksForRecomputation) {
  std::string text = kHalving;
  text.insert(text.rfind("\"name\""), R"("memopt": "recompute", )");
  EXPECT_EQ(op_of(load(text).program, "while").attrs.integer("recompute"), 1);
  EXPECT_FALSE(op_of(load(kHalving).program, "while").attrs.has("recompute"));
}

TEST_F(ControlFlowFile, BranchListsWhatItsSidesReadAndGivesOneValue) {
  const Network network = load(R"(
    {"op": "relu", "name": "a"}, {"op": "tanh", "name": "b"}, {"op": "mean", "name": "m"},
    {"if": [{"op": "greater", "in": "m", "value": 0.5}], "in": "a",
     "then": [{"op": "fc", "out": 4}], "else": [{"op": "add", "in": ["@in", "b"]}], "name": "side"},
    {"op": "relu", "in": "side"})");
  const Program& p = network.program;
  const Op& branch = op_of(p, "if");
  EXPECT_EQ(p.vars[branch.in[0]].dtype, DType::u8);
  for (const char* read : {"a.y", "b.y", "side/then/fc1.weight"}) EXPECT_TRUE(is_among(branch.in, find_var(p, read)));
  EXPECT_EQ(p.vars[branch.out[0]].shape, (Shape{2, 4}));
  EXPECT_EQ(p.blocks[0].ops.back().in, std::vector<VarId>{branch.out[0]});
}

TEST_F(ControlFlowFile, BranchWithoutElsePassesItsInputOn) {
  const Network network = load(R"(
    {"op": "relu", "name": "a"},
    {"if": [{"op": "mean"}, {"op": "greater", "value": 0.5}], "then": [{"op": "tanh"}], "in": "a"})");
  const Op& branch = op_of(network.program, "if");
  EXPECT_TRUE(is_among(branch.in, find_var(network.program, "a.y")));
  const Block& otherwise = network.program.blocks[branch.blocks[1]];
  EXPECT_TRUE(otherwise.ops.empty() || otherwise.ops[0].type == "assign");
}

TEST_F(ControlFlowFile, LoopsAndBranchesNest) {
  const Network network = load(R"(
    {"while": {"state": {"h": "@in"}, "max": 3, "cond": [{"op": "mean"}, {"op": "less", "value": 9}]},
     "do": {"layers": [
       {"while": {"state": {"k": "h"}, "max": 2},
        "do": {"layers": [
          {"if": [{"op": "mean"}, {"op": "less", "value": 1}], "then": [{"op": "fc", "out": 4}], "name": "y"}],
          "next": {"k": "y"}}, "name": "inner"},
       {"op": "add", "in": ["inner/k", "h"], "name": "sum"}],
      "next": {"h": "sum"}}, "name": "outer"})");
  EXPECT_EQ(parameters(network),
            (std::vector<std::string>{"outer/do/inner/do/y/then/fc1.weight", "outer/do/inner/do/y/then/fc1.bias"}));
  EXPECT_EQ(network.program.blocks.size(), 7U);
}

TEST_F(ControlFlowFile, LoopInABlockIsAnotherOneAtEachUse) {
  const Network network = load(R"({"block": "deep", "times": 2})",
                               R"("blocks": {"deep": {"layers": [{"while": {"state": {"h": "@in"}, "max": 2},
         "do": {"layers": [{"op": "fc", "out": 4, "name": "y"}], "next": {"h": "y"}}}]}},)");
  EXPECT_EQ(parameters(network), (std::vector<std::string>{"deep1/0/while1/do/y.weight", "deep1/0/while1/do/y.bias",
                                                           "deep1/1/while1/do/y.weight", "deep1/1/while1/do/y.bias"}));
}

}  // namespace
}  // namespace lethe::testing
