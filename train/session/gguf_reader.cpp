#include "train/session/gguf_reader.h"

#include "framework/error.h"
#include "train/data/gguf_file.h"
#include "train/session/tensor_file.h"

namespace lethe {

GgufReader::GgufReader(const std::string& file) : TensorReader(file), in_(file, std::ios::binary) {
  const GgufHeader header = read_gguf_header(file);
  data_begin_ = header.data_begin;
  library_ = with_context(file, [&] { return header.family(); });
  for (const GgufTensor& tensor : header.tensors) {
    TensorEntry entry{.name = tensor.name, .shape = tensor.shape, .begin = tensor.begin};
    if (tensor.type->dtype) {
      entry.dtype = *tensor.type->dtype;
    } else {
      entry.foreign_dtype = tensor.type->name;
      entry.foreign_bytes = tensor.bytes;
    }
    tensors_.push_back(std::move(entry));
  }
}

std::vector<std::byte> GgufReader::read(const TensorEntry& tensor) {
  return bytes_of_tensor(in_, file_, tensor, data_begin_);
}

}  // namespace lethe
