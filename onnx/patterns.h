// What exporters write out in many nodes, and what is one layer: recognised before nodes become layers.
#pragma once
#include "onnx/constants.h"

namespace lethe::onnx {

/// Softmax of a product, with what is added to it, times another: inputs q, the keys transposed, v and, if there is
/// one, the mask; attributes scale and dropout.
inline const char* const kFoundAttention = "lethe.Attention";

/// Puts LayerNormalization, RMSNormalization, Gelu, Swish, HardSwish and attention in place of the nodes that say them,
/// and folds the constants that follow from the file alone. `outputs`: what must stay.
void recognise(std::vector<ReadNode>& nodes, Constants& constants, const std::vector<ValueInfo>& outputs,
               std::int64_t opset);

}  // namespace lethe::onnx
