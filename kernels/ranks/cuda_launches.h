// Sums of ranks on a GPU, as a plain function: nvcc reads its source, the C++ compiler whoever calls it.
#pragma once
#include "kernels/ranks/sum.h"

namespace lethe {

/// Adds up along the tree as fold_on_host() does, to the same bits, on the stream.
void launch_fold(void* stream, const Partials& partials);

}  // namespace lethe
