// What the format means: the Program that a file becomes.
#include "models/network.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "framework/language/text.h"
#include "framework/language/verify.h"

namespace lethe::testing {
namespace {

class NetworkFile : public ::testing::Test {
 protected:
  /// A network with an image of 3x8x8 and these layers; `more` are further members.
  Network load(const std::string& layers, const std::string& more = "", const BuildOptions& options = {.batch = 2},
               const Sets& sets = {}) {
    std::ofstream(file_)
        << R"({"version": 1, "inputs": {"image": {"shape": [3, 8, 4]}, "label": {"shape": [], "dtype": "i32"}},)"
        << more << "\"layers\": [" << layers << "]}";
    const Network network = load_network(file_, options, sets);
    verify(network.program);
    return network;
  }
  void TearDown() override { std::filesystem::remove(file_); }

  const std::string file_ = ::testing::TempDir() + "lethe_network_" + std::to_string(getpid()) + ".json";
};

/// "conv1.y relu1.y": what the forward ops give, in their order.
std::string outputs_of(const Network& network) {
  std::string all;
  for (const Op& op : network.program.blocks[0].ops)
    if (op.role == Role::Forward) all.append(all.empty() ? "" : " ").append(network.program.vars[op.out[0]].name);
  return all;
}

/// "add1.y = add(relu1.y, image)" of the op that gives a var.
std::string inputs_of(const Network& network, const std::string& output) {
  for (const Op& op : network.program.blocks[0].ops) {
    if (network.program.vars[op.out[0]].name != output) continue;
    std::string all;
    for (const VarId in : op.in)
      all.append(all.empty() ? "" : " ").append(in == kNone ? "_" : network.program.vars[in].name);
    return all;
  }
  return "no such output";
}

const Var& var(const Network& network, const std::string& name) {
  return network.program.vars[find_var(network.program, name)];
}

TEST_F(NetworkFile, AHeadHasItsParametersUnderItsNameAndLogitsIfTheyAreAskedFor) {
  const std::string head =
      R"("loss": [{"op": "linear_cross_entropy", "out": 5, "bias": true, "z_loss": 0.25, "name": "head"}],)";
  const Network network = load(R"({"op": "global_avg_pool"})", head);
  EXPECT_EQ(inputs_of(network, "head.loss"), "global_avg_pool1.y head.weight head.bias label");
  EXPECT_EQ(network.program.vars[network.correct].name, "head.right");
  EXPECT_EQ(network.prediction, kNone);
  EXPECT_EQ(network.classes, 5);
  const Network told = load(R"({"op": "global_avg_pool"})", head, {.batch = 2, .training = false, .logits = true});
  EXPECT_EQ(inputs_of(told, told.program.vars[told.prediction].name), "global_avg_pool1.y head.weight head.bias");
  EXPECT_EQ(told.params.size(), 2U);
}

TEST_F(NetworkFile, StatesImagesAsChannelsFirstAndHoldsThemChannelsLast) {
  const Network network = load(R"({"op": "relu"})");
  EXPECT_EQ(var(network, "image").shape, (Shape{2, 8, 4, 3}));
  EXPECT_EQ(var(network, "image").dtype, DType::f32);
  EXPECT_EQ(var(network, "label").shape, (Shape{2}));
  EXPECT_EQ(var(network, "label").dtype, DType::i32);
  EXPECT_EQ(var(load(R"({"op": "relu"})", "", {.dtype = DType::f64}), "image").dtype, DType::f64);
}

TEST_F(NetworkFile, ChainsEntriesAndCountsThoseWithoutAName) {
  const Network network = load(R"({"op": "relu"}, {"op": "tanh", "name": "squash"}, {"op": "relu"})");
  EXPECT_EQ(outputs_of(network), "relu1.y squash.y relu2.y");
  EXPECT_EQ(inputs_of(network, "relu2.y"), "squash.y");
  EXPECT_EQ(network.outputs, std::vector<VarId>{find_var(network.program, "relu2.y")});
  EXPECT_EQ(network.loss, kNone);
}

TEST_F(NetworkFile, TakesNamedInputsInsteadOfTheOneBefore) {
  const Network network = load(
      R"({"op": "relu", "name": "a"}, {"op": "tanh"}, {"op": "add", "in": ["a", "tanh1"]},
         {"op": "relu", "in": "@in"})");
  EXPECT_EQ(inputs_of(network, "add1.y"), "a.y tanh1.y");
  EXPECT_EQ(inputs_of(network, "relu1.y"), "image");
}

TEST_F(NetworkFile, AcceptsTheOpsOwnNameAndTheOnnxName) {
  const Network network = load(R"({"op": "conv2d", "out": 4, "k": 3}, {"op": "Relu"}, {"op": "Gemm", "out": 2})");
  EXPECT_EQ(outputs_of(network).substr(0, 15), "conv1.y relu1.y");
  EXPECT_EQ(var(network, "fc1.weight").shape, (Shape{2, 128}));
}

TEST_F(NetworkFile, UsesABlockAsOftenAsItSaysWithOtherArgumentsFirstAndLast) {
  const Network network = load(
      R"({"block": "b", "name": "stage", "times": "=n", "with": {"c": 4}, "first": {"c": "=2*n"}, "last": {"k": 3}})",
      R"("vars": {"n": 3}, "blocks": {"b": {"params": {"c": null, "k": 1}, "layers": [
          {"op": "conv", "out": "=c", "k": "=k"}]}},)");
  EXPECT_EQ(outputs_of(network), "stage/0/conv1.y stage/1/conv1.y stage/2/conv1.y");
  EXPECT_EQ(var(network, "stage/0/conv1.weight").shape, (Shape{6, 1, 1, 3}));
  EXPECT_EQ(var(network, "stage/1/conv1.weight").shape, (Shape{4, 1, 1, 6}));
  EXPECT_EQ(var(network, "stage/2/conv1.weight").shape, (Shape{4, 3, 3, 4}));
}

TEST_F(NetworkFile, GivesBlocksTheirOwnInputNamesAndDefaultsFromEarlierParams) {
  const Network network = load(R"({"op": "tanh"}, {"block": "b", "with": {"c": 4}})",
                               R"("vars": {"k": 3}, "blocks": {"b": {"params": {"c": null, "wide": "=2*c"}, "layers": [
          {"op": "conv", "out": "=wide", "k": "=k", "name": "x"},
          {"op": "relu", "in": "@in"}, {"op": "relu", "in": "x"}]}},)");
  EXPECT_EQ(outputs_of(network), "tanh1.y b1/x.y b1/relu1.y b1/relu2.y");
  EXPECT_EQ(var(network, "b1/x.weight").shape, (Shape{8, 3, 3, 3}));
  EXPECT_EQ(inputs_of(network, "b1/relu1.y"), "tanh1.y");
  EXPECT_EQ(inputs_of(network, "b1/relu2.y"), "b1/x.y");
}

TEST_F(NetworkFile, RepeatsOverACountAndOverALists) {
  const Network counted = load(R"({"repeat": 2, "as": "j", "layers": [{"op": "fc", "out": "=j+5"}]})");
  EXPECT_EQ(var(counted, "repeat1/0/fc1.weight").shape[0], 5);
  EXPECT_EQ(var(counted, "repeat1/1/fc1.weight").shape, (Shape{6, 5}));
  const Network listed = load(
      R"({"repeat": [{"c": 4, "k": 1}, {"c": 5, "k": 3}], "name": "r", "layers": [
            {"op": "conv", "out": "=c", "k": "=k"}]},
         {"repeat": [7, "=2*4"], "layers": [{"op": "fc", "out": "=i"}]})");
  EXPECT_EQ(var(listed, "r/1/conv1.weight").shape, (Shape{5, 3, 3, 4}));
  EXPECT_EQ(var(listed, "repeat1/1/fc1.weight").shape, (Shape{8, 7}));
}

TEST_F(NetworkFile, LetsATripSeeWhatTheTripBeforeNamed) {
  const Network network = load(
      R"({"op": "relu", "name": "h"}, {"repeat": 2, "name": "r", "layers": [{"op": "tanh", "in": "h", "name": "h"}]})");
  EXPECT_EQ(inputs_of(network, "r/0/h.y"), "h.y");
  EXPECT_EQ(inputs_of(network, "r/1/h.y"), "r/0/h.y");
}

TEST_F(NetworkFile, JoinsBranchesThatStartAtOnePoint) {
  const Network network = load(R"({"op": "tanh"}, {"branches": [[{"op": "relu"}], []], "join": "add", "name": "sum"},
                                  {"branches": [[{"op": "relu"}], [{"op": "tanh"}]], "join": "concat"})");
  EXPECT_EQ(outputs_of(network), "tanh1.y sum/b0/relu1.y sum.y b0/relu1.y b1/tanh1.y concat1.y");
  EXPECT_EQ(inputs_of(network, "sum.y"), "sum/b0/relu1.y tanh1.y");
  EXPECT_EQ(var(network, "concat1.y").shape, (Shape{2, 8, 4, 6}));
}

TEST_F(NetworkFile, GoesOnFromTheLastBranchIfNothingJoinsThem) {
  const Network network = load(R"({"branches": [[{"op": "relu", "name": "side"}], []], "join": "none"}, {"op": "tanh"},
                                  {"op": "add", "in": ["side", "tanh1"]})");
  EXPECT_EQ(inputs_of(network, "tanh1.y"), "image");
  EXPECT_EQ(inputs_of(network, "add1.y"), "b0/side.y tanh1.y");
}

TEST_F(NetworkFile, DecidesConditionsWhenItIsBuilt) {
  const std::string layers = R"({"if": "=deep", "then": [{"op": "relu"}], "else": [{"op": "tanh"}]})";
  const std::string vars = R"("vars": {"deep": true},)";
  EXPECT_EQ(outputs_of(load(layers, vars)), "relu1.y");
  EXPECT_EQ(outputs_of(load(layers, vars, {}, {{"deep", "false"}})), "tanh1.y");
  EXPECT_EQ(outputs_of(load(R"({"if": "=1>2", "then": [{"op": "relu"}]}, {"op": "tanh"})")), "tanh1.y");
}

TEST_F(NetworkFile, WorksVarsOutFromThoseBeforeThem) {
  const std::string layers = R"({"op": "fc", "out": "=inner"})";
  const std::string vars = R"("vars": {"width": 4, "inner": "=4*width"},)";
  const auto outputs = [&](const Sets& sets) { return var(load(layers, vars, {}, sets), "fc1.weight").shape[0]; };
  EXPECT_EQ(outputs({}), 16);
  EXPECT_EQ(outputs({{"width", "5"}}), 20);
  EXPECT_EQ(outputs({{"inner", "3"}}), 3);
}

TEST_F(NetworkFile, LeavesOutLossesWhoseConditionIsZero) {
  const std::string more = R"("vars": {"smooth": false}, "loss": [
      {"if": "=1-smooth", "op": "cross_entropy", "target": "label"},
      {"if": "=smooth", "op": "cross_entropy", "target": "label", "label_smoothing": 0.1}],)";
  const auto smoothing = [&](const Sets& sets) {
    const Network network = load(R"({"op": "fc", "out": 5})", more, {}, sets);
    std::string all;
    for (const Op& op : network.program.blocks[0].ops)
      if (op.type == "softmax_cross_entropy") all += text_of(op.attrs.number("label_smoothing", 0)) + ' ';
    return all;
  };
  EXPECT_EQ(smoothing({}), "0.0 ");
  EXPECT_EQ(smoothing({{"smooth", "true"}}), "0.1 ");
}

TEST_F(NetworkFile, ReadsPairsAndInitialisersAsSettings) {
  const Network network =
      load(R"({"op": "conv", "out": 2, "k": [3, "=1"], "pad": [1, 0], "bias": false, "init": {"normal": 0.5}})");
  EXPECT_EQ(var(network, "conv1.weight").shape, (Shape{2, 3, 1, 3}));
  EXPECT_EQ(find_var(network.program, "conv1.bias"), kNone);
  EXPECT_EQ(network.params[0].init.kind, Init::Normal);
  EXPECT_EQ(network.params[0].init.value, 0.5);
}

TEST_F(NetworkFile, TakesAWholeNumberWithAPoint) {
  const Network network = load(R"({"op": "conv", "out": 2.0, "k": [3.0, "=2.0/2"], "pad": 1.0, "stride": "=n"},
                                  {"op": "concat", "in": ["image", "image"], "axis": 0.0})",
                               R"("vars": {"n": 2.0}, "train": {"batch": 32.0, "lr": 1},)");
  EXPECT_EQ(var(network, "conv1.weight").shape, (Shape{2, 3, 1, 3}));
  EXPECT_EQ(var(network, "conv1.y").shape, (Shape{2, 4, 3, 2}));
  EXPECT_EQ(var(network, "concat1.y").shape, (Shape{2, 8, 4, 6}));
  EXPECT_EQ(train_defaults(file_).at("batch").value, "32");
  EXPECT_THROW(load(R"({"op": "conv", "out": 2, "k": 3.5})"), Error);
  EXPECT_THROW(load(R"({"op": "conv", "out": 1e30, "k": 3})"), Error);
}

TEST_F(NetworkFile, AddsLossesAndNamesOutputsByPath) {
  const Network network = load(
      R"({"branches": [[{"op": "fc", "out": 5, "name": "main"}], [{"op": "fc", "out": 5, "name": "aux"}]],
          "join": "none"})",
      R"("outputs": ["b0/main"], "loss": [{"op": "cross_entropy", "in": "main", "target": "label"},
                                         {"op": "cross_entropy", "in": "b1/aux", "weight": 0.3}],)");
  EXPECT_EQ(network.outputs, std::vector<VarId>{find_var(network.program, "b0/main.y")});
  EXPECT_EQ(network.target, find_var(network.program, "label"));
  EXPECT_TRUE(network.program.vars[network.loss].shape.empty());
  EXPECT_EQ(network.program.vars[network.sample_loss].shape, (Shape{2}));
}

TEST_F(NetworkFile, NamesTheLabelThatALossIgnores) {
  const Network network = load(R"({"op": "fc", "out": 5})",
                               R"("vars": {"padding": 4}, "loss": [{"op": "cross_entropy", "ignore": "=padding"}],)");
  EXPECT_EQ(network.ignored, 4);
  EXPECT_EQ(inputs_of(network, "loss1.loss"), "fc1.y loss1/label.y");
}

TEST_F(NetworkFile, HandsTrainingSettingsOnAsText) {
  load(
      R"({"op": "relu"})",
      R"("vars": {"n": 18}, "train": {"lr": 0.1, "batch": "=n*2", "augment": "pad-crop,flip", "weight_decay": 0.25},)");
  const std::map<std::string, std::string> expected = {
      {"lr", "0.1"}, {"batch", "36"}, {"augment", "pad-crop,flip"}, {"weight_decay", "0.25"}};
  std::map<std::string, std::string> values;
  for (const auto& [name, setting] : train_defaults(file_)) {
    values[name] = setting.value;
    EXPECT_EQ(setting.where.rfind(file_ + ':', 0), 0u) << setting.where;
  }
  EXPECT_EQ(values, expected);
}

TEST_F(NetworkFile, AllowsCommentsOfBothKinds) {
  const Network network = load("// the only layer\n {\"op\": \"relu\", /* of */ \"comment\": \"max(x, 0)\"}");
  EXPECT_EQ(outputs_of(network), "relu1.y");
}

TEST_F(NetworkFile, SharesTheParametersOfAnEarlierLayer) {
  const Network network = load(
      R"({"op": "conv", "out": 3, "k": 3, "name": "a"}, {"op": "relu"},
         {"op": "conv", "out": 3, "k": 3, "share": "a"})");
  EXPECT_EQ(inputs_of(network, "conv1.y"), "relu1.y a.weight a.bias");
  EXPECT_EQ(network.params.size(), 2u);
}

}  // namespace
}  // namespace lethe::testing
