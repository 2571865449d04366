#include "train/data/npy_file.h"

#include <bit>
#include <charconv>
#include <cstring>

#include "framework/error.h"
#include "train/data/write_number.h"

namespace lethe {
namespace {

static_assert(std::endian::native == std::endian::little, "what is read is little-endian, and so is what reads it");

/// Calls `body` with a value of the type of an element; false if there is no such type.
template <class Body>
bool for_element(std::string_view type, const Body& body) {
  if (type == "f4") return body(float{}), true;
  if (type == "f8") return body(double{}), true;
  if (type == "i4") return body(std::int32_t{}), true;
  if (type == "i8") return body(std::int64_t{}), true;
  if (type == "u1" || type == "b1") return body(std::uint8_t{}), true;
  return false;
}

/// The words of a header, a dict as Python writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class NpyHeader {
 public:
  NpyHeader(const std::string& path, std::string_view text) : path_(path), text_(text), left_(text) { read(); }
  std::string_view type() const { return type_; }
  const Shape& shape() const { return shape_; }

 private:
  void read() {
    expect('{');
    while (!took('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr")
        descr_ = quoted();
      else if (key == "fortran_order")
        by_columns_ = word();
      else if (key == "shape")
        read_shape();
      else
        reject();
      if (!took(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!left_.empty() || descr_.empty() || by_columns_.empty() || !has_shape_) reject();
    check_order();
  }

  void check_order() {
    check_as(Exit::Data, by_columns_ == "False", path_, ": has its columns first (fortran_order), expected rows; ",
             "numpy.save(FILE, numpy.ascontiguousarray(x)) writes these");
    const char order = descr_.front();
    type_ = descr_.substr(1);
    const bool is_byte = type_ == "u1" || type_ == "b1";
    check_as(Exit::Data, for_element(type_, [](auto) {}) && (order == '<' || (is_byte && order == '|')), path_,
             ": has elements of type ", quote(descr_), ", expected <f4, <f8, <i4, <i8, |u1 or |b1");
    check_as(Exit::Data, !shape_.empty(), path_, ": is a single number, expected an array of rows");
  }

  void read_shape() {
    has_shape_ = true;
    shape_.clear();
    expect('(');
    while (!took(')')) {
      skip_blanks();
      std::int64_t size = -1;
      const auto [end, status] = std::from_chars(left_.data(), left_.data() + left_.size(), size);
      if (status != std::errc{} || size < 0 || shape_.size() == kMostAxes) reject();
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
      shape_.push_back(size);
      if (took(',')) continue;
      expect(')');
      break;
    }
  }

  void skip_blanks() { left_.remove_prefix(std::min(left_.find_first_not_of(" \n"), left_.size())); }
  bool took(char c) {
    skip_blanks();
    if (left_.empty() || left_.front() != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!took(c)) reject();
  }
  std::string_view quoted() {
    expect('\'');
    const std::size_t end = left_.find('\'');
    if (end == std::string_view::npos || end == 0) reject();
    const std::string_view text = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return text;
  }
  std::string_view word() {
    skip_blanks();
    const std::string_view text = left_.substr(0, left_.find_first_of(", }"));
    left_.remove_prefix(text.size());
    return text;
  }
  [[noreturn]] void reject() const {
    fail_as(Exit::Data, path_, ": its header is not as NumPy writes that of an array, from byte ",
            text_.size() - left_.size(), " on: ", quote(shortened(std::string(left_), 40)));
  }

  static constexpr std::size_t kMostAxes = 32;
  const std::string& path_;
  std::string_view text_, left_, descr_ = {}, by_columns_ = {}, type_ = {};
  Shape shape_ = {};
  bool has_shape_ = false;
};

/// Where the text of the header begins and ends; format 2.0 has four bytes for its length.
std::pair<std::size_t, std::size_t> header_range(const std::string& path, std::span<const std::byte> bytes) {
  constexpr char kMagic[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
  const auto has = [&](std::size_t count) {
    check_as(Exit::Data, bytes.size() >= count, path, ": ends within its header, after ", bytes.size(), " bytes");
  };
  const bool is_one = bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
  check_as(Exit::Data, is_one, path, ": is no array that numpy.save has written");
  has(8);
  const auto major = std::to_integer<int>(bytes[6]), minor = std::to_integer<int>(bytes[7]);
  check_as(Exit::Data, (major == 1 || major == 2) && minor == 0, path, ": is of format ", major, '.', minor,
           ", expected 1.0 or 2.0");
  const std::size_t width = major == 1 ? 2 : 4, begin = 8 + width;
  has(begin);
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, width);
  has(begin + length);
  return {begin, begin + length};
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : path_(path), file_(path) {
  const auto [begin, end] = header_range(path, file_.bytes());
  const NpyHeader header(path, file_.text().substr(begin, end - begin));
  type_ = header.type();
  shape_ = header.shape();
  begin_ = end;
  std::int64_t bytes = 0;
  for_element(type_, [&](auto zero) { bytes = sizeof zero; });
  const auto room = static_cast<std::int64_t>(file_.bytes().size() - end);
  for (const std::int64_t size : shape_) {
    check_as(Exit::Data, size > 0, path, ": has no elements, its shape is ", text_of(shape_));
    check_as(Exit::Data, bytes <= room / size, path, ": has ", room, " bytes of elements, its shape ", text_of(shape_),
             " takes more");
    bytes *= size;
  }
  file_.check_whole();
  check_as(Exit::Data, bytes == room, path, ": has ", room, " bytes of elements, its shape ", text_of(shape_),
           " takes ", bytes);
}

void NpyFile::read(std::int64_t row, const std::vector<std::int32_t>& places, DType dtype, std::byte* to) const {
  const std::int64_t count = row_elements(), width = bytes_of(dtype);
  for_element(type_, [&](auto zero) {
    using Element = decltype(zero);
    const std::byte* const from = file_.bytes().data() + begin_ + row * count * std::int64_t{sizeof zero};
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = places.empty() ? i : places[static_cast<std::size_t>(i)];
      Element value;
      std::memcpy(&value, from + place * std::int64_t{sizeof value}, sizeof value);
      if (type_ == "b1") value = value != Element{};
      if (write_number(value, dtype, to + i * width)) continue;
      file_.check_whole();
      fail_as(Exit::Data, path_, ": row ", row, " has ", +value, " at element ", place, " of the row, which ",
              name_of(dtype), " has no number for");
    }
  });
  file_.check_whole();
}

}  // namespace lethe
