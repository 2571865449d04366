#include "train/session/onnx_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "onnx/exporter.h"
#include "optimizer/averages.h"
#include "train/session/atomic_file.h"
#include "train/session/fed_data.h"
#include "train/session/number_blocks.h"
#include "train/session/programs.h"

namespace lethe {
namespace {

constexpr std::int64_t kBatch = 2, kOtherBatch = 3;        // two, so that shapes say what depends on it
constexpr std::int64_t kMostInModel = 1900LL * (1 << 20);  // protobuf's messages end at 2 GiB

onnx::Type onnx_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return onnx::Type::f64;
    case DType::f16:
      return onnx::Type::f16;
    case DType::bf16:
      return onnx::Type::bf16;
    default:
      return onnx::Type::f32;
  }
}

Network network_of(NetworkSetting setting, std::int64_t batch, const std::optional<PixelNorm>& preprocess) {
  setting.batch = batch, setting.logits = true;
  Network network = build_network(setting, false);
  if (preprocess) feed_bytes(network, fed_inputs(network).samples, *preprocess);
  return network;
}

/// The weight, or its average, which is what evaluation takes.
std::vector<std::byte> shown(const Store& store, const Var& var, DType dtype) {
  const std::string name = store.has(average_of(var.name)) ? average_of(var.name) : var.name;
  return is_float(var.dtype) || is_in_blocks(var.dtype) ? converted(store.read(name), var.dtype, dtype, var.shape)
                                                        : store.read(name);
}

std::vector<std::byte> rounded(const std::vector<double>& values, DType dtype) {
  std::vector<std::byte> bytes(values.size() * sizeof(double));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return converted(std::move(bytes), DType::f64, dtype, {std::ssize(values)});
}

onnx::Sink into(AtomicFile& file) {
  return [&file](const void* data, std::int64_t bytes) { file.write(data, bytes); };
}

}  // namespace

void save_onnx(const std::string& file, const Store& store, const NetworkSetting& setting, const OnnxSetting& how) {
  NetworkSetting of_parameters = setting;  // whose copies in 16 bits are no part of the model
  of_parameters.dtype = wide_of(setting.dtype);
  const Network network = network_of(of_parameters, kBatch, how.preprocess),
                other = network_of(of_parameters, kOtherBatch, how.preprocess);
  const DType dtype = how.dtype.value_or(of_parameters.dtype);
  check(dtype != DType::bf16 || how.opset >= 22, "ONNX: before opset 22 most operators have no bf16");
  onnx::Model model = onnx::exported({.network = network,
                                      .other_batch = other,
                                      .batch = kBatch,
                                      .type = onnx_type(dtype),
                                      .opset = how.opset,
                                      .read = [&](const Var& var) { return shown(store, var, dtype); },
                                      .rounded = [&](const auto& values) { return rounded(values, dtype); }});
  if (!how.classes.empty()) model.metadata.push_back({"classes", nlohmann::json(how.classes).dump()});
  AtomicFile to(file);
  if (onnx::bytes_of_tensors(model) <= kMostInModel) {
    onnx::write_model(model, how.version, into(to), nullptr);
  } else {
    AtomicFile data(file + ".data");
    const onnx::ExternalData external{std::filesystem::path(file).filename().string() + ".data", into(data)};
    onnx::write_model(model, how.version, into(to), &external);
    data.commit();
  }
  to.commit();
}

}  // namespace lethe
