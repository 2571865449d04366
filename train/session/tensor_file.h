// What files of named tensors have in common, whatever their headers are: each tensor's bytes, read and written one by
// one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "train/session/atomic_file.h"
#include "train/session/tensor_reader.h"

namespace lethe {

/// The bytes of a tensor whose data begin at `data_begin` + its own begin. Fails with Exit::Data if they cannot be
/// read.
std::vector<std::byte> bytes_of_tensor(std::ifstream& in, const std::string& file, const TensorEntry& tensor,
                                       std::int64_t data_begin);

/// Replaces the file as a whole at finish(); without it the old one stays.
class TensorWriter {
 public:
  /// The data of the next tensor, in the order in which they were announced: what a var of its dtype and shape has in
  /// memory.
  void write(const std::vector<std::byte>& data);
  /// All tensors must have been written. Gives the file's CRC-32.
  std::uint32_t finish();

 protected:
  /// `alignment`: of the bytes of each tensor, which zeros fill up.
  TensorWriter(const std::string& file, std::vector<TensorEntry> tensors, std::int64_t alignment = 1)
      : tensors_(std::move(tensors)), out_(file), alignment_(alignment) {}
  ~TensorWriter() = default;
  void put(const void* data, std::int64_t bytes);

  std::vector<TensorEntry> tensors_;

 private:
  AtomicFile out_;
  std::int64_t alignment_;
  std::uint32_t checksum_ = 0;
  std::size_t next_ = 0;
};

}  // namespace lethe
