#include "onnx/wire.h"

#include <bit>
#include <cstring>

#include "framework/error.h"

namespace lethe::onnx {
namespace {

constexpr int kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5;

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

std::uint64_t MessageReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(take(1)[0]);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  fail_as(Exit::Data, "is no protobuf message: a number of more than ten bytes");
}

std::string_view MessageReader::take(std::uint64_t count) {
  check_as(Exit::Data, count <= left_.size(), "is no protobuf message: it ends within a field");
  const std::string_view taken = left_.substr(0, count);
  left_.remove_prefix(count);
  return taken;
}

bool MessageReader::next() {
  if (left_.empty()) return false;
  const std::uint64_t key = varint();
  check_as(Exit::Data, key >> 3 > 0 && key >> 3 < 1 << 29, "is no protobuf message: a field of number ", key >> 3);
  field_ = static_cast<int>(key >> 3), kind_ = static_cast<int>(key & 7);
  bytes_ = {};
  switch (kind_) {
    case kVarint:
      number_ = varint();
      return true;
    case kBytes:
      bytes_ = take(varint());
      return true;
    case kFourBytes:
      bytes_ = take(4);
      return true;
    default:
      check_as(Exit::Data, kind_ == kEightBytes, "is no protobuf message: a field of kind ", kind_);
      bytes_ = take(8);
      return true;
  }
}

std::int64_t MessageReader::number() const {
  check_as(Exit::Data, kind_ == kVarint, "field ", field_, " is no number");
  return static_cast<std::int64_t>(number_);
}

std::string_view MessageReader::bytes() const {
  check_as(Exit::Data, kind_ == kBytes, "field ", field_, " is no message");
  return bytes_;
}

float MessageReader::number_in_four_bytes() const {
  check_as(Exit::Data, kind_ == kFourBytes, "field ", field_, " is no float");
  float value = 0;
  std::memcpy(&value, bytes_.data(), sizeof value);
  return value;
}

void MessageReader::add_numbers(std::vector<std::int64_t>& to) const {
  if (kind_ == kVarint) return to.push_back(number());
  MessageReader packed(bytes());
  while (!packed.left_.empty()) to.push_back(static_cast<std::int64_t>(packed.varint()));
}

void MessageReader::add_numbers(std::vector<float>& to) const {
  if (kind_ == kFourBytes) return to.push_back(number_in_four_bytes());
  const std::string_view all = bytes();
  check_as(Exit::Data, all.size() % sizeof(float) == 0, "field ", field_, " is no row of floats");
  const std::size_t before = to.size();
  to.resize(before + all.size() / sizeof(float));
  if (!all.empty()) std::memcpy(to.data() + before, all.data(), all.size());
}

}  // namespace lethe::onnx
