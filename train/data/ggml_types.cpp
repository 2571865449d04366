#include <algorithm>
#include <array>

#include "train/data/gguf_file.h"

namespace lethe {
namespace {

/// By ggml.h; blocks by ggml-common.h.
constexpr GgmlType kGgmlTypes[] = {{0, "F32", 1, 4, DType::f32},
                                   {1, "F16", 1, 2, DType::f16},
                                   {2, "Q4_0", 32, 18, DType::q4_0},
                                   {3, "Q4_1", 32, 20, DType::q4_1},
                                   {6, "Q5_0", 32, 22},
                                   {7, "Q5_1", 32, 24},
                                   {8, "Q8_0", 32, 34, DType::q8_0},
                                   {10, "Q2_K", 256, 84},
                                   {11, "Q3_K", 256, 110},
                                   {12, "Q4_K", 256, 144},
                                   {13, "Q5_K", 256, 176},
                                   {14, "Q6_K", 256, 210},
                                   {16, "IQ2_XXS", 256, 66},
                                   {17, "IQ2_XS", 256, 74},
                                   {18, "IQ3_XXS", 256, 98},
                                   {19, "IQ1_S", 256, 50},
                                   {20, "IQ4_NL", 32, 18},
                                   {21, "IQ3_S", 256, 110},
                                   {22, "IQ2_S", 256, 82},
                                   {23, "IQ4_XS", 256, 136},
                                   {24, "I8", 1, 1},
                                   {25, "I16", 1, 2},
                                   {26, "I32", 1, 4, DType::i32},
                                   {27, "I64", 1, 8, DType::i64},
                                   {28, "F64", 1, 8, DType::f64},
                                   {29, "IQ1_M", 256, 56},
                                   {30, "BF16", 1, 2, DType::bf16},
                                   {34, "TQ1_0", 256, 54},
                                   {35, "TQ2_0", 256, 66},
                                   {39, "MXFP4", 32, 17}};

}  // namespace

const GgmlType* ggml_type(std::uint32_t number) {
  const auto* const found = std::ranges::find(kGgmlTypes, number, &GgmlType::number);
  return found == std::end(kGgmlTypes) ? nullptr : found;
}

const GgmlType* ggml_type(DType dtype) {
  const auto* const found = std::ranges::find(kGgmlTypes, std::optional(dtype), &GgmlType::dtype);
  return found == std::end(kGgmlTypes) ? nullptr : found;
}

std::int64_t bytes_of(GgufType type) {
  constexpr std::array<std::int64_t, 13> kBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

}  // namespace lethe
