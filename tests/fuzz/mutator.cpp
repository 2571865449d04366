#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>

namespace lethe::fuzz {
namespace {

constexpr std::size_t kLongestBlock = 64;
constexpr std::uint64_t kIntegers[] = {0,          1,          2,         16,         127,       128,
                                       255,        256,        1024,      32767,      32768,     65535,
                                       65536,      1u << 24,   1u << 30,  INT32_MAX,  1u << 31,  UINT32_MAX,
                                       1ull << 32, 1ull << 48, INT64_MAX, 1ull << 63, UINT64_MAX};
constexpr const char* kNumbers[] = {"0",
                                    "-1",
                                    "1",
                                    "2",
                                    "7",
                                    "100",
                                    "65536",
                                    "2147483647",
                                    "2147483648",
                                    "4294967296",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "-9223372036854775808",
                                    "18446744073709551616",
                                    "0.5",
                                    "-0.0",
                                    "1e308",
                                    "1e999",
                                    "1e-400",
                                    "nan"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Mutator::Mutator(const Material& material, std::uint64_t seed) : material_(material), random_(seed) {
  require(!material.seeds.empty(), "the target has no seed");
  const auto longest = std::max_element(material.seeds.begin(), material.seeds.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  most_bytes_ = std::max<std::size_t>(4096, 2 * longest->size());
}

std::string Mutator::next() {
  static constexpr std::array<Change, 8> kChanges = {
      &Mutator::flip_bit,   &Mutator::set_byte,    &Mutator::insert_bytes, &Mutator::erase_block,
      &Mutator::copy_block, &Mutator::put_integer, &Mutator::put_number,   &Mutator::put_word};
  std::string text = any_seed();
  if (below(8) == 0) {  // the front of one and the back of another
    const std::string& other = any_seed();
    text = text.substr(0, below(text.size() + 1)) + other.substr(below(other.size() + 1));
  }
  do {
    (this->*kChanges[below(kChanges.size())])(text);
  } while (below(3) != 0);
  text.resize(std::min(text.size(), most_bytes_));
  return text;
}

void Mutator::flip_bit(std::string& text) {
  if (!text.empty()) text[below(text.size())] ^= static_cast<char>(1 << below(8));
}

void Mutator::set_byte(std::string& text) {
  if (!text.empty()) text[below(text.size())] = static_cast<char>(below(256));
}

void Mutator::insert_bytes(std::string& text) {
  std::string bytes(1 + below(8), '\0');
  for (char& byte : bytes) byte = static_cast<char>(below(256));
  text.insert(below(text.size() + 1), bytes);
}

void Mutator::erase_block(std::string& text) { text.erase(below(text.size() + 1), 1 + below(kLongestBlock)); }

void Mutator::copy_block(std::string& text) {
  const std::string block = text.substr(below(text.size() + 1), 1 + below(kLongestBlock));
  text.insert(below(text.size() + 1), block);
}

void Mutator::put_integer(std::string& text) {
  const std::uint64_t value = kIntegers[below(std::size(kIntegers))];
  const std::size_t size = std::size_t{1} << below(4);
  const bool big_endian = below(2) != 0;
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * (big_endian ? size - 1 - i : i));
  text.replace(below(text.size() + 1), size, bytes);
}

void Mutator::put_number(std::string& text) {
  const auto start = text.begin() + static_cast<std::ptrdiff_t>(below(text.size() + 1));
  const auto first = std::find_if(start, text.end(), is_digit);
  const auto last = std::find_if_not(first, text.end(), is_digit);
  text.replace(first, last, kNumbers[below(std::size(kNumbers))]);
}

void Mutator::put_word(std::string& text) {
  if (material_.words.empty()) return;
  const std::string& word = material_.words[below(material_.words.size())];
  text.replace(below(text.size() + 1), below(2) != 0 ? word.size() : 0, word);
}

}  // namespace lethe::fuzz
