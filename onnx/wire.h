// Protobuf's wire form, as far as ONNX needs it (protobuf.dev/programming-guides/encoding): a message is a row of
// fields, each a number, what kind of value follows, and the value. A message within another, a text and packed numbers
// are bytes after their length.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

}  // namespace lethe::onnx
