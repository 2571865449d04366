// Weights as libraries store them: one file, or several with an index, which says by name in which each tensor is:
//
//   {"metadata": {...}, "weight_map": {"h.0.ln_1.bias": "model-00001-of-00002.safetensors", ...}}
#pragma once
#include <memory>
#include <string>

#include "train/session/tensor_reader.h"

namespace lethe {

/// The file of weights in a folder as Hugging Face has them: model.safetensors, else model.safetensors.index.json; ""
/// if there is none.
std::string library_weights_in(const std::string& directory);
/// Why that is so, for a message: what else is there.
std::string why_no_weights(const std::string& directory);

/// Opens a safetensors file, or the index of several (".index.json"), or a GGUF file, of which headers alone are read:
/// a tensor is read when it is asked for; or an ONNX model, which is read as a whole. Fails with Exit::Data, naming the
/// file, unless the index names exactly the tensors that its files have, each in its own; they must stand beside it.
std::unique_ptr<TensorReader> open_weights(const std::string& file);

}  // namespace lethe
