#include "onnx/read_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include "framework/error.h"
#include "onnx/bytes.h"
#include "onnx/wire.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kMostAxes = 8, kMostNumbers = std::int64_t{1} << 40;

/// Where a tensor's bytes stand in a file beside the model.
struct External {
  std::string location;
  std::int64_t offset = 0, length = -1;
};

std::int64_t number_in(const std::string& text, const std::string& what) {
  check_as(Exit::Data, !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos,
           what, ": ", quote(text), " is no number of bytes");
  return std::stoll(text);
}

std::vector<std::byte> read_external(const std::filesystem::path& folder, const External& of, std::int64_t bytes,
                                     const std::string& what) {
  const std::filesystem::path name(of.location);
  check_as(Exit::Data, !of.location.empty() && name.filename() == name && of.location != ".." && of.location != ".",
           what, ": its data are at ", quote(of.location), ", which is no file beside the model");
  std::ifstream in;
  if (std::filesystem::is_regular_file(folder / name)) in.open(folder / name, std::ios::binary | std::ios::ate);
  check_as(Exit::Data, in.is_open(), what, ": its data are in ", (folder / name).string(), ", which cannot be opened");
  const auto there = static_cast<std::int64_t>(in.tellg());
  check_as(Exit::Data, of.length < 0 || of.length == bytes, what, ": has ", of.length, " bytes, its shape takes ",
           bytes);
  check_as(Exit::Data, of.offset <= there && bytes <= there - of.offset, what, ": its data end after ",
           (folder / name).string());
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  in.seekg(of.offset);
  in.read(reinterpret_cast<char*>(data.data()), bytes);
  check_as(Exit::Data, in.good(), what, ": its data cannot be read");
  return data;
}

/// Of a TensorProto. Its numbers are bytes, or in a field by their type, or in another file.
class TensorMessage {
 public:
  TensorMessage(std::string_view bytes, const std::filesystem::path& folder) : folder_(folder) {
    for (MessageReader in(bytes); in.next();) take(in);
  }

  NamedTensor named() const { return {name_, tensor()}; }

 private:
  ReadTensor tensor() const {
    const std::string what = name_.empty() ? "a tensor" : "tensor " + quote(name_);
    check_as(Exit::Data, std::ssize(shape_) <= kMostAxes, what, ": has ", shape_.size(), " axes");
    const Type type = type_of_number(type_, what);
    std::int64_t bytes = bytes_of(type), others = bytes;  // others: without axes of 0
    for (const std::int64_t size : shape_) {
      check_as(Exit::Data, size >= 0 && size <= kMostNumbers, what, ": has an axis of ", size);
      check_as(Exit::Data, size == 0 || others <= kMostNumbers / size, what, ": is too large");
      bytes *= size;
      others *= std::max<std::int64_t>(size, 1);
    }
    check_as(Exit::Data, bytes > 0 || others <= 1 << 20, what, ": has no numbers, in ", text_of(shape_));
    ReadTensor made{type, shape_, data_of(type, bytes, what)};
    check_as(Exit::Data, std::ssize(made.data) == bytes, what, ": has ", made.data.size(), " bytes, its shape takes ",
             bytes);
    return made;
  }

  void take(const MessageReader& in) {
    switch (in.field()) {
      case 1:
        return in.add_numbers(shape_);
      case 2:
        type_ = in.number();
        return;
      case 4:
        return in.add_numbers(floats_);
      case 5:
      case 7:
        return in.add_numbers(integers_);
      case 8:
        name_ = in.text();
        return;
      case 9:
        raw_ = in.bytes();
        return;
      case 10:
        doubles_ = in.bytes();
        return;
      case 13:
        return take_external(in.bytes());
      case 14:
        is_external_ = in.number() == 1;
        return;
      default:
        check_as(Exit::Data, in.field() == 12 || in.field() == 16, "tensor ", quote(name_), ": field ", in.field(),
                 " is not read");
    }
  }
  void take_external(std::string_view entry) {
    std::string key, value;
    for (MessageReader in(entry); in.next();) (in.field() == 1 ? key : value) = in.text();
    if (key == "location") external_.location = value;
    if (key == "offset") external_.offset = number_in(value, "tensor " + quote(name_));
    if (key == "length") external_.length = number_in(value, "tensor " + quote(name_));
  }
  std::vector<std::byte> data_of(Type type, std::int64_t bytes, const std::string& what) const {
    if (is_external_) return read_external(folder_, external_, bytes, what);
    const auto* const raw = reinterpret_cast<const std::byte*>(raw_.data());
    if (!raw_.empty()) return {raw, raw + raw_.size()};
    if (type == Type::f64) {
      const auto* const from = reinterpret_cast<const std::byte*>(doubles_.data());
      return {from, from + doubles_.size()};
    }
    if (type == Type::f32) return bytes_of_values(floats_);
    if (type == Type::i64) return bytes_of_values(integers_);
    if (type == Type::i32) return bytes_of_values(std::vector<std::int32_t>(integers_.begin(), integers_.end()));
    if (bytes_of(type) == 2) return bytes_of_values(std::vector<std::uint16_t>(integers_.begin(), integers_.end()));
    return bytes_of_values(std::vector<std::uint8_t>(integers_.begin(), integers_.end()));
  }

  std::filesystem::path folder_;
  std::string name_;
  Shape shape_;
  std::int64_t type_ = 0;
  std::vector<float> floats_;
  std::vector<std::int64_t> integers_;
  std::string_view raw_, doubles_;
  External external_;
  bool is_external_ = false;
};

/// Of IEEE 754's half: a sign, five bits of exponent, ten of fraction.
float of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                     : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}
/// The upper half of an f32.
float of_brain(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

template <class From, class To>
std::vector<To> values_as(const std::vector<std::byte>& data) {
  std::vector<From> values(data.size() / sizeof(From));
  if (!values.empty()) std::memcpy(values.data(), data.data(), values.size() * sizeof(From));
  return std::vector<To>(values.begin(), values.end());
}

}  // namespace

Type type_of_number(std::int64_t number, const std::string& what) {
  for (const Type type : {Type::f32, Type::u8, Type::i32, Type::i64, Type::boolean, Type::f16, Type::f64, Type::bf16})
    if (static_cast<std::int64_t>(type) == number) return type;
  fail_as(Exit::Data, what, ": numbers of ONNX's type ", number, " are not read");
}

std::vector<std::int64_t> ReadTensor::integers() const {
  check_as(Exit::Data, is_integer(), "a tensor of whole numbers was expected");
  return type == Type::i64 ? values_as<std::int64_t, std::int64_t>(data) : values_as<std::int32_t, std::int64_t>(data);
}

bool ReadTensor::is_float() const { return type == Type::f32 || type == Type::f64 || bytes_of(type) == 2; }

std::vector<float> ReadTensor::floats() const {
  check_as(Exit::Data, is_float(), "a tensor of floats was expected");
  if (type == Type::f32) return values_as<float, float>(data);
  if (type == Type::f64) return values_as<double, float>(data);
  const auto bits = values_as<std::uint16_t, std::uint16_t>(data);
  std::vector<float> values(bits.size());
  std::ranges::transform(bits, values.begin(), type == Type::f16 ? of_half : of_brain);
  return values;
}

NamedTensor read_tensor(std::string_view message, const std::filesystem::path& folder) {
  return TensorMessage(message, folder).named();
}

}  // namespace lethe::onnx
