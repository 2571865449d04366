#include "train/data/token_lists.h"

#include "framework/error.h"
#include "train/data/unicode.h"

namespace lethe {
namespace {

/// GPT-2's files spell a byte as a character that can be seen: itself where it can, else one from U+0100 on.
std::array<char32_t, 256> spelled_bytes() {
  std::array<char32_t, 256> spelled{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool seen = (byte > ' ' && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    spelled[byte] = seen ? byte : next++;
  }
  return spelled;
}

}  // namespace

std::string bytes_spelled(const std::string& token) {
  static const auto bytes = [] {
    std::unordered_map<char32_t, char> map;
    for (int byte = 0; byte < 256; ++byte)
      map[spelled_bytes()[static_cast<std::size_t>(byte)]] = static_cast<char>(byte);
    return map;
  }();
  std::string text;
  for (std::size_t at = 0; at < token.size();) {
    const Character character = character_at(token, at);
    const auto byte = bytes.find(character.code);
    if (!character.valid || byte == bytes.end()) return token;
    text += byte->second;
    at += character.bytes;
  }
  return text;
}

TokensOfBytes known_bytes(const TokenNumbers& numbers) {
  TokensOfBytes tokens{};
  for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
    const auto found = numbers.find(utf8_of(spelled_bytes()[byte]));
    tokens[byte] = found == numbers.end() ? kNoToken : found->second;
  }
  return tokens;
}

TokensOfBytes tokens_of_bytes(const TokenNumbers& numbers) {
  const TokensOfBytes tokens = known_bytes(numbers);
  for (std::size_t byte = 0; byte < tokens.size(); ++byte)
    check_as(Exit::Data, tokens[byte] != kNoToken, "lacks ", quote(utf8_of(spelled_bytes()[byte])),
             ", the token of byte ", byte);
  return tokens;
}

std::vector<std::string> tokens_by_number(const TokenNumbers& numbers) {
  std::vector<std::string> tokens(numbers.size());
  std::vector<bool> taken(numbers.size());
  for (const auto& [token, number] : numbers) {
    const auto at = static_cast<std::size_t>(number);
    check_as(Exit::Data, at < tokens.size(), "token ", quote(token), " has the number ", number, ", but there are ",
             tokens.size(), " tokens, and their numbers begin at 0");
    check_as(Exit::Data, !taken[at], "two tokens have the number ", number);
    taken[at] = true;
    tokens[at] = token;
  }
  return tokens;
}

void add_merge(PairMerges& merges, const TokenNumbers& numbers, const std::string& whose, std::string_view left,
               std::string_view right) {
  const std::string line = message(left, ' ', right);
  const auto token = [&](std::string_view spelled) {
    const auto found = numbers.find(spelled);
    check_as(Exit::Data, found != numbers.end(), "the merge ", quote(line), " needs the token ", quote(spelled),
             ", which ", whose, " lacks");
    return found->second;
  };
  const std::int32_t first = token(left), second = token(right);
  const bool is_new = merges.add(first, second, token(message(left, right)));
  check_as(Exit::Data, is_new, "the merge ", quote(line), " stands there twice");
}

}  // namespace lethe
