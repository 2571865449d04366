// The zoo as published: parameter counts, the layers of optnet's tables, and what every network must survive.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>

#include "framework/autodiff/autodiff.h"
#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "models/network.h"

namespace lethe::testing {
namespace {

struct Published {
  std::string name;
  std::int64_t parameters;
  Sets sets = {};
};

void PrintTo(const Published& row, std::ostream* out) { *out << row.name; }

const std::vector<Published>& published() {
  static const std::vector<Published> all = {
      {"mlp", 269322},
      {"lenet", 61706},
      {"alexnet", 61100840},
      {"vgg_a", 132863336},
      {"vgg16", 138357544},
      {"googlenet", 6998552},
      {"resnet20", 269722},
      {"resnet32", 464154},
      {"resnet44", 658586},
      {"resnet56", 853018},
      {"resnet110", 1727962},
      {"resnet1202", 19421274},
      {"resnet50", 25557032},
      {"resnext50", 25028904},
      {"se_resnext50", 27559896},
      {"se_resnext152", 86878296},
      {"adaptive_depth", 5844},
      {"table", 4929},
      {"early_exit", 61540},
      {"unet", 29715},
      {"mlp_mixer", 78986},
      {"transformer", 66592},
      {"gpt2", 124439808},
      {"gpt2_medium", 354823168},
      {"gpt2_large", 774030080},
      {"gpt2_xl", 1557611200},
      {"char_gpt", 10756992},
      {"char_gpt_cpu", 808064},
      {"llama", 9515904},
      {"tinyllama", 1100048384},
      {"vit_tiny", 5362762},
      {"vit_s16", 22050664},
      {"bert", 434050},
      {"bert_base", 109483778},
      {"char_lstm", 127584},
      {"char_gru", 98784},
      {"seq2seq_copy", 63948},
      {"optnet/alexnet", 60522856},
      {"optnet/vgg_a", 132863336},
      {"optnet/googlenet", 19124528},
      {"optnet/resnet110", 1734858},
      {"optnet/resnet110", 1726570, {{"bn", "false"}}},
  };
  return all;
}

std::int64_t parameters_of(const Program& program) {
  std::int64_t sum = 0;
  for (const Var& var : program.vars)
    if (var.kind == Kind::Param) sum += elements(var.shape);
  return sum;
}

class ZooNetwork : public ::testing::TestWithParam<Published> {};

TEST_P(ZooNetwork, HasThePublishedNumberOfParameters) {
  const Network network = load_network(GetParam().name, {.batch = 2}, GetParam().sets);
  EXPECT_EQ(parameters_of(network.program), GetParam().parameters);
  EXPECT_EQ(network.name, GetParam().name);
  EXPECT_NE(network.loss, kNone);
  EXPECT_EQ(network.correct != kNone, network.name != "table") << "which alone has no labels";
}

TEST_P(ZooNetwork, KeepsTheRulesWithItsGradientsAndReadsBackFromText) {
  Network network = load_network(GetParam().name, {.batch = 2}, GetParam().sets);
  EXPECT_EQ(parse_program(to_text(network.program)), network.program);
  const std::vector<ParamGrad> gradients = append_backward(network.program, network.loss);
  std::size_t params = 0;
  for (const Var& var : network.program.vars) params += var.kind == Kind::Param;
  EXPECT_EQ(gradients.size(), params);
  verify(network.program);
}

TEST_P(ZooNetwork, IsTheSameNetworkForEvaluation) {
  const Network network = load_network(GetParam().name, {.batch = 3, .training = false}, GetParam().sets);
  EXPECT_EQ(parameters_of(network.program), GetParam().parameters);
  verify(network.program);
}

TEST_P(ZooNetwork, SaysHowItLearns) {
  const TrainDefaults defaults = train_defaults(GetParam().name, GetParam().sets);
  for (const std::string key : {"batch", "lr", "optimizer", "schedule"}) EXPECT_EQ(defaults.count(key), 1u) << key;
  EXPECT_EQ(defaults.count("epochs") + defaults.count("steps"), 1u) << "how long";
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooNetwork, ::testing::ValuesIn(published()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (c == '/') c = '_';
  return info.param.sets.empty() ? name : name + "_without_bn";
});

TEST(Zoo, PublishedFiguresCoverEveryName) {
  for (const std::string& name : zoo_names()) {
    const auto is_it = [&](const Published& row) { return row.name == name; };
    const bool whole_family = name == "resnet_cifar" || name == "resnet_imagenet" || name == "vit";
    EXPECT_TRUE(whole_family || std::any_of(published().begin(), published().end(), is_it)) << name;
  }
}

/// "12 conv2d [64,28,28]" for each op type and output below the classifier's own loss and slices.
std::map<std::string, int> layers_of(const Program& program) {
  std::map<std::string, int> layers;
  for (const Op& op : program.blocks[0].ops) {
    if (op.role != Role::Forward || op.out.empty()) continue;
    Shape shape = program.vars[op.out[0]].shape;
    if (shape.size() == 4) shape = {shape[0], shape[3], shape[1], shape[2]};
    if (!shape.empty()) shape.erase(shape.begin());
    ++layers[op.type + ' ' + text_of(shape)];
  }
  return layers;
}

TEST(OptnetZoo, HasTheLayersThatThePublishedTablesMeasured) {
  std::ifstream in(LETHE_SOURCE_DIR "/tests/models/optnet_layers.txt");
  ASSERT_TRUE(in);
  std::map<std::string, int> layers;
  std::map<std::string, bool> types;
  std::string network;
  const auto check_nothing_else = [&] {
    for (const auto& [layer, count] : layers)
      EXPECT_FALSE(types[layer.substr(0, layer.find(' '))] && count > 0) << network << ": " << count << ' ' << layer;
  };
  int rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    if (line.rfind("optnet/", 0) == 0) {
      check_nothing_else();
      network = line;
      layers = layers_of(load_network(network, {.batch = 2}).program);
      types.clear();
      continue;
    }
    const std::size_t space = line.find(' ');
    const std::string layer = line.substr(space + 1);
    EXPECT_EQ(layers[layer], std::stoi(line.substr(0, space))) << network << ": " << layer;
    layers.erase(layer);
    types[layer.substr(0, layer.find(' '))] = true;
    ++rows;
  }
  check_nothing_else();
  EXPECT_EQ(rows, 124);
}

TEST(OptnetZoo, DropsDropoutForTheThirdTable) {
  const auto dropouts = [](const std::string& name, const Sets& sets) {
    int count = 0;
    for (const auto& [layer, times] : layers_of(load_network(name, {.batch = 2}, sets).program))
      if (layer.rfind("dropout ", 0) == 0) count += times;
    return count;
  };
  EXPECT_EQ(dropouts("optnet/alexnet", {}), 2);
  EXPECT_EQ(dropouts("optnet/alexnet", {{"dropout", "false"}}), 0);
  EXPECT_EQ(dropouts("optnet/vgg_a", {}), 2);
  EXPECT_EQ(dropouts("optnet/vgg_a", {{"dropout", "0"}}), 0);
}

std::string complaint_of(const std::string& name, const Sets& sets = {}) {
  try {
    load_network(name, {}, sets);
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Zoo, SuggestsTheModelThatWasMeantAndListsAll) {
  const std::string text = complaint_of("resnet111");
  EXPECT_EQ(text.rfind("unknown model 'resnet111'; did you mean 'resnet110'?; known: adaptive_depth, alexnet, ", 0), 0u)
      << text;
  EXPECT_NE(text.find("optnet/alexnet"), std::string::npos);
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

TEST(Zoo, TakesAMissingFileForAFile) {
  EXPECT_EQ(complaint_of("no/such.json"), "cannot open 'no/such.json': No such file or directory");
}

TEST(Zoo, SetsVarsOverTheVariant) {
  EXPECT_EQ(parameters_of(load_network("resnet20", {}, {{"n", "5"}}).program), 464154);
  const std::string file = LETHE_SOURCE_DIR "/models/resnet_cifar.json";
  EXPECT_EQ(complaint_of("resnet20", {{"m", "5"}}),
            file + ": `set` m=5: no var 'm'; did you mean 'n'?; vars: channels, classes, drop_path, n, size, w");
  EXPECT_EQ(complaint_of("resnet20", {{"n", "many"}}), file + ": `set` n=many: expected a number, true or false");
}

TEST(Zoo, HasATransformerWhoseHeadsSeeAllSteps) {
  const Network net = load_network("transformer", {.batch = 2, .training = true}, {{"length", "12"}, {"heads", "2"}});
  const auto& ops = net.program.blocks[0].ops;
  const auto shares = std::find_if(ops.begin(), ops.end(), [](const Op& op) { return op.type == "softmax"; });
  ASSERT_NE(shares, ops.end());
  EXPECT_EQ(net.program.vars[shares->out.front()].shape, (Shape{2, 2, 12, 12}));
}

TEST(Zoo, LooksFirstWhereTheEnvironmentSays) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("lethe_zoo_" + std::to_string(getpid())) / "own";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "tiny.json") << R"({"version": 1, "vars": {"n": 1}, "variants": {"tiny3": {"n": 3}},
    "inputs": {"x": {"shape": [4]}}, "layers": [{"op": "fc", "out": "=n"}]})";
  ::setenv("LETHE_MODELS", folder.parent_path().c_str(), 1);
  EXPECT_EQ(parameters_of(load_network("own/tiny", {}).program), 5);
  EXPECT_EQ(parameters_of(load_network("tiny3", {}).program), 15);
  EXPECT_EQ(load_network("tiny3", {}).name, "tiny3");
  std::ofstream(folder / "broken.json") << "{";  // is only read by who asks for it
  EXPECT_EQ(load_network("tiny3", {}).name, "tiny3");
  ::unsetenv("LETHE_MODELS");
  std::filesystem::remove_all(folder.parent_path());
}

}  // namespace
}  // namespace lethe::testing
