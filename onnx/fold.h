// What a node gives whose inputs are all constants.
#pragma once
#include "onnx/read_model.h"

namespace lethe::onnx {

/// The places that a Slice takes of an axis of that size, in its order.
Ints sliced(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step, const std::string& what);

/// The outputs of a node of constants alone; none for an op that is not computed here. An absent input is null. Axes
/// of a multiple of `samples` keep size 1, where the model leaves the number of samples open; it is 0 where it does
/// not.
std::vector<ReadTensor> folded(const ReadNode& node, const std::vector<const ReadTensor*>& in, std::int64_t samples);

}  // namespace lethe::onnx
