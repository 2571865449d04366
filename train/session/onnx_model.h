// ONNX models of others, as networks and as files of weights.
#pragma once
#include <memory>

#include "models/network.h"
#include "onnx/importer.h"
#include "train/session/tensor_reader.h"

namespace lethe {

struct OnnxModel {
  NetworkFile file;
  onnx::Imported imported;
};

/// By its ending.
bool is_onnx(const std::string& file);
/// Reads a model, and builds its network to hold each layer to what its node means. Fails with Exit::Data, naming the
/// file and the node.
OnnxModel read_onnx_model(const std::string& file, const onnx::ImportSetting& setting = {});
/// Its weights under the names of the network's parameters, in f32.
std::unique_ptr<TensorReader> open_onnx(const std::string& file);

}  // namespace lethe
