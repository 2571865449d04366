// Convolutions as graphs of cuDNN.
#pragma once
#include "kernels/conv/conv.h"
#include "kernels/cuda/cudnn_engines.h"

namespace lethe {

/// One pass, its epilogue in the same graph, by the best engine. None if cuDNN has no engine; of epilogues it has those
/// with a bias, and with a relu if the engine keeps NaN.
std::optional<CudnnPlan> plan_conv(ConvPass pass, const ConvShape& shape, const Epilogue& epilogue, DType dtype,
                                   const DeviceInfo& device);

}  // namespace lethe
