// Weights that bitsandbytes has quantised, as transformers saves them: beside a tensor's codes stand the tensors that
// say what they mean. Of "X.weight", of [out, in],
//
//   nf4      X.weight U8 [n/2, 1], X.weight.absmax F32, X.weight.quant_map F32 [16], and as U8 of a JSON text
//            X.weight.quant_state.bitsandbytes__nf4
//   nf4-dq   absmax as U8, and X.weight.nested_absmax F32, X.weight.nested_quant_map F32 [256]
//   int8     X.weight I8 [out, in], X.SCB F32 [out]
//
// Where the network reads a file, each of these is one tensor in blocks (framework/language/block_formats.h).
#pragma once
#include <memory>
#include <vector>

#include "train/session/tensor_reader.h"

namespace lethe {

/// The file as it is, or with such tensors as ones in blocks. Fails (Exit::Data) for those of other kinds (fp4, blocks
/// of another size), for parts that are missing or of another shape, and for other values than nf4's.
std::unique_ptr<TensorReader> with_blocks_of_bitsandbytes(std::unique_ptr<TensorReader> file);

/// A tensor and its bytes.
struct NamedTensor {
  TensorEntry entry;
  std::vector<std::byte> data;
};
/// A weight in nf4, nf4-dq or int8 as the tensors that a file has of it.
std::vector<NamedTensor> bitsandbytes_tensors(const TensorEntry& weight, const std::vector<std::byte>& blocks);

}  // namespace lethe
