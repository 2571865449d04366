// A program as an ONNX model.
#pragma once
#include "onnx/emitter.h"

namespace lethe::onnx {

/// The ops that lead from the network's inputs to its prediction, or without one to its outputs; what evaluation adds
/// (losses, right answers) is left out. Fails for an op that cannot be said, by its name and that of what it makes.
Model exported(const ExportSource& source);

}  // namespace lethe::onnx
