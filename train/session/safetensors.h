// Files of named tensors in the safetensors format: eight bytes of header length (little endian), a JSON header, the
// data without holes. Read and written tensor by tensor. Errors name file and tensor and are Exit::Data.
#pragma once
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "framework/program.h"
#include "train/session/atomic_file.h"

namespace lethe {

struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape = {};
  std::int64_t begin = 0;  // bytes into the data; set by reader and writer
  std::int64_t bytes() const { return elements(shape) * bytes_of(dtype); }
};

using Metadata = std::map<std::string, std::string>;

/// Refuses files that are truncated, too long, or whose header is malformed: overlaps, holes, duplicates, sizes that do
/// not fit the shape, unknown dtypes, a header of 100 MB and more.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::string& file);
  const std::string& file() const { return file_; }
  const std::vector<TensorEntry>& tensors() const { return tensors_; }  // in the order of their data
  const Metadata& metadata() const { return metadata_; }
  const TensorEntry* find(const std::string& name) const;
  std::vector<std::byte> read(const TensorEntry& tensor);

 private:
  void parse_header(const std::string& header, std::int64_t data_bytes);

  std::string file_;
  std::ifstream in_;
  std::int64_t data_begin_ = 0;
  std::vector<TensorEntry> tensors_;
  Metadata metadata_;
};

/// Replaces the file as a whole at finish(); without it the old one stays.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::string& file, std::vector<TensorEntry> tensors, const Metadata& metadata = {});
  /// The data of the next tensor, in the order given above.
  void write(const std::vector<std::byte>& data);
  /// All tensors must have been written.
  void finish();

 private:
  AtomicFile out_;
  std::vector<TensorEntry> tensors_;
  std::size_t next_ = 0;
};

}  // namespace lethe
