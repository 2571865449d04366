#include "train/session/gguf_writer.h"

#include <cstring>

#include "framework/error.h"

namespace lethe {
namespace {

constexpr std::size_t kMostGgufSizes = 4;  // of a tensor

std::int64_t gguf_aligned(std::int64_t at) {
  return (at + kDefaultGgufAlignment - 1) / kDefaultGgufAlignment * kDefaultGgufAlignment;
}

/// Appends numbers and texts as a header has them.
class HeaderText {
 public:
  template <class Number>
  void number(Number value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    all_.append(bytes, sizeof value);
  }
  void text(std::string_view value) {
    number(std::uint64_t{value.size()});
    all_ += value;
  }
  void value(GgufType type, const Json& value) {
    switch (type) {
      case GgufType::U8:
        return number(value.get<std::uint8_t>());
      case GgufType::I8:
        return number(value.get<std::int8_t>());
      case GgufType::U16:
        return number(value.get<std::uint16_t>());
      case GgufType::I16:
        return number(value.get<std::int16_t>());
      case GgufType::U32:
        return number(value.get<std::uint32_t>());
      case GgufType::I32:
        return number(value.get<std::int32_t>());
      case GgufType::F32:
        return number(value.get<float>());
      case GgufType::Bool:
        return number(static_cast<std::uint8_t>(value.get<bool>() ? 1 : 0));
      case GgufType::Text:
        return text(value.get_ref<const std::string&>());
      case GgufType::U64:
        return number(value.get<std::uint64_t>());
      case GgufType::I64:
        return number(value.get<std::int64_t>());
      case GgufType::F64:
        return number(value.get<double>());
      case GgufType::Array:
        fail_as(Exit::Data, "is a list of lists, which is not written");
    }
  }
  void entry(const GgufEntry& entry) {
    text(entry.key);
    if (!entry.value.is_array()) {
      number(static_cast<std::uint32_t>(entry.type));
      return value(entry.type, entry.value);
    }
    number(static_cast<std::uint32_t>(GgufType::Array));
    number(static_cast<std::uint32_t>(entry.type));
    number(std::uint64_t{entry.value.size()});
    for (const Json& item : entry.value) value(entry.type, item);
  }
  std::string take() { return std::move(all_); }

 private:
  std::string all_ = {};
};

/// What the format calls the tensor's numbers.
std::uint32_t type_number(const TensorEntry& tensor) {
  const GgmlType* const type = tensor.is_foreign() ? nullptr : ggml_type(tensor.dtype);
  const Shape& shape = tensor.shape;
  const bool fits = type && !shape.empty() && shape.size() <= kMostGgufSizes && shape.back() % type->elements == 0;
  check_as(Exit::Data, fits && elements(shape) > 0, "tensor ", quote(tensor.name), " is ", type_and_shape(tensor),
           ", which GGUF does not have");
  return type->number;
}

}  // namespace

GgufWriter::GgufWriter(const std::string& file, const std::vector<GgufEntry>& entries, std::vector<TensorEntry> tensors)
    : TensorWriter(file, std::move(tensors), kDefaultGgufAlignment) {
  HeaderText header;
  header.number(std::uint32_t{0x46554747});  // "GGUF"
  header.number(std::uint32_t{3});
  header.number(std::uint64_t{tensors_.size()});
  header.number(std::uint64_t{entries.size()});
  for (const GgufEntry& entry : entries) with_context(quote(entry.key), [&] { header.entry(entry); });
  std::int64_t next = 0;
  for (TensorEntry& tensor : tensors_) {
    header.text(tensor.name);
    const std::uint32_t type = type_number(tensor);
    header.number(static_cast<std::uint32_t>(tensor.shape.size()));
    for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size)
      header.number(static_cast<std::uint64_t>(*size));
    header.number(type);
    header.number(static_cast<std::uint64_t>(next));
    tensor.begin = next;
    next = gguf_aligned(next + tensor.bytes());
  }
  std::string bytes = header.take();
  bytes.resize(static_cast<std::size_t>(gguf_aligned(std::ssize(bytes))), '\0');
  put(bytes.data(), std::ssize(bytes));
}

}  // namespace lethe
