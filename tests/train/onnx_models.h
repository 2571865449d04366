// Small ONNX models for tests of `train import`.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "onnx/model.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {

/// A tensor of zeros.
inline onnx::Tensor tensor_of(const std::string& name, const Shape& shape) {
  onnx::Tensor tensor{name, onnx::Type::f32, shape, {}};
  tensor.write = [bytes = tensor.bytes()](const onnx::Sink& to) {
    const std::string data(static_cast<std::size_t>(bytes), '\0');
    to(data.data(), bytes);
  };
  return tensor;
}

/// y = x * w^T with 4 inputs and 3 outputs.
inline onnx::Model perceptron() {
  return {.name = "m",
          .nodes = {{"Gemm", {"x", "w"}, {"y"}, {{"transB", std::int64_t{1}}}}},
          .tensors = {tensor_of("w", {3, 4})},
          .inputs = {{"x", onnx::Type::f32, {std::string("batch"), 4}}},
          .outputs = {{"y", onnx::Type::f32, {std::string("batch"), 3}}}};
}

class OnnxImportTest : public RunTest {
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
};

}  // namespace lethe::testing
