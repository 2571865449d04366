// A network and its weights as an ONNX file.
#pragma once
#include <optional>
#include <string>

#include "framework/builder/byte_images.h"
#include "framework/run/store.h"
#include "train/session/settings.h"

namespace lethe {

struct OnnxSetting {
  std::int64_t opset = 17;                   // 17 to 23; which of these decides on how some ops are said
  std::optional<DType> dtype = {};           // of its floats; none: that of its parameters, f32 or f64
  std::vector<std::string> classes = {};     // what labels mean, for whoever reads it
  std::optional<PixelNorm> preprocess = {};  // images are bytes, and normalised by the model
  std::string version = {};                  // of who writes it
};

/// Writes the network as evaluation computes it, from its inputs but labels to its logits, with the store's weights;
/// as a whole or not at all. The batch has no size. Where tensors take more than 1.9 GiB they stand in FILE.data.
/// Fails, saying where, for a network that ONNX cannot say (onnx/exporter.h).
void save_onnx(const std::string& file, const Store& store, const NetworkSetting& network, const OnnxSetting& setting);

}  // namespace lethe
