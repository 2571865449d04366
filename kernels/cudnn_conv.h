// Convolutions as graphs of cuDNN.
#pragma once
#include "kernels/conv.h"
#include "kernels/cudnn_graph.h"

namespace lethe {

/// The engine for one pass; with `bias` the forward pass and the addition in one. None if cuDNN has none.
std::optional<CudnnPlan> plan_conv(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                   const DeviceInfo& device);

}  // namespace lethe
