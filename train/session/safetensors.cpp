#include "train/session/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <set>
#include <tuple>

#include "framework/error.h"
#include "models/json_source.h"

namespace lethe {
namespace {

constexpr std::int64_t kLargestHeader = 100'000'000;
constexpr std::int64_t kHeaderAlignment = 8;
constexpr const char* kMetadata = "__metadata__";

constexpr std::array<std::pair<std::string_view, DType>, 7> kDTypes = {{{"F64", DType::f64},
                                                                        {"F32", DType::f32},
                                                                        {"BF16", DType::bf16},
                                                                        {"F16", DType::f16},
                                                                        {"I64", DType::i64},
                                                                        {"I32", DType::i32},
                                                                        {"U8", DType::u8}}};

std::string_view file_name_of(DType dtype) {
  return std::find_if(kDTypes.begin(), kDTypes.end(), [&](const auto& pair) { return pair.second == dtype; })->first;
}

std::array<unsigned char, 8> little_endian(std::uint64_t value) {
  std::array<unsigned char, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
  return bytes;
}

std::uint64_t from_little_endian(const std::array<unsigned char, 8>& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

/// The header's JSON; fails if it is malformed, nested too deep or names a tensor twice.
Json parse_header_json(const std::string& header) {
  std::set<std::string> names;
  const auto check_part = [&](int depth, Json::parse_event_t event, Json& key) {
    check_as(Exit::Data, depth <= kDeepestJson, "the header is nested deeper than ", kDeepestJson);
    if (event == Json::parse_event_t::key && depth == 1)
      check_as(Exit::Data, names.insert(key.get<std::string>()).second, "tensor '", key.get<std::string>(),
               "' is there twice");
    return true;
  };
  check_as(Exit::Data, !header.empty() && header.front() == '{', "the header does not start with '{'");
  try {
    return Json::parse(header, check_part);
  } catch (const Json::exception&) {
    fail_as(Exit::Data, "the header is not valid JSON");
  }
}

/// A whole number from 0 to the largest std::int64_t.
std::int64_t whole(const Json& value, const char* what) {
  check_as(Exit::Data, value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX}, what,
           " holds ", value.dump(), ", expected a whole number");
  return value.get<std::int64_t>();
}

const Json& field(const Json& tensor, const char* key, Json::value_t type, const char* expected) {
  const auto found = tensor.find(key);
  check_as(Exit::Data, found != tensor.end() && found->type() == type, "'", key, "' is ",
           found == tensor.end() ? "missing" : found->dump(), ", expected ", expected);
  return *found;
}

/// Says what else a file is, by its first bytes; "" if they tell nothing.
std::string other_format(std::string_view front) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFormats = {
      {{"{", "is JSON; the index of weights in several files has a name that ends in .index.json"},
       {"PK\3\4", "is a zip archive, as PyTorch's .bin, .pt and .pth files are"},
       {"\x80", "is a pickle, as PyTorch's older .bin, .pt and .pth files are"},
       {"GGUF", "is a GGUF file"},
       {"\x89HDF", "is an HDF5 file, as Keras's .h5 files are"},
       {"\x93NUMPY", "is a NumPy file"},
       {"version ", "is a pointer of Git LFS, which stands for the file itself; git lfs pull fetches that"},
       {"<", "is a page of the web"},
       {"\x1f\x8b", "is packed by gzip"}}};
  for (const auto& [start, words] : kFormats)
    if (front.starts_with(start))
      return message(words, words.find(';') == words.npos ? "; weights are read from safetensors files" : "");
  return "";
}

/// Fails if the shape has more elements than can be counted.
void check_countable(const Shape& shape) {
  try {
    elements(shape);
  } catch (const Error& error) {
    fail_as(Exit::Data, error.what());
  }
}

TensorEntry parse_tensor(const std::string& name, const Json& json) {
  check_as(Exit::Data, json.is_object(), "is ", json.dump(), ", expected an object");
  TensorEntry tensor{.name = name};
  const std::string dtype = field(json, "dtype", Json::value_t::string, "text").get<std::string>();
  check_as(Exit::Data, !dtype.empty(), "'dtype' is empty");
  const auto known = std::ranges::find(kDTypes, dtype, &std::pair<std::string_view, DType>::first);
  if (known != kDTypes.end())
    tensor.dtype = known->second;
  else
    tensor.foreign_dtype = dtype;
  for (const Json& size : field(json, "shape", Json::value_t::array, "a list"))
    tensor.shape.push_back(whole(size, "'shape'"));
  check_countable(tensor.shape);
  const Json& offsets = field(json, "data_offsets", Json::value_t::array, "[begin, end]");
  check_as(Exit::Data, offsets.size() == 2, "'data_offsets' is ", offsets.dump(), ", expected [begin, end]");
  tensor.begin = whole(offsets[0], "'data_offsets'");
  const std::int64_t end = whole(offsets[1], "'data_offsets'");
  if (tensor.is_foreign()) tensor.foreign_bytes = std::max<std::int64_t>(end - tensor.begin, 0);
  check_as(Exit::Data, end - tensor.begin == tensor.bytes(), "'data_offsets' span ", end - tensor.begin, " bytes, ",
           type_and_shape(tensor), " has ", tensor.bytes());
  return tensor;
}

Metadata parse_metadata(const Json& json) {
  check_as(Exit::Data, json.is_object(), "'", kMetadata, "' is ", json.dump(), ", expected an object");
  Metadata metadata;
  for (const auto& [key, value] : json.items()) {
    check_as(Exit::Data, value.is_string(), "'", kMetadata, "': '", key, "' is ", value.dump(), ", expected text");
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

/// Sorts by place in the file and checks that the data has neither holes nor overlaps nor a wrong length.
void check_places(std::vector<TensorEntry>& tensors, std::int64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::tuple(a.begin, a.bytes()) < std::tuple(b.begin, b.bytes());
  });
  std::int64_t end = 0;
  for (const TensorEntry& tensor : tensors) {
    check_as(Exit::Data, tensor.begin == end, "tensor '", tensor.name, "' begins at byte ", tensor.begin, ", ",
             tensor.begin < end ? "inside the tensor before it" : "which leaves a hole", ", expected ", end);
    end += tensor.bytes();
    check_as(Exit::Data, end <= data_bytes, "tensor '", tensor.name, "' ends at byte ", end, " of the data, but only ",
             data_bytes, " are there: the file is truncated");
  }
  check_as(Exit::Data, end == data_bytes, "the data has ", data_bytes, " bytes, its tensors ", end);
}

std::string header_of(std::vector<TensorEntry>& tensors, const Metadata& metadata) {
  Json header = Json::object();
  if (const Metadata all = with_blocks(metadata, tensors); !all.empty()) header[kMetadata] = all;
  std::int64_t next = 0;
  for (TensorEntry& tensor : tensors) {
    tensor.begin = next;
    next += tensor.bytes();
    const TensorEntry stated = entry_in_header(tensor);
    header[tensor.name] = {{"dtype", tensor.is_foreign() ? tensor.foreign_dtype : file_name_of(stated.dtype)},
                           {"shape", stated.shape},
                           {"data_offsets", {tensor.begin, next}}};
  }
  std::string text = header.dump();
  while (text.size() % kHeaderAlignment != 0) text += ' ';
  return text;
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::string& file) : TensorReader(file), in_(file, std::ios::binary) {
  with_context(file, [&] {
    check_as(Exit::Data, in_.good() && std::filesystem::is_regular_file(file), "cannot be opened as a file");
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file));
    std::array<unsigned char, 8> length{};
    in_.read(reinterpret_cast<char*>(length.data()), length.size());
    const std::string_view front(reinterpret_cast<const char*>(length.data()), static_cast<std::size_t>(in_.gcount()));
    const std::uint64_t header_bytes = from_little_endian(length);
    const bool has_header = in_.good() && in_.peek() == '{' && header_bytes <= std::uint64_t{kLargestHeader};
    const std::string other = has_header ? "" : other_format(front);
    check_as(Exit::Data, other.empty(), other);
    check_as(Exit::Data, front.size() == length.size(), "has ", size, " bytes, too few for a safetensors file");
    check_as(Exit::Data, header_bytes <= std::uint64_t{kLargestHeader}, "states a header of ", header_bytes,
             " bytes, at most ", kLargestHeader, " are allowed: this is no safetensors file");
    in_.clear();  // the file may end where the header would begin
    data_begin_ = 8 + static_cast<std::int64_t>(header_bytes);
    check_as(Exit::Data, data_begin_ <= size, "ends inside its header: the file is truncated");
    std::string header(header_bytes, '\0');
    in_.read(header.data(), static_cast<std::streamsize>(header.size()));
    check_as(Exit::Data, in_.good(), "cannot be read");
    parse_header(header, size - data_begin_);
  });
}

void SafetensorsReader::parse_header(const std::string& header, std::int64_t data_bytes) {
  const Json json = parse_header_json(header);
  for (const auto& item : json.items()) {
    const std::string& name = item.key();
    if (name == kMetadata) {
      metadata_ = parse_metadata(item.value());
    } else {
      tensors_.push_back(
          with_context(message("tensor '", name, "'"), [&] { return parse_tensor(name, item.value()); }));
    }
  }
  check_places(tensors_, data_bytes);
  find_blocks(metadata_, tensors_);
}

std::vector<std::byte> SafetensorsReader::read(const TensorEntry& tensor) {
  return bytes_of_tensor(in_, file_, tensor, data_begin_);
}

SafetensorsWriter::SafetensorsWriter(const std::string& file, std::vector<TensorEntry> tensors,
                                     const Metadata& metadata)
    : TensorWriter(file, std::move(tensors)) {
  const std::string header = header_of(tensors_, metadata);
  check_as(Exit::Data, static_cast<std::int64_t>(header.size()) <= kLargestHeader, file, ": a header of ",
           header.size(), " bytes is larger than the format allows");
  const auto length = little_endian(header.size());
  put(length.data(), length.size());
  put(header.data(), static_cast<std::int64_t>(header.size()));
}

}  // namespace lethe
