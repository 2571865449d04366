// An ONNX model of others as a network file of ours.
#pragma once
#include <nlohmann/json.hpp>

#include "onnx/read_model.h"

namespace lethe::onnx {

struct ImportSetting {
  std::string loss = "cross_entropy";  // of labels on the first output, without its softmax; "mse" of targets; "": none
  std::vector<std::string> outputs = {};           // values where the graph is cut, in place of its outputs
  std::map<std::string, std::int64_t> sizes = {};  // of axes that have names
  bool in_samples = true;  // the first axis of each input is the batch; else a sample is all that goes through at once
};

/// A parameter and the tensor of the file that it was.
struct TensorOrigin {
  std::string param, tensor;
  bool transposed = false;
  Shape shape = {};  // of the tensor, where it is another
};

struct Imported {
  nlohmann::ordered_json network;            // a network file (docs/reference/network-format.md)
  std::vector<NamedTensor> weights = {};     // f32, laid out as PyTorch's, under the names of our parameters
  std::map<std::string, Shape> shapes = {};  // of a sample, by layer, as the model's nodes mean them
  std::vector<TensorOrigin> origins = {};    // of weights that are a tensor of the file as it is
  std::vector<std::string> notes = {};       // what whoever trains it should know
};

/// Fails (Exit::Data) for what cannot be said, by node and op.
Imported imported(ReadModel model, const ImportSetting& setting);

}  // namespace lethe::onnx
