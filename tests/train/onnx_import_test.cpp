// ONNX models of others as network files. That they compute what onnxruntime computes is held by
// tests/onnx/check_import.py.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "onnx/model.h"
#include "tests/train/run_fixture.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

onnx::Tensor tensor_of(const std::string& name, const Shape& shape) {
  onnx::Tensor tensor{name, onnx::Type::f32, shape, {}};
  tensor.write = [bytes = tensor.bytes()](const onnx::Sink& to) {
    const std::string data(static_cast<std::size_t>(bytes), '\0');
    to(data.data(), bytes);
  };
  return tensor;
}

class OnnxImport : public RunTest {
 protected:
  Ended import(const std::string& file, std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"import", file, "--output", path("n.json")};
    args.insert(args.end(), more.begin(), more.end());
    return run_train(args);
  }
  std::string written(const onnx::Model& model) const {
    std::ofstream out(path("m.onnx"), std::ios::binary);
    onnx::write_model(
        model, "1", [&](const void* data, std::int64_t count) { out.write(static_cast<const char*>(data), count); },
        nullptr);
    return path("m.onnx");
  }
  /// Of a model that is read to its end.
  std::string error_of(const onnx::Model& model) const {
    const Ended ended = import(written(model));
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(path("n.json")));
    return ended.err;
  }
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

onnx::Model perceptron() {
  return {.name = "m",
          .nodes = {{"Gemm", {"x", "w"}, {"y"}, {{"transB", std::int64_t{1}}}}},
          .tensors = {tensor_of("w", {3, 4})},
          .inputs = {{"x", onnx::Type::f32, {std::string("batch"), 4}}},
          .outputs = {{"y", onnx::Type::f32, {std::string("batch"), 3}}}};
}

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

/// What we export comes back as the same program with the same weights.
TEST_F(OnnxImport, GivesBackOurOwn) {
  std::ofstream(path("gated.json")) << kGated;
  const std::vector<std::pair<std::string, std::vector<std::string>>> networks = {
      {"lenet", {}},           {"mlp", {}}, {"resnet20", {}}, {"unet", {}}, {"googlenet", {"size=64", "classes=7"}},
      {path("gated.json"), {}}};
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

/// Rows of an image are in another order here: what reads them must know.
TEST_F(OnnxImport, RowsOfAnImageAreForProductsAlone) {
  onnx::Model model = perceptron();
  model.inputs[0].shape = {std::string("batch"), 2, 2, 1};
  model.nodes.insert(model.nodes.begin(), {"Flatten", {"x"}, {"f"}});
  model.nodes[1].inputs[0] = "f";
  EXPECT_EQ(import(written(model)).code, 0);
  model.nodes.insert(model.nodes.begin() + 1, {"Relu", {"f"}, {"r"}});
  model.nodes[2].inputs[0] = "r";
  EXPECT_EQ(import(written(model)).code, 0);
  std::filesystem::remove(path("n.json"));
  model.outputs.push_back({"r", onnx::Type::f32, {std::string("batch"), 4}});
  EXPECT_NE(error_of(model).find("makes rows of images [2,2,1], and something else than Gemm or MatMul reads them"),
            std::string::npos);
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

TEST_F(OnnxImport, SaysWhatItDoesNotRead) {
  onnx::Model model = perceptron();
  model.nodes[0].type = "Gem";
  EXPECT_NE(error_of(model).find("m.onnx: Gem 'Gem_0': no Gem is read; did you mean 'Gemm'?"), std::string::npos)
      << error_of(model);
  model = perceptron();
  model.tensors[0] = tensor_of("w", {3, 5});
  EXPECT_NE(error_of(model).find("Gemm 'Gemm_0': its input is [4] a sample, its weight [3,5]"), std::string::npos);
  model = perceptron();
  model.inputs[0].shape[1] = std::string("features");
  EXPECT_NE(error_of(model).find("input 'x': axis 1 has no size"), std::string::npos);
  model = perceptron();
  model.nodes[0].inputs[1] = "x";
  EXPECT_NE(error_of(model).find("its weight is no constant of the file"), std::string::npos);
  model = perceptron();
  model.opset = 24;
  EXPECT_NE(error_of(model).find("is of opset 24, opsets 7 to 23 are read"), std::string::npos);
  model = perceptron();
  model.outputs[0].name = "nothing";
  EXPECT_NE(error_of(model).find("output 'nothing' is made by no node"), std::string::npos);
  model = perceptron();
  model.inputs[0].shape.pop_back();
  EXPECT_NE(error_of(model).find("input 'x' has no axes but the batch"), std::string::npos);
  model = perceptron();
  model.nodes[0].inputs = {};
  EXPECT_NE(error_of(model).find("no node reads an input"), std::string::npos);
  model = perceptron();
  model.nodes[0].outputs = {};
  EXPECT_NE(error_of(model).find("has no output"), std::string::npos);
  model = perceptron();
  model.nodes.insert(model.nodes.begin(), {"Cast", {"x"}, {"i"}, {{"to", std::int64_t{7}}}});
  model.nodes[1].inputs[0] = "i";
  EXPECT_NE(error_of(model).find("changes numbers to another type"), std::string::npos);
  std::ofstream(path("text.onnx")) << "these are no bytes of a model";
  EXPECT_EQ(import(path("text.onnx")).code, 4);
  EXPECT_EQ(import(path("none.onnx")).code, 4);
  EXPECT_EQ(run_train({"import", path("text.onnx"), "--output", path("n.txt")}).code, 2);
}

/// Data beside the model, and nowhere else.
TEST_F(OnnxImport, ReadsDataInItsFolderAlone) {
  onnx::Model model = perceptron();
  model.tensors[0] = tensor_of("w", {300, 4});
  const auto write_with = [&](const std::string& name) {
    std::ofstream out(path("m.onnx"), std::ios::binary), data(path("m.data"), std::ios::binary);
    const auto into = [](std::ofstream& to) {
      return [&to](const void* bytes, std::int64_t count) { to.write(static_cast<const char*>(bytes), count); };
    };
    const onnx::ExternalData external{name, into(data)};
    onnx::write_model(model, "1", into(out), &external);
  };
  write_with("m.data");
  EXPECT_EQ(import(path("m.onnx")).code, 0);
  for (const char* const name : {"../m.data", "/etc/passwd", "..", ""}) {
    write_with(name);
    const Ended ended = import(path("m.onnx"));
    EXPECT_EQ(ended.code, 4) << name;
    EXPECT_NE(ended.err.find("no file beside the model"), std::string::npos) << ended.err;
  }
  write_with("m.data");
  std::filesystem::resize_file(path("m.data"), 100);
  EXPECT_NE(import(path("m.onnx")).err.find("its data end after"), std::string::npos);
}

}  // namespace
}  // namespace lethe::testing
