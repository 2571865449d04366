// An ONNX model of others as a network file of ours.
#pragma once
#include <nlohmann/json.hpp>

#include "onnx/read_model.h"

namespace lethe::onnx {

struct Imported {
  nlohmann::ordered_json network;            // a network file (docs/reference/network-format.md)
  std::vector<NamedTensor> weights = {};     // f32, laid out as PyTorch's, under the names of our parameters
  std::map<std::string, Shape> shapes = {};  // of a sample, by layer, as the model's nodes mean them
  std::vector<std::string> notes = {};       // what whoever trains it should know
};

/// `loss`: "cross_entropy" adds labels and that on the first output, which then is without a softmax; "mse" targets of
/// its shape; "": none. Fails (Exit::Data) for what cannot be said, by node and op.
Imported imported(ReadModel model, const std::string& loss);

}  // namespace lethe::onnx
