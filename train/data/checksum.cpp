#include "train/data/checksum.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "framework/error.h"

namespace lethe {
namespace {

constexpr std::size_t kBlock = 64;  // bytes that both digests absorb at once
using Words = std::array<std::uint32_t, 16>;

/// Calls visit(bytes) for one piece of the file after the other.
template <class Visit>
void for_each_piece(const std::string& file, const Visit& visit) {
  std::ifstream in(file, std::ios::binary);
  check_as(Exit::Data, in.good() && std::filesystem::is_regular_file(file), file, ": cannot be opened as a file");
  std::vector<std::byte> piece(std::size_t{1} << 20);
  do {
    in.read(reinterpret_cast<char*>(piece.data()), std::ssize(piece));
    visit(std::span<const std::byte>(piece).first(static_cast<std::size_t>(in.gcount())));
  } while (in);
  check_as(Exit::Data, in.eof(), file, ": cannot be read");
}

struct Md5 {
  using State = std::array<std::uint32_t, 4>;
  static constexpr bool kLittleEndian = true;
  static State start() { return {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u}; }

  /// RFC 1321, 3.4: T[i] is the integer part of 2^32 |sin(i + 1)|.
  static const std::array<std::uint32_t, 64>& sines() {
    static const auto table = [] {
      std::array<std::uint32_t, 64> t{};
      for (std::size_t i = 0; i < t.size(); ++i)
        t[i] = static_cast<std::uint32_t>(std::fabs(std::sin(static_cast<double>(i + 1))) * 0x1p32);
      return t;
    }();
    return table;
  }

  static void absorb(State& state, const Words& word) {
    static constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
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
};

/// FIPS 180-4, 4.2.2 and 5.3.3: the first 32 bits of the fractional parts of roots of the first `count` primes.
template <std::size_t count>
std::array<std::uint32_t, count> roots_of_primes(double (*root)(double)) {
  std::array<std::uint32_t, count> bits{};
  std::size_t found = 0;
  for (int n = 2; found < count; ++n) {
    bool is_prime = true;
    for (int d = 2; d * d <= n; ++d) is_prime = is_prime && n % d != 0;
    if (is_prime) bits[found++] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(root(n) * 0x1p32));
  }
  return bits;
}

struct Sha256 {
  using State = std::array<std::uint32_t, 8>;
  static constexpr bool kLittleEndian = false;
  static State start() { return roots_of_primes<8>(std::sqrt); }

  /// FIPS 180-4, 6.2.2.
  static void absorb(State& state, const Words& word) {
    static const std::array<std::uint32_t, 64> kAdded = roots_of_primes<64>(std::cbrt);
    std::array<std::uint32_t, 64> w;
    std::copy(word.begin(), word.end(), w.begin());
    for (std::size_t t = 16; t < w.size(); ++t) {
      const std::uint32_t x = w[t - 15], y = w[t - 2];
      w[t] = (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10) + w[t - 7] +
             (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + w[t - 16];
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < w.size(); ++t) {
      const std::uint32_t one =
          h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kAdded[t] + w[t];
      const std::uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const State more = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < more.size(); ++i) state[i] += more[i];
  }
};

/// The digest of bytes that come in pieces.
template <class Hash>
class Digest {
 public:
  void add(std::span<const std::byte> bytes) {
    length_ += bytes.size();
    while (!bytes.empty()) {
      const std::size_t taken = std::min(kBlock - filled_, bytes.size());
      std::copy_n(bytes.begin(), taken, block_.begin() + static_cast<std::ptrdiff_t>(filled_));
      bytes = bytes.subspan(taken);
      filled_ += taken;
      if (filled_ == kBlock) absorb();
    }
  }

  /// After one bit, zeros and the length in bits: its lower-case hexadecimal digits.
  std::string finish() {
    const std::uint64_t bits = length_ * 8;
    const auto put = [&](std::uint64_t byte) {
      const std::byte value{static_cast<std::uint8_t>(byte)};
      add({&value, 1});
    };
    put(0x80);
    while (filled_ != kBlock - 8) put(0);
    for (int i = 0; i < 8; ++i) put(bits >> 8 * (Hash::kLittleEndian ? i : 7 - i));
    std::string digits;
    for (const std::uint32_t part : state_)
      for (int i = 0; i < 4; ++i)
        for (const int nibble : {4, 0}) digits += "0123456789abcdef"[part >> (place(i) + nibble) & 15];
    return digits;
  }

 private:
  /// By how many bits byte i of a word is shifted.
  static int place(int i) { return 8 * (Hash::kLittleEndian ? i : 3 - i); }

  void absorb() {
    Words words{};
    for (std::size_t i = 0; i < kBlock; ++i)
      words[i / 4] |= std::to_integer<std::uint32_t>(block_[i]) << place(static_cast<int>(i % 4));
    Hash::absorb(state_, words);
    filled_ = 0;
  }

  typename Hash::State state_ = Hash::start();
  std::array<std::byte, kBlock> block_ = {};
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

template <class Hash>
std::string digest_of(std::span<const std::byte> bytes) {
  Digest<Hash> digest;
  digest.add(bytes);
  return digest.finish();
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
  std::uint32_t checksum = 0;
  for_each_piece(file, [&](std::span<const std::byte> piece) { checksum = checksum_of(piece, checksum); });
  return checksum;
}

std::string md5_of(const void* data, std::size_t bytes) {
  return digest_of<Md5>({static_cast<const std::byte*>(data), bytes});
}

std::string sha256_of(std::string_view text) { return digest_of<Sha256>(std::as_bytes(std::span(text))); }

std::string sha256_of_file(const std::string& file) {
  Digest<Sha256> digest;
  for_each_piece(file, [&](std::span<const std::byte> piece) { digest.add(piece); });
  return digest.finish();
}

}  // namespace lethe
