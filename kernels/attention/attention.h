// Attention on a CPU, in tiles of rows and keys.
#pragma once
#include <memory>

#include "kernels/attention/heads.h"

namespace lethe {

/// Inputs q, k, v, lengths, step, positions; outputs y, lse.
std::unique_ptr<Kernel> prepare_attention_cpu(const AttentionShape& shape, DType dtype, int threads);
/// Inputs q, k, v, lengths, step, positions, y, lse, dy; outputs dq, dk, dv.
std::unique_ptr<Kernel> prepare_attention_grad_cpu(const AttentionShape& shape, DType dtype, int threads);

}  // namespace lethe
