#include "train/data/gguf_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/mapped_file.h"
#include "train/data/unicode.h"

namespace lethe {
namespace {

static_assert(std::endian::native == std::endian::little, "what is read is little-endian, and so is what reads it");

constexpr std::string_view kGgufMagic = "GGUF";
constexpr std::uint32_t kGgufVersion = 3;
constexpr std::uint32_t kMostSizes = 4;  // of a tensor
constexpr int kDeepestArray = 4;
constexpr std::int64_t kLargestAlignment = 1 << 20;
constexpr std::int64_t kTextLength = 8;
constexpr std::int64_t kLeastTensor = kTextLength + 4 + 8 + 4 + 8, kLeastEntry = kTextLength + 4 + 1;  // bytes

/// A double that is written as briefly as a float can be.
double shortest(float value) {
  if (!std::isfinite(value)) return value;
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  double wide = 0;
  std::from_chars(text, end, wide);
  return wide;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (!character.valid) return false;
    at += character.bytes;
  }
  return true;
}

class GgufParser {
 public:
  explicit GgufParser(std::string_view file) : file_(file) {}

  GgufHeader parse() {
    check_front();
    const auto tensors = number<std::uint64_t>();
    const std::uint64_t entries = count("keys", kLeastEntry);
    check_as(Exit::Data, tensors <= file_.size() / kLeastTensor, "states ", tensors, " tensors in ", file_.size(),
             " bytes");
    for (std::uint64_t i = 0; i < entries; ++i) read_entry();
    for (std::uint64_t i = 0; i < tensors; ++i) read_tensor();
    place_tensors();
    return std::move(header_);
  }

 private:
  void check_front() {
    check_as(Exit::Data, file_.starts_with(kGgufMagic), "is no GGUF file: it begins otherwise than with \"GGUF\"");
    at_ = kGgufMagic.size();
    const auto version = number<std::uint32_t>();
    check_as(Exit::Data, version != kGgufVersion << 24U, "is a GGUF file of big endian numbers, which is not read");
    check_as(Exit::Data, version == kGgufVersion, "is GGUF of version ", version, ", which is not read (known: 3)");
  }

  std::string_view take(std::uint64_t bytes) {
    check_as(Exit::Data, bytes <= file_.size() - at_, "ends within its header, of which ", bytes,
             " bytes more are to stand at byte ", at_, ": the file is truncated or damaged");
    const std::string_view taken = file_.substr(at_, bytes);
    at_ += bytes;
    return taken;
  }

  template <class Number>
  Number number() {
    Number value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  /// Of things that take at least so many bytes each, so that what is left has room for them.
  std::uint64_t count(const char* of, std::int64_t least_bytes) {
    const auto stated = number<std::uint64_t>();
    const std::uint64_t most = (file_.size() - at_) / static_cast<std::uint64_t>(least_bytes);
    check_as(Exit::Data, stated <= most, "states ", stated, ' ', of, ", for which the file is too short");
    return stated;
  }

  std::string text() {
    const std::string_view taken = take(number<std::uint64_t>());
    check_as(Exit::Data, is_utf8(taken), "has a text that is no UTF-8, ", quote(taken));
    return std::string(taken);
  }

  GgufType type() {
    const auto number_of_type = number<std::uint32_t>();
    check_as(Exit::Data, number_of_type <= static_cast<std::uint32_t>(GgufType::F64), "has a value of type ",
             number_of_type, ", which is not known");
    return static_cast<GgufType>(number_of_type);
  }

  Json value(GgufType type, int depth) {
    switch (type) {
      case GgufType::U8:
        return number<std::uint8_t>();
      case GgufType::I8:
        return number<std::int8_t>();
      case GgufType::U16:
        return number<std::uint16_t>();
      case GgufType::I16:
        return number<std::int16_t>();
      case GgufType::U32:
        return number<std::uint32_t>();
      case GgufType::I32:
        return number<std::int32_t>();
      case GgufType::F32:
        return shortest(number<float>());
      case GgufType::Bool: {
        const auto byte = number<std::uint8_t>();
        check_as(Exit::Data, byte <= 1, "is ", byte, ", expected 0 or 1 for false or true");
        return byte == 1;
      }
      case GgufType::Text:
        return text();
      case GgufType::Array:
        return array(this->type(), depth);
      case GgufType::U64:
        return number<std::uint64_t>();
      case GgufType::I64:
        return number<std::int64_t>();
      case GgufType::F64:
        return number<double>();
    }
    return {};
  }

  Json array(GgufType items, int depth) {
    check_as(Exit::Data, depth < kDeepestArray, "has arrays nested deeper than ", kDeepestArray);
    const std::int64_t bytes = bytes_of(items);
    const std::uint64_t size = count("items", bytes > 0 ? bytes : kTextLength);
    Json list = Json::array();
    for (std::uint64_t i = 0; i < size; ++i) list.push_back(value(items, depth + 1));
    return list;
  }

  void read_entry() {
    GgufEntry entry{.key = text()};
    with_context(quote(entry.key), [&] {
      check_as(Exit::Data, keys_.insert(entry.key).second, "stands twice");
      entry.type = type();
      const bool is_array = entry.type == GgufType::Array;
      if (is_array) entry.type = type();
      entry.value = is_array ? array(entry.type, 0) : value(entry.type, 0);
    });
    header_.entries.push_back(std::move(entry));
  }

  void read_tensor() {
    GgufTensor tensor{.name = text()};
    with_context(message("tensor ", quote(tensor.name)), [&] {
      check_as(Exit::Data, names_.insert(tensor.name).second, "stands twice");
      const auto sizes = number<std::uint32_t>();
      check_as(Exit::Data, sizes >= 1 && sizes <= kMostSizes, "has ", sizes, " sizes, expected 1 to ", kMostSizes);
      for (std::uint32_t i = 0; i < sizes; ++i) tensor.shape.insert(tensor.shape.begin(), size_of_side());
      const auto type = number<std::uint32_t>();
      tensor.type = ggml_type(type);
      check_as(Exit::Data, tensor.type != nullptr, "is of type ", type, ", which is not known");
      tensor.bytes = bytes_of_tensor(tensor);
      const auto offset = number<std::uint64_t>();
      check_as(Exit::Data, offset < file_.size(), "begins at byte ", offset,
               " of the data, beyond the end of the file");
      tensor.begin = static_cast<std::int64_t>(offset);
    });
    header_.tensors.push_back(std::move(tensor));
  }

  std::int64_t size_of_side() {
    const auto size = number<std::uint64_t>();
    check_as(Exit::Data, size >= 1 && size <= std::uint64_t{INT64_MAX}, "has a side of ", size,
             ", expected a whole number from 1 on");
    return static_cast<std::int64_t>(size);
  }

  static std::int64_t bytes_of_tensor(const GgufTensor& tensor) {
    std::int64_t count = 0;
    try {
      count = elements(tensor.shape);
    } catch (const Error& error) {
      fail_as(Exit::Data, error.what());
    }
    const GgmlType& type = *tensor.type;
    check_as(Exit::Data, tensor.shape.back() % type.elements == 0, "has rows of ", tensor.shape.back(),
             " numbers, expected a multiple of ", type.elements, ", of which a block of ", type.name, " consists");
    return count / type.elements * type.bytes;
  }

  /// Where the data begin, and that tensors fill them one after another, each at the next place that is aligned.
  void place_tensors() {
    const std::int64_t alignment = alignment_of_file();
    const auto aligned = [&](std::int64_t at) { return (at + alignment - 1) / alignment * alignment; };
    header_.data_begin = aligned(static_cast<std::int64_t>(at_));
    std::ranges::stable_sort(header_.tensors, {}, &GgufTensor::begin);
    const std::int64_t size = std::ssize(file_) - header_.data_begin;
    std::int64_t end = 0;
    for (const GgufTensor& tensor : header_.tensors)
      with_context(message("tensor ", quote(tensor.name)), [&] {
        check_as(Exit::Data, tensor.begin % alignment == 0, "begins at byte ", tensor.begin,
                 " of the data, expected a multiple of ", alignment);
        check_as(Exit::Data, tensor.begin == aligned(end), "begins at byte ", tensor.begin, " of the data, ",
                 tensor.begin < end ? "inside the tensor before it" : "which leaves a hole", ", expected ",
                 aligned(end));
        end = tensor.begin + tensor.bytes;
        check_as(Exit::Data, end <= size, "ends at byte ", end, " of the data, but only ",
                 std::max<std::int64_t>(size, 0), " are there: the file is truncated");
      });
    check_as(Exit::Data, size <= aligned(end), "has ", size, " bytes of data, its tensors ", aligned(end));
  }

  std::int64_t alignment_of_file() const {
    const GgufEntry* const entry = header_.find(kGgufAlignment);
    if (!entry) return kDefaultGgufAlignment;
    const bool is_number = entry->value.is_number_unsigned() && entry->value <= kLargestAlignment;
    const std::uint64_t alignment = is_number ? entry->value.get<std::uint64_t>() : 0;
    check_as(Exit::Data, std::has_single_bit(alignment), quote(kGgufAlignment), " is ", shortened(entry->value.dump()),
             ", expected a power of two up to ", kLargestAlignment);
    return static_cast<std::int64_t>(alignment);
  }

  std::string_view file_;
  std::size_t at_ = 0;
  std::set<std::string> keys_ = {}, names_ = {};
  GgufHeader header_ = {};
};

}  // namespace

const GgufEntry* GgufHeader::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &GgufEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

const std::string* GgufHeader::text(std::string_view key) const {
  const GgufEntry* const entry = find(key);
  check_as(Exit::Data, !entry || entry->value.is_string(), quote(key), " is ",
           entry ? shortened(entry->value.dump()) : "", ", expected a text");
  return entry ? entry->value.get_ptr<const std::string*>() : nullptr;
}

const Json* GgufHeader::list(std::string_view key, GgufType items) const {
  const GgufEntry* const entry = find(key);
  check_as(Exit::Data, !entry || (entry->value.is_array() && entry->type == items), quote(key),
           " is another kind of value than the list that is expected");
  return entry ? &entry->value : nullptr;
}

bool GgufHeader::flag(std::string_view key, bool absent) const {
  const GgufEntry* const entry = find(key);
  check_as(Exit::Data, !entry || entry->value.is_boolean(), quote(key), " is ",
           entry ? shortened(entry->value.dump()) : "", ", expected true or false");
  return entry ? entry->value.get<bool>() : absent;
}

bool GgufHeader::has_tensor(std::string_view name) const {
  return std::ranges::find(tensors, name, &GgufTensor::name) != tensors.end();
}

std::string GgufHeader::family() const {
  const std::string* const architecture = text("general.architecture");
  return architecture ? std::string(kGgufFamily) + *architecture : "";
}

GgufHeader read_gguf_header(const std::string& file) {
  const MappedFile mapped(file);
  return with_context(file, [&] {
    GgufHeader header = GgufParser(mapped.text()).parse();
    mapped.check_whole();
    return header;
  });
}

bool is_gguf(const std::string& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return false;
  const FileBytes front = read_file(file, std::ssize(kGgufMagic));
  return std::equal(front.begin(), front.end(), kGgufMagic.begin(), kGgufMagic.end());
}

}  // namespace lethe
