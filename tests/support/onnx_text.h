// An ONNX model as text, read by its bytes alone: what onnx/ writes is not what reads it here.
#pragma once
#include <string>

namespace lethe::testing {

/// Lines: versions and metadata; inputs, outputs and values with their shapes; tensors with their shapes and how
/// many bytes they have, or where these stand; nodes as `y = Type(a, b) {name=value}`. Fails for bytes that are no such
/// message.
std::string onnx_text(const std::string& bytes);
/// The bytes of one of its tensors.
std::string onnx_tensor(const std::string& bytes, const std::string& name);

}  // namespace lethe::testing
