// Protobuf's wire form, as far as ONNX needs it (protobuf.dev/programming-guides/encoding): a message is a row of
// fields, each a number, what kind of value follows, and the value. A message within another, a text and packed numbers
// are bytes after their length.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lethe::onnx {

/// A message that is written field by field. Fields may come in any order; of one number they stand one after another.
class Message {
 public:
  /// A number, as int32, int64 and enumerations are written; negative ones take ten bytes.
  void number(int field, std::int64_t value);
  void number(int field, float value);
  void text(int field, std::string_view text) { bytes(field, text); }
  void message(int field, const Message& message) { bytes(field, message.bytes_); }
  /// Numbers, packed.
  void numbers(int field, std::span<const std::int64_t> values);
  void numbers(int field, std::span<const float> values);
  /// What stands before so many bytes of a field, which whoever writes the message adds.
  void begin_bytes(int field, std::int64_t count);

  const std::string& bytes() const { return bytes_; }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }

 private:
  void bytes(int field, std::string_view bytes);
  void key(int field, int kind);
  void varint(std::uint64_t value);

  std::string bytes_;
};

/// A message of a stranger's that is read field by field. Fails, saying so, for bytes that are none.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : left_(bytes) {}

  /// Goes to the next field; false after the last.
  bool next();
  int field() const { return field_; }
  /// The value of a field that is a number; of one that has bytes; of one of four bytes. Fails for a field of another
  /// kind.
  std::int64_t number() const;
  std::string_view bytes() const;
  float number_in_four_bytes() const;
  std::string text() const { return std::string(bytes()); }
  /// Adds the numbers of a field that is packed, or the one of a field that is not.
  void add_numbers(std::vector<std::int64_t>& to) const;
  void add_numbers(std::vector<float>& to) const;

 private:
  std::uint64_t varint();
  std::string_view take(std::uint64_t count);

  std::string_view left_, bytes_ = {};
  int field_ = 0, kind_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace lethe::onnx
