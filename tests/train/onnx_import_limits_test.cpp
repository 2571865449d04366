// What `train import` refuses of an ONNX model, and what it notes.
#include "tests/train/onnx_models.h"

namespace lethe::testing {
namespace {

class OnnxImportLimits : public OnnxImportTest {};

/// Rows of an image are in another order here: products know of it, for others a copy is made.
TEST_F(OnnxImportLimits, RowsOfAnImageAreTakenByProductsAsTheyAre) {
  onnx::Model model = perceptron();
  model.inputs[0].shape = {std::string("batch"), 2, 2, 1};
  model.nodes.insert(model.nodes.begin(), {"Flatten", {"x"}, {"f"}});
  model.nodes[1].inputs[0] = "f";
  EXPECT_EQ(import(written(model)).code, 0);
  model.nodes.insert(model.nodes.begin() + 1, {"Relu", {"f"}, {"r"}});
  model.nodes[2].inputs[0] = "r";
  EXPECT_EQ(import(written(model)).code, 0);
  EXPECT_EQ(bytes_in(path("n.json")).find("transpose"), std::string::npos);
  model.outputs[0] = {"r", onnx::Type::f32, {std::string("batch"), 4}};
  EXPECT_EQ(import(written(model)).code, 0);
  EXPECT_NE(bytes_in(path("n.json")).find("transpose"), std::string::npos);
}

/// A last window that begins after the image counts in ONNX's sizes and not in ours.
TEST_F(OnnxImportLimits, LayersGiveTheShapesThatTheModelMeans) {
  onnx::Model model = perceptron();
  model.inputs[0].shape = {std::string("batch"), 4, 3, 3};
  model.nodes = {{"MaxPool",
                  {"x"},
                  {"p"},
                  {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{3, 3}}, {"ceil_mode", std::int64_t{1}}}},
                 {"GlobalAveragePool", {"p"}, {"y"}}};
  model.tensors = {};
  EXPECT_NE(error_of(model).find("layer 'p' gives [2,1,1,4] for 2 samples, in the file [4,2,2] each"),
            std::string::npos)
      << error_of(model);
  model.inputs[0].shape = {std::string("batch"), 4, 5, 5};
  EXPECT_EQ(import(written(model)).code, 0) << "here the last window begins within the image";
}

TEST_F(OnnxImportLimits, NotesWhatBecomesAnotherThing) {
  onnx::Model model = perceptron();
  model.nodes.push_back({"Gemm", {"x", "w"}, {"again"}, {{"transB", std::int64_t{1}}}});
  model.nodes.push_back({"Add", {"y", "again"}, {"both"}});
  model.nodes.push_back({"Mul", {"both", "s"}, {"z"}});
  model.tensors.push_back(tensor_of("s", {3}));
  model.outputs = {{"z", onnx::Type::f32, {std::string("batch"), 3}},
                   {"again", onnx::Type::f32, {std::string("batch"), 3}}};
  const std::string said = import(written(model)).err;
  for (const char* const note :
       {"are learned tensors here: 1", "weight 'w' is read by 2 nodes", "outputs after the first are left out"})
    EXPECT_NE(said.find(note), std::string::npos) << said;
}

TEST_F(OnnxImportLimits, AnInputThatNothingReadsIsNoMatter) {
  onnx::Model model = perceptron();
  model.inputs.insert(model.inputs.begin(), {"unread", onnx::Type::f32, {}});
  model.inputs[1].shape = {2, 1, 2, 2};
  model.nodes.insert(model.nodes.begin(), {"Reshape", {"x", "to"}, {"r"}});
  model.nodes[1].inputs[0] = "r";
  const auto reshaped_to = [&](Ints to) {
    model.tensors = {tensor_of("w", {3, 4}), {"to", onnx::Type::i64, {std::ssize(to)}, [to](const onnx::Sink& sink) {
                                                sink(to.data(), std::ssize(to) * std::int64_t{sizeof(std::int64_t)});
                                              }}};
    return import(written(model)).code;
  };
  EXPECT_EQ(reshaped_to({2, 4}), 0) << "2 is the batch that the file states";
  EXPECT_EQ(reshaped_to({-1, 4}), 0);
  EXPECT_EQ(reshaped_to({8, 1}), 4);
}

TEST_F(OnnxImportLimits, SaysWhatItDoesNotRead) {
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
  EXPECT_NE(error_of(model).find("its input is [] a sample, expected a matrix"), std::string::npos);
  model.inputs[0].shape.clear();
  EXPECT_NE(error_of(model).find("input 'x' has no axes, not even the batch"), std::string::npos);
  model = perceptron();
  model.nodes[0].inputs = {};
  EXPECT_NE(error_of(model).find("no node reads an input"), std::string::npos);
  model = perceptron();
  model.nodes[0].outputs = {};
  EXPECT_NE(error_of(model).find("has no output"), std::string::npos);
  model = perceptron();
  model.nodes.insert(model.nodes.begin(), {"Cast", {"x"}, {"i"}, {{"to", std::int64_t{7}}}});
  model.nodes[1].inputs[0] = "i";
  EXPECT_NE(error_of(model).find("of numbers that are no floats"), std::string::npos);
  std::ofstream(path("text.onnx")) << "these are no bytes of a model";
  EXPECT_EQ(import(path("text.onnx")).code, 4);
  EXPECT_EQ(import(path("none.onnx")).code, 4);
  EXPECT_EQ(run_train({"import", path("text.onnx"), "--output", path("n.txt")}).code, 2);
}

/// Data beside the model, and nowhere else.
TEST_F(OnnxImportLimits, ReadsDataInItsFolderAlone) {
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
