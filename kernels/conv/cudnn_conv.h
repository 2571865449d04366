// Convolutions as graphs of cuDNN.
#pragma once
#include "kernels/conv/conv.h"
#include "kernels/cuda/cudnn_graph.h"

namespace lethe {

/// The engine for one pass, its epilogue in the same graph. None if cuDNN has none; of epilogues it has those with a
/// bias.
std::optional<CudnnPlan> plan_conv(ConvPass pass, const ConvShape& shape, const Epilogue& epilogue, DType dtype,
                                   const DeviceInfo& device);

}  // namespace lethe
