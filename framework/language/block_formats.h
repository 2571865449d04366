// Numbers in few bits, in blocks that share a scale. A var of such a dtype has the shape of the numbers that it stands
// for; its bytes are a header, if its format has one, and its blocks, one after another, the last one whole:
//
//   int8      a row: its largest magnitude (f32), codes (i8), bytes up to a multiple of 4       LLM.int8()'s
//   q8_0      32 in a row: scale (f16), codes (i8)                                                     GGUF's
//   q4_0      32 in a row: scale (f16), codes of 4 bits, of which 8 means zero                         GGUF's
//   q4_1      32 in a row: scale and least (f16), codes of 4 bits                                      GGUF's
//   nf4       64 of all: largest magnitude (f32), codes of 4 bits                                      QLoRA's
//   nf4-dq    256 blocks of 64 of all: largest magnitude of magnitudes (f32), codes of magnitudes (u8), codes of 4
//             bits; the header is what magnitudes are counted from (f32) and what their codes mean (256 f32)  QLoRA's
//   dynamic8  256 of all: largest magnitude (f32), codes of 8 bits with a sign                         bitsandbytes'
//   udynamic8 the same without a sign
//
// Of two codes of 4 bits in a byte GGUF's have number i in the low half and i + 16 in the high one, QLoRA's the first
// of two in the high half. Sources: LLM.int8(), QLoRA and 8-bit optimizers by Dettmers et al., 2022 and 2023, with the
// bytes of bitsandbytes; ggml for GGUF's. framework/language/quantize.h makes blocks, kernels/quantized/groups.h reads
// them.
#pragma once
#include <cstdint>
#include <string>

#include "framework/language/dtype.h"
#include "framework/language/program.h"

namespace lethe {

/// How the bytes of a var are cut.
struct BlockFormat {
  std::int64_t elements = 1, bytes = 1;  // of a block
  std::int64_t header = 0;               // bytes before the first

  /// Where the block of element `at` begins, which is a multiple of `elements`.
  std::int64_t offset(std::int64_t at) const { return header + at / elements * bytes; }
  std::int64_t blocks(std::int64_t count) const { return (count + elements - 1) / elements; }
};

/// Of numbers of that shape.
BlockFormat block_format(DType dtype, const Shape& shape);
/// That numbers of that shape take, in blocks or not.
std::int64_t bytes_of(DType dtype, const Shape& shape);

/// Why numbers of that shape cannot be in such blocks: rows that are no multiple of a block, or no rows; "" if they
/// can.
std::string complaint_about_blocks(DType dtype, const Shape& shape);

/// Blocks of which the codes of a double quantised one have a block of their own.
inline constexpr std::int64_t kNf4Block = 64, kNf4Blocks = 256;
inline constexpr std::int64_t kGgufBlock = 32, kDynamicBlock = 256;
/// Elements of what has states in 8 bits, at least.
inline constexpr std::int64_t kLeastInBlocks = 4096;

/// What the 16 codes of nf4 and nf4-dq mean, ascending, as parts of a block's largest magnitude.
struct Nf4Values {
  float of_code[16];
};
inline constexpr Nf4Values kNf4Values{{-1.0F, -0.696192801F, -0.525073051F, -0.394917488F, -0.284441382F, -0.184773430F,
                                       -0.0910500363F, 0.0F, 0.0795802996F, 0.160930201F, 0.246112302F, 0.337915242F,
                                       0.440709829F, 0.562617004F, 0.722956836F, 1.0F}};
constexpr float nf4_value(int code) { return kNf4Values.of_code[code]; }

}  // namespace lethe
