// Which library computes convolutions and products.
#pragma once
#include <string>

#include "framework/language/program.h"

namespace lethe {

/// Best: what is fastest by rule (kernels/conv/conv.cpp, kernels/gemm/gemm.cpp). OneDnn serves f32, and bf16 where the
/// processor multiplies that.
enum class Provider { Best, OneDnn, Eigen };

/// Whether oneDNN is built in.
bool has_onednn();
/// "2.6.3"; "" without it.
std::string onednn_version();
/// Whether oneDNN is built in and can multiply numbers of this dtype as they are.
bool onednn_serves(DType dtype);
/// Whether `provider` means oneDNN for this dtype, which Best does not for bf16 where f32 is multiplied faster; fails
/// if oneDNN is asked for by name and cannot serve.
bool uses_onednn(Provider provider, DType dtype);
/// Whether Provider::Best multiplies numbers of this dtype as they are; else they are widened to f32, piece by piece.
/// Products and attention of bf16 need no oneDNN where there is AMX (kernels/cpu/bf16_units.h).
bool multiplies_on_cpu(DType dtype);
/// Whether oneDNN is built in and multiplies tiles of bf16 (AMX).
bool onednn_has_tiles();
/// Whether that code may be among what oneDNN chooses from: it is trusted with the shape, or there is none for it.
bool may_take_tiles(DType dtype, bool trusted);
/// What multiplies on this CPU, for people: "oneDNN 2.6.3; bf16 multiplied by AVX-512", and the like.
std::string cpu_provider();

}  // namespace lethe
