#include "onnx/wire.h"

#include <bit>

namespace lethe::onnx {
namespace {

constexpr int kVarint = 0, kBytes = 2, kFourBytes = 5;

void append_bits(std::string& to, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8) to += static_cast<char>(bits >> shift);
}

}  // namespace

void Message::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void Message::key(int field, int kind) { varint(static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(kind)); }

void Message::number(int field, std::int64_t value) {
  key(field, kVarint);
  varint(static_cast<std::uint64_t>(value));
}

void Message::number(int field, float value) {
  key(field, kFourBytes);
  append_bits(bytes_, value);
}

void Message::begin_bytes(int field, std::int64_t count) {
  key(field, kBytes);
  varint(static_cast<std::uint64_t>(count));
}

void Message::bytes(int field, std::string_view bytes) {
  begin_bytes(field, static_cast<std::int64_t>(bytes.size()));
  bytes_ += bytes;
}

void Message::numbers(int field, std::span<const std::int64_t> values) {
  Message packed;
  for (const std::int64_t value : values) packed.varint(static_cast<std::uint64_t>(value));
  message(field, packed);
}

void Message::numbers(int field, std::span<const float> values) {
  Message packed;
  for (const float value : values) append_bits(packed.bytes_, value);
  message(field, packed);
}

}  // namespace lethe::onnx
