// Which library computes convolutions and products.
#pragma once
#include <string>

#include "framework/program.h"

namespace lethe {

/// Best: for f32 Winograd where it serves, or a product; oneDNN where it is built in and has a fast way, for bf16 where
/// the processor multiplies that; else Eigen.
enum class Provider { Best, OneDnn, Eigen };

/// Whether oneDNN is built in.
bool has_onednn();
/// "2.6.3"; "" without it.
std::string onednn_version();
/// Whether `provider` means oneDNN for this dtype; fails if it is asked for by name and cannot serve.
bool uses_onednn(Provider provider, DType dtype);
/// Whether numbers of this dtype are multiplied as they are, by this processor and this build; else they are widened to
/// f32, piece by piece.
bool multiplies_on_cpu(DType dtype);
/// Whether convolutions of f32 take less time as three products of bf16: this processor multiplies tiles of bf16 (AMX).
bool is_fast_f32_faster();

}  // namespace lethe
