// ONNX models of networks. That others compute with them what we do is held by tests/onnx/check.py, where onnx and
// onnxruntime are; the texts in golden/onnx.txt are those of models that it found right.
#include <gtest/gtest.h>

#include <fstream>

#include "onnx/model.h"
#include "tests/support/onnx_text.h"
#include "tests/train/golden_file.h"
#include "tests/train/run_fixture.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

class OnnxExport : public RunTest {
 protected:
  /// The model's bytes.
  std::string exported(std::vector<std::string> args) const {
    args.insert(args.begin(), "export");
    args.insert(args.end(), {"--output", path("x.onnx")});
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return bytes_in(path("x.onnx"));
  }
  std::string error_of(int code, std::vector<std::string> args) const {
    args.insert(args.begin(), "export");
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    return ended.err;
  }
};

std::string without_values(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("value ", 0) != 0) kept += line + "\n";
  return kept;
}

TEST_F(OnnxExport, SaysNetworksAsOnnxruntimeFoundThemRight) {
  const std::vector<std::vector<std::string>> each = {
      {"lenet"}, {"unet"},        {"optnet/alexnet"},   {"mlp_mixer"},         {"resnet20"},
      {"table"}, {"transformer"}, {"bert", "layers=1"}, {"llama", "layers=1"}, {"vit_tiny", "layers=1"}};
  std::string all;
  const auto add = [&](const std::vector<std::string>& network, const char* opset) {
    std::vector<std::string> args = {"--model", network[0], "--opset", opset};
    if (network.size() > 1) args.insert(args.end(), {"--set", network[1]});
    all += without_values(onnx_text(exported(args))) + "\n";
  };
  for (const auto& network : each) add(network, "17");
  for (const char* const network : {"bert", "llama"}) add({network, "layers=1"}, "23");
  expect_golden("onnx.txt", all);
}

/// A file of weights has them as PyTorch does, which is ONNX's way as well.
TEST_F(OnnxExport, HasTheWeightsOfTheRun) {
  ASSERT_EQ(run_train(small({"--epochs", "1", "--save", path("run")})).code, 0);
  const std::string model = exported({"--weights", path("run")});
  ASSERT_EQ(run_train({"export", "--weights", path("run"), "--output", path("w.safetensors")}).code, 0);
  SafetensorsReader weights(path("w.safetensors"));
  int compared = 0;
  for (const TensorEntry& tensor : weights.tensors()) {
    if (tensor.shape.size() == 2) continue;  // a layer after an image has its columns in another order
    const std::vector<std::byte> bytes = weights.read(tensor);
    const std::string found = onnx_tensor(model, tensor.name);
    EXPECT_TRUE(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == found) << tensor.name;
    ++compared;
  }
  EXPECT_GT(compared, 4);
  EXPECT_NE(onnx_text(model).find("classes: ["), std::string::npos);
}

TEST_F(OnnxExport, MayNormaliseImagesItself) {
  ASSERT_EQ(run_train(small({"--steps", "1", "--save", path("run")})).code, 0);
  const std::string text = onnx_text(exported({"--weights", path("run"), "--preprocess"}));
  EXPECT_NE(text.find("input image u8[batch,"), std::string::npos) << text;
  EXPECT_NE(text.find("Cast(image)"), std::string::npos) << text;
  EXPECT_NE(
      error_of(2, {"--model", "lenet", "--preprocess", "--output", path("x.onnx")}).find("--preprocess: no run says"),
      std::string::npos);
}

TEST_F(OnnxExport, HasItsNumbersInTheTypeThatIsAskedFor) {
  for (const auto& [dtype, bytes] : {std::pair{"f16", 2}, {"bf16", 2}, {"f64", 8}}) {
    const std::string text = onnx_text(exported({"--model", "lenet", "--dtype", dtype, "--opset", "22"}));
    EXPECT_NE(text.find(message("input image ", dtype, "[batch,1,28,28]")), std::string::npos) << text;
    EXPECT_NE(text.find(message("tensor conv1.bias ", dtype, "[6] ", 6 * bytes, " bytes")), std::string::npos) << text;
  }
}

TEST_F(OnnxExport, RefusesWhatItCannotSayByName) {
  const auto refused = [&](std::vector<std::string> args, const std::string& why) {
    args.insert(args.end(), {"--output", path("no.onnx")});
    EXPECT_NE(error_of(2, args).find(why), std::string::npos) << error_of(2, args);
    EXPECT_FALSE(std::filesystem::exists(path("no.onnx")));
  };
  refused({"--model", "char_lstm"}, "is made by while: networks with loops or branches cannot be exported");
  refused({"--model", "early_exit"}, "is made by if: networks with loops or branches cannot be exported");
  refused({"--model", "lenet", "--format", "safetensors"}, "--format safetensors writes another format");
  refused({"--model", "lenet", "--opset", "24"}, "--opset: must be at most 23, not 24");
  refused({"--model", "lenet", "--dtype", "bf16"}, "before opset 22 most operators have no bf16");
  refused({"--model", "lenet", "--quantize", "nf4"}, "--quantize is for safetensors and GGUF");
  EXPECT_NE(error_of(2, {"--model", "lenet", "--format", "onnx", "--output", path("no.bin")}).find("end in .onnx"),
            std::string::npos);
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--preprocess"}, {"--opset", "17"}}) {
    std::vector<std::string> args = {"--model", "lenet", "--output", path("no.safetensors")};
    args.insert(args.end(), more.begin(), more.end());
    EXPECT_NE(error_of(2, args).find("are for --format onnx"), std::string::npos) << more[0];
  }
}

/// What is large stands in another file, at multiples of 64 KiB.
TEST(OnnxModel, MayHaveItsTensorsBesideIt) {
  const auto tensor = [](const std::string& name, std::int64_t count, char fill) {
    return onnx::Tensor{name, onnx::Type::u8, {count}, [=](const onnx::Sink& to) {
                          const std::string bytes(static_cast<std::size_t>(count), fill);
                          to(bytes.data(), count);
                        }};
  };
  onnx::Model model{.name = "m",
                    .tensors = {tensor("small", 3, 'a'), tensor("first", 5000, 'b'), tensor("second", 2000, 'c')}};
  std::string bytes, beside;
  const auto into = [](std::string& to) {
    return [&to](const void* data, std::int64_t count) { to.append(static_cast<const char*>(data), count); };
  };
  const onnx::ExternalData external{"m.data", into(beside)};
  onnx::write_model(model, "1", into(bytes), &external);
  const std::string text = onnx_text(bytes);
  EXPECT_NE(text.find("tensor small u8[3] 3 bytes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor first u8[5000] location=m.data offset=0 length=5000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor second u8[2000] location=m.data offset=65536 length=2000\n"), std::string::npos) << text;
  EXPECT_EQ(beside.size(), 65536U + 2000);
  EXPECT_EQ(beside[4999], 'b');
  EXPECT_EQ(beside[65536], 'c');
}

}  // namespace
}  // namespace lethe::testing
