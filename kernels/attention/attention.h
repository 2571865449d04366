// Attention on a CPU, in tiles of rows and keys.
#pragma once
#include <memory>

#include "kernels/attention/heads.h"

namespace lethe {

/// Inputs q, k, v, lengths, step, positions, mask; outputs y, lse.
std::unique_ptr<Kernel> prepare_attention_cpu(const AttentionShape& shape, DType dtype, int threads);
/// Inputs q, k, v, lengths, step, positions, mask, y, lse, dy; outputs dq, dk, dv.
std::unique_ptr<Kernel> prepare_attention_grad_cpu(const AttentionShape& shape, DType dtype, int threads);
/// The same inputs; output the gradient of the mask, in f32 if `wide`.
std::unique_ptr<Kernel> prepare_mask_grad_cpu(const AttentionShape& shape, DType dtype, bool wide, int threads);
/// The first two of bf16 by AMX's tiles, or, slowly, by what stands for them. Shares and their gradients are rounded to
/// bf16 before they are multiplied.
std::unique_ptr<Kernel> prepare_attention_on_tiles(const AttentionShape& shape, int threads);
std::unique_ptr<Kernel> prepare_attention_grad_on_tiles(const AttentionShape& shape, int threads);

}  // namespace lethe
