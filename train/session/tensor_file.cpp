#include "train/session/tensor_file.h"

#include "framework/error.h"
#include "framework/host_memory.h"
#include "train/data/checksum.h"

namespace lethe {

std::vector<std::byte> bytes_of_tensor(std::ifstream& in, const std::string& file, const TensorEntry& tensor,
                                       std::int64_t data_begin) {
  std::vector<std::byte> data = taking(message(file, ": tensor '", tensor.name, "'"), tensor.bytes(), [&] {
    return std::vector<std::byte>(static_cast<std::size_t>(tensor.bytes()));
  });
  in.seekg(data_begin + tensor.begin);
  in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
  check_as(Exit::Data, in.good(), file, ": tensor '", tensor.name, "' cannot be read");
  return data;
}

void TensorWriter::write(const std::vector<std::byte>& data) {
  check_as(Exit::Internal, next_ < tensors_.size(), "more tensors written than announced");
  const TensorEntry& tensor = tensors_[next_++];
  const std::int64_t bytes = std::ssize(data);
  check_as(Exit::Internal, bytes == tensor.bytes(), "tensor '", tensor.name, "' has ", tensor.bytes(), " bytes, given ",
           bytes);
  put(data.data(), bytes);
  const std::string padding(static_cast<std::size_t>((alignment_ - bytes % alignment_) % alignment_), '\0');
  put(padding.data(), std::ssize(padding));
}

void TensorWriter::put(const void* data, std::int64_t bytes) {
  out_.write(data, bytes);
  checksum_ = checksum_of({static_cast<const std::byte*>(data), static_cast<std::size_t>(bytes)}, checksum_);
}

std::uint32_t TensorWriter::finish() {
  check_as(Exit::Internal, next_ == tensors_.size(), "tensor '", next_ < tensors_.size() ? tensors_[next_].name : "",
           "' was announced but not written");
  out_.commit();
  return checksum_;
}

}  // namespace lethe
