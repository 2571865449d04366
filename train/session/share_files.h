// A checkpoint in shares. Each of R ranks writes the share that it has of every tensor (framework/ranks/peers.h),
// whatever the stage of ZeRO is, as one axis of values in the order of memory:
//
//   rank-0-of-4.safetensors ...  shares of weights and of the run's states
//   shares.json                  names, dtypes, whole shapes, and checksums (CRC-32) by rank; written last
//
// Any number of ranks reads that, in any stage.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "framework/run/store.h"
#include "train/session/stored_tensor.h"
#include "train/session/tensor_reader.h"

namespace lethe {

inline constexpr const char* kShareIndex = "shares.json";

/// The file that has a checkpoint's tensors: the index of its shares, or else the file of that name.
std::string tensors_in(const std::string& checkpoint, const std::string& whole);

/// Saves whole vars, each under its name in the file, of which the store may have this rank's share alone. All ranks do
/// so together, into a directory that the first of them has made; afterwards that one knows that all files are there.
void save_shares(const std::string& directory, std::int64_t step, const std::vector<StoredTensor>& weights,
                 const std::vector<StoredTensor>& states, const Store& store);

enum class SharesOf { Weights, States };
/// Whole tensors in the order of memory; file() is the index. Fails with Exit::Data, naming the file, unless all shares
/// are there, as long as they should be, and of one checkpoint; read(), of one of its tensors(), where a checksum is
/// another.
std::unique_ptr<TensorReader> read_shares(const std::string& index, SharesOf which);

}  // namespace lethe
