#include "train/data/checksum.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "framework/error.h"

namespace lethe {
namespace {

using State = std::array<std::uint32_t, 4>;
constexpr std::size_t kBlock = 64;

/// RFC 1321, 3.4: T[i] is the integer part of 2^32 |sin(i + 1)|.
const std::array<std::uint32_t, 64>& sines() {
  static const auto table = [] {
    std::array<std::uint32_t, 64> t{};
    for (std::size_t i = 0; i < t.size(); ++i)
      t[i] = static_cast<std::uint32_t>(std::fabs(std::sin(static_cast<double>(i + 1))) * 0x1p32);
    return t;
  }();
  return table;
}

void absorb(State& state, const std::uint8_t* block) {
  static constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  std::array<std::uint32_t, 16> word;
  for (int i = 0; i < 16; ++i)
    word[i] = block[4 * i] | block[4 * i + 1] << 8 | block[4 * i + 2] << 16 |
              static_cast<std::uint32_t>(block[4 * i + 3]) << 24;
  std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  const auto turn = [&](int i, std::uint32_t mixed, int from) {
    const std::uint32_t sum = a + mixed + sines()[i] + word[from & 15];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kTurns[i / 16][i % 4]);
  };
  for (int i = 0; i < 16; ++i) turn(i, (b & c) | (~b & d), i);
  for (int i = 16; i < 32; ++i) turn(i, (d & b) | (~d & c), 5 * i + 1);
  for (int i = 32; i < 48; ++i) turn(i, b ^ c ^ d, 3 * i + 5);
  for (int i = 48; i < 64; ++i) turn(i, c ^ (b | ~d), 7 * i);
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::uint32_t checksum_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint32_t checksum_of(std::string_view text, std::uint32_t before) {
  return checksum_of(std::as_bytes(std::span(text)), before);
}

std::uint32_t checksum_of_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  check_as(Exit::Data, in.good() && std::filesystem::is_regular_file(file), file, ": cannot be opened as a file");
  std::vector<std::byte> piece(std::size_t{1} << 20);
  std::uint32_t checksum = 0;
  do {
    in.read(reinterpret_cast<char*>(piece.data()), std::ssize(piece));
    checksum = checksum_of(std::span(piece).first(static_cast<std::size_t>(in.gcount())), checksum);
  } while (in);
  check_as(Exit::Data, in.eof(), file, ": cannot be read");
  return checksum;
}

std::string md5_of(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::uint8_t*>(data);
  State state = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
  const std::size_t whole = bytes / kBlock * kBlock, rest = bytes - whole;
  for (std::size_t at = 0; at < whole; at += kBlock) absorb(state, from + at);

  // The end: the rest, one bit, zeros, and the length in bits.
  std::array<std::uint8_t, 2 * kBlock> tail{};
  std::copy_n(from + whole, rest, tail.begin());
  tail[rest] = 0x80;
  const std::size_t end = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
  for (int i = 0; i < 8; ++i) tail[end - 8 + i] = static_cast<std::uint8_t>(std::uint64_t{bytes} * 8 >> 8 * i);
  for (std::size_t at = 0; at < end; at += kBlock) absorb(state, tail.data() + at);

  std::string digits;
  for (const std::uint32_t part : state)
    for (int nibble = 0; nibble < 8; ++nibble) digits += "0123456789abcdef"[part >> (4 * (nibble ^ 1)) & 15];
  return digits;
}

}  // namespace lethe
