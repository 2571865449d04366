#include "train/data/added_tokens.h"

#include <algorithm>

#include "train/data/unicode.h"

namespace lethe {
namespace {

/// Where the white space begins that ends at `end`, from `from` on.
std::size_t white_begin(std::string_view text, std::size_t from, std::size_t end) {
  std::size_t begin = from;
  for (std::size_t at = from; at < end;) {
    const Character character = character_at(text, at);
    at += character.bytes;
    if (character.kind != CharClass::Space) begin = at;
  }
  return begin;
}

std::size_t after_white(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Character character = character_at(text, at);
    if (character.kind != CharClass::Space) break;
    at += character.bytes;
  }
  return at;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.text.empty(); });
  std::ranges::stable_sort(tokens_, std::ranges::greater(), [](const AddedToken& token) { return token.text.size(); });
  for (const AddedToken& token : tokens_) begins_[static_cast<unsigned char>(token.text[0])] = true;
}

std::optional<AddedTokens::Found> AddedTokens::first_in(std::string_view text, std::size_t from, std::size_t to) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t at = from; at < to; ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    for (const AddedToken& token : tokens_)
      if (text.substr(at).starts_with(token.text)) {
        const std::size_t end = at + token.text.size();
        return Found{.begin = token.takes_left ? white_begin(text, from, at) : at,
                     .end = token.takes_right ? after_white(text, end) : end,
                     .number = token.number};
      }
  }
  return std::nullopt;
}

}  // namespace lethe
