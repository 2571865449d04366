#include "train/session/onnx_model.h"

#include <filesystem>

#include "framework/error.h"

namespace lethe {
namespace {

/// Builds the network and holds it to what was read. Fails where a layer is not as its node was understood.
void check_builds(const OnnxModel& model, std::int64_t batch) {
  const Network network = load_network(model.file, {.batch = batch, .training = false});
  const Program& program = network.program;
  for (const onnx::NamedTensor& tensor : model.imported.weights) {
    const VarId var = find_var(program, tensor.name);
    check(var != kNone, "the network has no ", quote(tensor.name));
    const std::int64_t has = elements(program.vars[var].shape), wants = elements(tensor.tensor.shape);
    check(has == wants, quote(tensor.name), " is ", text_of(tensor.tensor.shape), " in the file, its layer takes ", has,
          " numbers");
  }
  for (const auto& [layer, shape] : model.imported.shapes) {
    VarId var = find_var(program, layer + ".y");
    for (int next = 2; var != kNone; ++next) {  // of several ops the last one gives it
      const VarId later = find_var(program, message(layer, ".y.", next));
      if (later == kNone) break;
      var = later;
    }
    if (var == kNone || program.vars[var].kind != Kind::Temp) continue;
    const Shape& made = program.vars[var].shape;
    const bool of_all = made.at(0) == 1 && elements(made) == elements(shape);  // such as positions
    check(of_all || elements(made) == batch * elements(shape), "layer ", quote(layer), " gives ", text_of(made),
          " for ", batch, " samples, in the file ", text_of(shape), " each");
  }
}

class OnnxTensors final : public TensorReader {
 public:
  explicit OnnxTensors(const std::string& file) : TensorReader(file) {
    for (onnx::NamedTensor& tensor : read_onnx_model(file).imported.weights) {
      tensors_.push_back({.name = tensor.name, .shape = tensor.tensor.shape});
      data_[tensor.name] = std::move(tensor.tensor.data);
    }
  }
  std::vector<std::byte> read(const TensorEntry& tensor) override { return data_.at(tensor.name); }

 private:
  std::map<std::string, std::vector<std::byte>> data_;
};

}  // namespace

bool is_onnx(const std::string& file) { return file.ends_with(".onnx"); }

OnnxModel read_onnx_model(const std::string& file, const onnx::ImportSetting& setting) {
  try {
    OnnxModel model{{}, onnx::imported(onnx::read_model(file), setting)};
    const std::string stem = std::filesystem::path(file).stem().string();
    model.file = {
        .name = stem + ".json",
        .text = model.imported.network.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n",
        .path = "the network"};
    check_builds(model, setting.in_samples ? 2 : 1);
    model.file.path = file;
    return model;
  } catch (const Error& error) {
    const std::string said = error.what();
    fail_as(Exit::Data, said.starts_with(file) ? said : message(file, ": ", said));
  }
}

std::unique_ptr<TensorReader> open_onnx(const std::string& file) { return std::make_unique<OnnxTensors>(file); }

}  // namespace lethe
