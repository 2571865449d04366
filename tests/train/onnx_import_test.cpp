// ONNX models of others as network files. That they compute what onnxruntime computes is held by
// tests/onnx/check_import.py.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/train/onnx_models.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

class OnnxImport : public OnnxImportTest {
 protected:
  /// Writes the tensors with other numbers in each, so that none stands for another.
  static void each_its_own(const std::string& from, const std::string& to) {
    SafetensorsReader reader(from);
    SafetensorsWriter writer(to, reader.tensors());
    float next = 1;
    for (const TensorEntry& tensor : reader.tensors()) {
      std::vector<float> values(static_cast<std::size_t>(elements(tensor.shape)));
      for (float& value : values) value = next += 0.25F;
      std::vector<std::byte> bytes(values.size() * sizeof(float));
      std::memcpy(bytes.data(), values.data(), bytes.size());
      writer.write(bytes);
    }
    writer.finish();
  }
  /// Ops of evaluation with their attributes and the shapes of what they make, without names.
  static std::string ops_of(const std::string& network, const std::vector<std::string>& sets) {
    std::vector<std::string> args = {"show", "--model", network, "--eval", "--batch", "2", "--format", "json"};
    for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto program = nlohmann::json::parse(ended.out);
    std::map<std::string, std::string> shapes;
    for (const auto& var : program["vars"]) shapes[var["name"]] = var["shape"].dump();
    std::ostringstream text;
    for (const auto& op : program["blocks"][0]["ops"]) {
      text << op["type"].get<std::string>() << ' ' << op["attrs"].dump();
      for (const auto& out : op["out"]) text << ' ' << shapes[out.is_null() ? "" : out.get<std::string>()];
      text << '\n';
    }
    return text.str();
  }
};

/// An image times a gate of its channels, as squeeze and excitation has it.
constexpr const char* kGated = R"({
  "version": 1, "name": "gated",
  "inputs": {"image": {"shape": [3, 6, 6]}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "conv", "out": 8, "k": 3, "name": "a"}, {"op": "global_avg_pool"},
             {"op": "fc", "out": 8, "name": "b"}, {"op": "sigmoid"},
             {"op": "reshape", "shape": [8, 1, 1], "layout": "image", "name": "gate"},
             {"op": "mul", "in": ["a", "gate"]}, {"op": "leaky_relu", "slope": 0.2},
             {"op": "avg_pool", "k": 3, "stride": 2, "pad": 1, "count_include_pad": false},
             {"op": "conv_transpose", "out": 4, "k": 2, "stride": 2}, {"op": "fc", "out": 5, "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}]
})";

/// Layers that other libraries' networks have.
constexpr const char* kOfOthers = R"({
  "version": 1, "name": "others",
  "inputs": {"image": {"shape": [4, 9, 9]}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "conv", "out": 4, "k": 3}, {"op": "hard_swish"}, {"op": "group_norm", "groups": 2},
             {"op": "max_pool", "k": 3, "stride": 1, "pad": 1, "dilation": 2}, {"op": "elu", "alpha": 0.5},
             {"op": "selu", "alpha": 1.5, "gamma": 1.25}, {"op": "celu", "alpha": 0.5}, {"op": "prelu"},
             {"op": "hard_sigmoid", "alpha": 0.25, "beta": 0.5}, {"op": "pow", "exponent": 3},
             {"op": "shrink", "bias": 0.5, "lambd": 0.5}, {"op": "pad", "pad": [1, 0], "after": [0, 2]},
             {"op": "atan"}, {"op": "softsign"}, {"op": "fc", "out": 5, "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}]
})";

/// What we export comes back as the same program with the same weights.
TEST_F(OnnxImport, GivesBackOurOwn) {
  std::ofstream(path("gated.json")) << kGated;
  std::ofstream(path("others.json")) << kOfOthers;
  const std::vector<std::pair<std::string, std::vector<std::string>>> networks = {
      {"lenet", {}},
      {"mlp", {}},
      {"resnet20", {}},
      {"unet", {}},
      {"googlenet", {"size=64", "classes=7"}},
      {path("gated.json"), {}},
      {path("others.json"), {}}};
  for (const auto& [name, sets] : networks) {
    SCOPED_TRACE(name);
    std::vector<std::string> of = {"--model", name};
    for (const std::string& set : sets) of.insert(of.end(), {"--set", set});
    const auto exported = [&](const std::string& file, std::vector<std::string> more) {
      more.insert(more.begin(), {"export", "--output", file});
      more.insert(more.end(), of.begin(), of.end());
      const Ended ended = run_train(more);
      ASSERT_EQ(ended.code, 0) << ended.err;
    };
    exported(path("initial.safetensors"), {});
    each_its_own(path("initial.safetensors"), path("w.safetensors"));
    exported(path("m.onnx"), {"--weights", path("w.safetensors")});
    const Ended ended = import(path("m.onnx"));
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ops_of(path("n.json"), {}), ops_of(name, sets));
    SafetensorsReader ours(path("w.safetensors")), back(path("n.safetensors"));
    EXPECT_EQ(ours.tensors().size(), back.tensors().size());
    for (const TensorEntry& tensor : ours.tensors()) {
      std::string other = tensor.name;
      std::ranges::replace(other, '/', '.');
      const TensorEntry* const found = back.find(other);
      ASSERT_NE(found, nullptr) << other;
      EXPECT_EQ(found->shape, tensor.shape) << other;
      EXPECT_TRUE(back.read(*found) == ours.read(tensor)) << other;
    }
    EXPECT_EQ(run_train({"export", "--model", path("n.json"), "--weights", path("n.safetensors"), "--output",
                         path("again.safetensors")})
                  .code,
              0);
  }
}

TEST_F(OnnxImport, TakesTheLossThatIsAskedFor) {
  const std::string file = written(perceptron());
  ASSERT_EQ(import(file).code, 0);
  EXPECT_NE(bytes_in(path("n.json")).find("\"op\": \"cross_entropy\""), std::string::npos);
  ASSERT_EQ(import(file, {"--loss", "mse"}).code, 0);
  EXPECT_EQ(run_train({"plan", "--model", path("n.json"), "--batch", "4"}).code, 0);
  ASSERT_EQ(import(file, {"--loss", "none"}).code, 0);
  EXPECT_EQ(bytes_in(path("n.json")).find("loss"), std::string::npos);
}

TEST_F(OnnxImport, ASoftmaxAtTheEndIsLeftToTheLoss) {
  onnx::Model model = perceptron();
  model.nodes.push_back({"Softmax", {"y"}, {"z"}});
  model.outputs[0].name = "z";
  const Ended ended = import(written(model));
  EXPECT_NE(ended.err.find("note: the softmax at the end is left out"), std::string::npos) << ended.err;
  EXPECT_EQ(bytes_in(path("n.json")).find("softmax"), std::string::npos);
}

TEST_F(OnnxImport, ScalesAndTurnsProducts) {
  onnx::Model model = perceptron();
  const auto counted = [](const std::string& name, const Shape& shape) {
    onnx::Tensor tensor = tensor_of(name, shape);
    tensor.write = [count = tensor.bytes() / 4](const onnx::Sink& to) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<float>(i);
        to(&value, sizeof value);
      }
    };
    return tensor;
  };
  const auto numbers_of = [&](const std::string& name) {
    SafetensorsReader reader(path("n.safetensors"));
    const std::vector<std::byte> bytes = reader.read(*reader.find(name));
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  model.nodes = {{"Gemm", {"x", "w", "b"}, {"y"}, {{"alpha", 2.0F}, {"beta", 0.5F}}}};
  model.tensors = {counted("w", {4, 3}), counted("b", {1, 3})};
  ASSERT_EQ(import(written(model)).code, 0);
  EXPECT_EQ(numbers_of("y.weight"), (std::vector<float>{0, 6, 12, 18, 2, 8, 14, 20, 4, 10, 16, 22}));
  EXPECT_EQ(numbers_of("y.bias"), (std::vector<float>{0, 0.5F, 1}));
  model.nodes = {{"MatMul", {"x", "w"}, {"m"}}, {"Add", {"b", "m"}, {"y"}}};
  model.tensors[1] = counted("b", {3});
  ASSERT_EQ(import(written(model)).code, 0);
  EXPECT_EQ(numbers_of("m.weight"), (std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_EQ(numbers_of("m.bias"), (std::vector<float>{0, 1, 2}));
}

}  // namespace
}  // namespace lethe::testing
