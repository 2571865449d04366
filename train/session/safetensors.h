// Files of named tensors in the safetensors format: eight bytes of header length (little endian), a JSON header, the
// data without holes. Read and written tensor by tensor, also those in blocks (train/session/blocks_in_file.h). Errors
// name file and tensor and are Exit::Data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "train/session/blocks_in_file.h"
#include "train/session/tensor_file.h"

namespace lethe {

/// Refuses files that are truncated, too long, or whose header is malformed: overlaps, holes, duplicates, sizes that do
/// not fit the shape, a header of 100 MB and more; and says what another file is, as far as its first bytes tell.
class SafetensorsReader final : public TensorReader {
 public:
  /// Its tensors are in the order of their data.
  explicit SafetensorsReader(const std::string& file);
  const Metadata& metadata() const { return metadata_; }
  std::vector<std::byte> read(const TensorEntry& tensor) override;

 private:
  void parse_header(const std::string& header, std::int64_t data_bytes);

  std::ifstream in_;
  std::int64_t data_begin_ = 0;
  Metadata metadata_;
};

class SafetensorsWriter : public TensorWriter {
 public:
  SafetensorsWriter(const std::string& file, std::vector<TensorEntry> tensors, const Metadata& metadata = {});
};

}  // namespace lethe
