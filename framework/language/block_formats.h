// Numbers in few bits, in blocks that share a scale. A var of such a dtype has the shape of the numbers that it stands
// for; its bytes are a header, if its format has one, and its blocks, one after another, the last one whole:
//
//   int8      a row: its codes (i8), up to three bytes, scale (f32); a number is code * scale / 127   LLM.int8()'s
//   q8_0      32 in a row: scale (f16), codes (i8)                                                     GGUF's
//   q4_0      32 in a row: scale (f16), codes of 4 bits, of which 8 means zero                         GGUF's
//   q4_1      32 in a row: scale and least (f16), codes of 4 bits                                      GGUF's
//   nf4       64 of all: largest magnitude (f32), codes of 4 bits                                      QLoRA's
//   nf4-dq    256 blocks of 64 of all: scale (f32), magnitudes (8 bits), codes of 4 bits               QLoRA's, doubly
//             quantised; its header is what magnitudes are apart from (f32), and what their codes mean (256 f32)
//   dynamic8  256 of all: largest magnitude (f32), codes of 8 bits with a sign                         bitsandbytes'
//   udynamic8 the same without a sign
//
// LLM.int8(): Dettmers et al., 2022; QLoRA: Dettmers et al., 2023; bitsandbytes' 8-bit states: Dettmers et al., 2022.
// framework/language/block_codes.h says what codes mean.
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

}  // namespace lethe
