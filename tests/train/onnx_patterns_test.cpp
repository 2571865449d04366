// What exporters write out in many nodes becomes one layer, and other things do not.
#include <nlohmann/json.hpp>

#include "tests/train/onnx_models.h"

namespace lethe::testing {
namespace {

class OnnxPatterns : public OnnxImportTest {
 protected:
  static onnx::Tensor floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
    return {name, onnx::Type::f32, shape,
            [values](const onnx::Sink& to) { to(values.data(), std::ssize(values) * std::int64_t{sizeof(float)}); }};
  }
  static onnx::Tensor ints(const std::string& name, const std::vector<std::int64_t>& values) {
    return {name, onnx::Type::i64, {std::ssize(values)}, [values](const onnx::Sink& to) {
              to(values.data(), std::ssize(values) * std::int64_t{sizeof(std::int64_t)});
            }};
  }
  /// Of rows [T,4].
  static onnx::Model rows(std::vector<onnx::Node> nodes, std::vector<onnx::Tensor> tensors, std::int64_t steps = 3) {
    return {.name = "m",
            .nodes = std::move(nodes),
            .tensors = std::move(tensors),
            .inputs = {{"x", onnx::Type::f32, {std::string("batch"), steps, 4}}},
            .outputs = {{"y", onnx::Type::f32, {std::string("batch"), steps, 4}}}};
  }
  /// The kinds of its layers, in their order.
  std::string layers_of(const onnx::Model& model, std::vector<std::string> more = {"--loss", "mse"}) const {
    const Ended ended = import(written(model), std::move(more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    if (ended.code != 0) return ended.err;
    std::string kinds;
    const auto network = nlohmann::json::parse(bytes_in(path("n.json")));
    for (const auto& layer : network["layers"]) kinds += (kinds.empty() ? "" : " ") + layer["op"].get<std::string>();
    return kinds;
  }
  static std::vector<onnx::Tensor> numbers() {
    return {floats("half", {}, {0.5F}),        floats("one", {}, {1}),     floats("two", {}, {2}),
            floats("root", {}, {1.41421354F}), floats("eps", {}, {1e-5F}), floats("w", {4}, {1, 2, 3, 4}),
            floats("b", {4}, {0, 1, 0, 1}),    ints("last", {-1})};
  }
};

std::vector<onnx::Node> layer_norm_nodes() {
  return {{"ReduceMean", {"x"}, {"m"}, {{"axes", Ints{-1}}}},
          {"Sub", {"x", "m"}, {"d"}},
          {"Pow", {"d", "two"}, {"s"}},
          {"ReduceMean", {"s"}, {"v"}, {{"axes", Ints{-1}}}},
          {"Add", {"v", "eps"}, {"e"}},
          {"Sqrt", {"e"}, {"r"}},
          {"Div", {"d", "r"}, {"n"}},
          {"Mul", {"n", "w"}, {"t"}},
          {"Add", {"t", "b"}, {"y"}}};
}

TEST_F(OnnxPatterns, LayerNormThatIsWrittenOut) {
  EXPECT_EQ(layers_of(rows(layer_norm_nodes(), numbers())), "layer_norm");
  std::vector<onnx::Node> nodes = layer_norm_nodes();
  nodes[2] = {"Mul", {"d", "d"}, {"s"}};
  EXPECT_EQ(layers_of(rows(nodes, numbers())), "layer_norm") << "by a product instead of a power";
  nodes[3].attributes = {{"axes", Ints{1}}};
  EXPECT_EQ(layers_of(rows(nodes, numbers())).find("layer_norm"), std::string::npos) << "another axis";
  nodes = layer_norm_nodes();
  nodes[6].inputs[0] = "x";
  EXPECT_EQ(layers_of(rows(nodes, numbers())).find("_norm"), std::string::npos) << "x itself over its deviation";
}

TEST_F(OnnxPatterns, RmsNormThatIsWrittenOut) {
  const std::vector<onnx::Node> nodes = {
      {"Pow", {"x", "two"}, {"s"}}, {"ReduceMean", {"s"}, {"v"}, {{"axes", Ints{-1}}}},
      {"Add", {"v", "eps"}, {"e"}}, {"Sqrt", {"e"}, {"r"}},
      {"Reciprocal", {"r"}, {"i"}}, {"Mul", {"x", "i"}, {"n"}},
      {"Mul", {"w", "n"}, {"y"}}};
  EXPECT_EQ(layers_of(rows(nodes, numbers())), "rms_norm");
}

TEST_F(OnnxPatterns, ActivationsThatAreWrittenOut) {
  std::vector<onnx::Node> nodes = {{"Div", {"x", "root"}, {"q"}},
                                   {"Erf", {"q"}, {"e"}},
                                   {"Add", {"e", "one"}, {"a"}},
                                   {"Mul", {"x", "a"}, {"p"}},
                                   {"Mul", {"p", "half"}, {"y"}}};
  EXPECT_EQ(layers_of(rows(nodes, numbers())), "gelu");
  nodes[4].inputs[1] = "two";
  EXPECT_EQ(layers_of(rows(nodes, numbers())).find("gelu"), std::string::npos) << "twice, instead of half of it";
  EXPECT_EQ(layers_of(rows({{"Sigmoid", {"x"}, {"s"}}, {"Mul", {"s", "x"}, {"y"}}}, {})), "silu");
  EXPECT_EQ(layers_of(rows({{"Sigmoid", {"x"}, {"s"}}, {"Mul", {"s", "s"}, {"y"}}}, {})), "sigmoid mul");
}

/// Two heads of two, with what is to stand between the scores and softmax.
std::vector<onnx::Node> attention_nodes(const std::vector<onnx::Node>& between, const std::string& scores) {
  std::vector<onnx::Node> nodes = {{"Reshape", {"x", "to"}, {"h"}},
                                   {"Transpose", {"h"}, {"q"}, {{"perm", Ints{0, 2, 1, 3}}}},
                                   {"Transpose", {"h"}, {"k"}, {{"perm", Ints{0, 2, 3, 1}}}},
                                   {"MatMul", {"q", "k"}, {"s"}}};
  nodes.insert(nodes.end(), between.begin(), between.end());
  nodes.push_back({"Softmax", {scores}, {"p"}, {{"axis", std::int64_t{-1}}}});
  nodes.push_back({"MatMul", {"p", "q"}, {"o"}});
  nodes.push_back({"Transpose", {"o"}, {"t"}, {{"perm", Ints{0, 2, 1, 3}}}});
  nodes.push_back({"Reshape", {"t", "back"}, {"y"}});
  return nodes;
}

TEST_F(OnnxPatterns, AttentionThatIsWrittenOut) {
  const float no = -1e9F;
  std::vector<onnx::Tensor> tensors = {ints("to", {0, 3, 2, 2}), ints("back", {0, 3, 4}),
                                       floats("root", {}, {0.70710678F}),
                                       floats("causal", {1, 1, 3, 3}, {0, no, no, 0, 0, no, 0, 0, 0}),
                                       floats("mask", {3, 3}, {0, 0, no, 0, 0, no, 0, 1, 0})};
  const auto said = [&](const std::vector<onnx::Node>& between, const std::string& scores) {
    const std::string kinds = layers_of(rows(attention_nodes(between, scores), tensors));
    return kinds + ": " + bytes_in(path("n.json"));
  };
  const onnx::Node scaled = {"Mul", {"s", "root"}, {"c"}};
  EXPECT_TRUE(said({scaled}, "c").starts_with("attention: ")) << said({scaled}, "c");
  EXPECT_EQ(said({scaled}, "c").find("\"scale\""), std::string::npos) << "1 / sqrt(2) is what attention has";
  EXPECT_NE(said({}, "s").find("\"scale\": 1.0"), std::string::npos);
  const std::string causal = said({scaled, {"Add", {"c", "causal"}, {"m"}}}, "m");
  EXPECT_TRUE(causal.starts_with("attention: ")) << causal;
  EXPECT_NE(causal.find("\"causal\": true"), std::string::npos);
  EXPECT_EQ(causal.find("\"mask\""), std::string::npos);
  const std::string masked = said({scaled, {"Add", {"c", "mask"}, {"m"}}}, "m");
  EXPECT_TRUE(masked.starts_with("parameter attention: ")) << masked;
  EXPECT_NE(masked.find("\"mask\": true"), std::string::npos);
  EXPECT_EQ(masked.find("\"causal\""), std::string::npos);
  std::vector<onnx::Node> along_rows = attention_nodes({scaled}, "c");
  for (onnx::Node& node : along_rows)
    if (node.type == "Softmax") node.attributes = {{"axis", std::int64_t{2}}};
  std::filesystem::remove(path("n.json"));
  EXPECT_NE(error_of(rows(along_rows, tensors)).find("its softmax is along another axis than the keys"),
            std::string::npos);
  EXPECT_EQ(layers_of(rows(attention_nodes({{"Relu", {"s"}, {"c"}}}, "c"), tensors)).find("attention"),
            std::string::npos);
}

/// A channel shuffle: reshapes and transposes are read, not made, until a convolution needs images.
TEST_F(OnnxPatterns, OrderOfAxesIsMadeOnce) {
  onnx::Model model = rows({{"Reshape", {"x", "to"}, {"g"}},
                            {"Transpose", {"g"}, {"t"}, {{"perm", Ints{0, 2, 1, 3, 4}}}},
                            {"Reshape", {"t", "back"}, {"i"}},
                            {"Conv", {"i", "k"}, {"y"}, {{"kernel_shape", Ints{1, 1}}}}},
                           {ints("to", {-1, 2, 3, 5, 5}), ints("back", {-1, 6, 5, 5}),
                            floats("k", {2, 6, 1, 1}, std::vector<float>(12, 1))});
  model.inputs[0].shape = {std::string("batch"), 6, 5, 5};
  model.outputs[0].shape = {std::string("batch"), 2, 5, 5};
  EXPECT_EQ(layers_of(model), "reshape transpose reshape conv");
  model.nodes = {{"Transpose", {"x"}, {"t"}, {{"perm", Ints{0, 2, 3, 1}}}},
                 {"MatMul", {"t", "w"}, {"m"}},
                 {"Transpose", {"m"}, {"y"}, {{"perm", Ints{0, 3, 1, 2}}}}};
  model.tensors = {floats("w", {6, 2}, std::vector<float>(12, 1))};
  EXPECT_EQ(layers_of(model), "fc") << "channels lie last here";
}

TEST_F(OnnxPatterns, GraphsAreCutAndSizesBound) {
  onnx::Model model = rows({{"Relu", {"x"}, {"r"}}, {"Unheard", {"r"}, {"y"}}}, {});
  EXPECT_NE(error_of(model).find("Unheard 'Unheard_1': no Unheard is read"), std::string::npos);
  model.inputs[0].shape[1] = std::string("steps");
  EXPECT_NE(import(written(model), {"--outputs", "r"}).err.find("--bind says one, as steps=128"), std::string::npos)
      << import(written(model), {"--outputs", "r"}).err;
  EXPECT_EQ(layers_of(model, {"--outputs", "r", "--bind", "steps=5", "--loss", "none"}), "relu");
  EXPECT_NE(bytes_in(path("n.json")).find('5'), std::string::npos);
  EXPECT_NE(import(written(model), {"--outputs", "q"}).err.find("no node makes 'q'"), std::string::npos);
  EXPECT_EQ(import(written(model), {"--bind", "steps"}).code, 2);
}

/// Each sample beside each other one is no network of samples.
TEST_F(OnnxPatterns, NothingIsComputedAcrossTheBatch) {
  const onnx::Model model = rows({{"ReduceSum", {"x", "axes"}, {"s"}, {{"keepdims", std::int64_t{0}}}},
                                  {"Unsqueeze", {"s", "second"}, {"a"}},
                                  {"Unsqueeze", {"s", "first"}, {"b"}},
                                  {"Sub", {"a", "b"}, {"y"}}},
                                 {ints("axes", {1, 2}), ints("first", {0}), ints("second", {1})});
  EXPECT_NE(error_of(model).find("across the batch is not read"), std::string::npos) << error_of(model);
}

/// Without a batch all axes are a sample's.
TEST_F(OnnxPatterns, WhatHasNoBatchIsOneSample) {
  const onnx::Model model = {.name = "m",
                             .nodes = {{"ReduceMax", {"x"}, {"y"}, {{"axes", Ints{0}}, {"keepdims", std::int64_t{0}}}}},
                             .inputs = {{"x", onnx::Type::f32, {3, 4}}},
                             .outputs = {{"y", onnx::Type::f32, {4}}}};
  EXPECT_NE(error_of(model).find("over the batch is not read"), std::string::npos);
  EXPECT_EQ(layers_of(model, {"--no-batch", "--loss", "none"}), "reduce_max");
}

/// Nothing to plan is planned.
TEST_F(OnnxPatterns, AnOutputMayBeAnInput) {
  const onnx::Model model = rows({{"Identity", {"x"}, {"y"}}}, {});
  EXPECT_EQ(layers_of(model, {"--loss", "none"}), "scale") << "a copy: a network computes something";
  EXPECT_EQ(run_train({"plan", "--model", path("n.json"), "--batch", "2", "--eval"}).code, 0);
}

/// Any command takes a model as a network, and its weights with it.
TEST_F(OnnxPatterns, AModelIsANetwork) {
  const std::string file = written(perceptron());
  EXPECT_EQ(run_train({"plan", "--model", file, "--batch", "4"}).code, 0);
  EXPECT_EQ(run_train({"show", "--model", file}).code, 0);
  const Ended ended = run_train({"export", "--model", file, "--output", path("w.safetensors"), "--names", "onnx"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(bytes_in(path("w.safetensors")).find("\"w\""), std::string::npos) << "under the model's own name";
  EXPECT_EQ(run_train({"plan", "--model", path("none.onnx")}).code, 4);
}

}  // namespace
}  // namespace lethe::testing
