#include "train/data/tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "framework/error.h"
#include "framework/formatted.h"
#include "framework/text_input.h"
#include "train/data/checksum.h"
#include "train/data/data_files.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/unicode.h"

namespace lethe {
namespace {

std::vector<std::string> all_bytes() {
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
  return texts;
}

class BytesTokenizer final : public Tokenizer {
 public:
  BytesTokenizer() : Tokenizer(TokenKind::Bytes, all_bytes()) {}
  std::size_t encode(std::string_view text, std::size_t at, std::size_t most,
                     std::vector<std::int32_t>& tokens) const override {
    text = text.substr(at, most);
    for (const char byte : text) tokens.push_back(static_cast<unsigned char>(byte));
    return at + text.size();
  }
};

std::string name_of(const Character& character) {
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string digits;
  for (char32_t code = character.code; code != 0 || digits.size() < (character.valid ? 4 : 2); code /= 16)
    digits.insert(digits.begin(), kHex[code % 16]);
  return (character.valid ? "U+" : "0x") + digits;
}

/// The one at `at`, which must be UTF-8.
Character valid_character(std::string_view text, std::size_t at) {
  const Character character = character_at(text, at);
  check_as(Exit::Data, character.valid, "byte ", at, ", ", name_of(character),
           ", is no UTF-8, so it is no character; tokens of bytes take any");
  return character;
}

class CharactersTokenizer final : public Tokenizer {
 public:
  explicit CharactersTokenizer(const std::vector<std::string>& characters)
      : Tokenizer(TokenKind::Characters, characters) {
    for (const std::string& character : characters) {
      const auto number = static_cast<std::int32_t>(numbers_.size());
      const bool is_new = numbers_.emplace(character_at(character, 0).code, number).second;
      check_as(Exit::Data, is_new, "character ", number, " stands there twice");
    }
  }
  std::size_t encode(std::string_view text, std::size_t at, std::size_t most,
                     std::vector<std::int32_t>& tokens) const override {
    for (std::size_t count = 0; at < text.size() && count < most; ++count) {
      const Character character = valid_character(text, at);
      const auto found = numbers_.find(character.code);
      check_as(Exit::Data, found != numbers_.end(), "byte ", at, " begins ", name_of(character),
               ", which is none of the ", numbers_.size(), " characters of the vocabulary");
      tokens.push_back(found->second);
      at += character.bytes;
    }
    return at;
  }

 private:
  std::unordered_map<char32_t, std::int32_t> numbers_;
};

}  // namespace

const char* name_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::Bytes:
      return "bytes";
    case TokenKind::Characters:
      return "chars";
    case TokenKind::Pairs:
      return "bpe";
    case TokenKind::WordPieces:
      return "wordpiece";
    case TokenKind::SentencePieces:
      return "sentencepiece";
  }
  return "unknown";
}

std::vector<std::int32_t> Tokenizer::symbols_of(std::string_view text) const {
  std::vector<std::int32_t> tokens;
  encode(text, 0, std::string_view::npos, tokens);
  return tokens;
}

std::string Tokenizer::text_of(std::int32_t token) const {
  return token >= 0 && token < size() ? texts_[static_cast<std::size_t>(token)] : "";
}

std::string Tokenizer::identity() const {
  std::uint32_t checksum = rules_;
  for (const std::string& text : texts_) checksum = checksum_of(message(text.size(), ' ', text), checksum);
  return message(name_of(kind_), " of ", texts_.size(), " tokens, checksum ", formatted("%08x", checksum));
}

std::optional<std::int32_t> Tokenizer::token_of(std::string_view text) const {
  const auto found = std::ranges::find(texts_, text);
  if (found == texts_.end()) return {};
  return static_cast<std::int32_t>(found - texts_.begin());
}

std::unique_ptr<Tokenizer> bytes_tokenizer() { return std::make_unique<BytesTokenizer>(); }

void find_characters(std::string_view text, std::vector<bool>& found) {
  found.resize(0x110000);
  for (std::size_t at = 0; at < text.size();) {
    const Character character = valid_character(text, at);
    found[character.code] = true;
    at += character.bytes;
  }
}

std::string alphabet_of(const std::vector<bool>& found) {
  std::string alphabet;
  for (std::size_t code = 0; code < found.size(); ++code)
    if (found[code]) alphabet += utf8_of(static_cast<char32_t>(code));
  return alphabet;
}

std::unique_ptr<Tokenizer> characters_tokenizer(std::string_view alphabet) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < alphabet.size(); at += characters.back().size())
    characters.emplace_back(alphabet.substr(at, valid_character(alphabet, at).bytes));
  return std::make_unique<CharactersTokenizer>(characters);
}

bool has_tokenizer(TokenKind kind, const std::string& directory) {
  if (kind == TokenKind::Bytes) return true;
  if (kind == TokenKind::Characters) return std::filesystem::exists(directory + '/' + kCharactersFile);
  return has_folder_tokenizer(directory);
}

std::unique_ptr<Tokenizer> open_tokenizer(TokenKind kind, const std::string& directory) {
  if (kind == TokenKind::Bytes) return bytes_tokenizer();
  if (kind != TokenKind::Characters) {
    std::unique_ptr<Tokenizer> tokenizer = open_folder_tokenizer(directory).tokenizer;
    check_as(Exit::Data, tokenizer->kind() == kind, directory, ": the tokenizer there is of kind ",
             name_of(tokenizer->kind()), ", the shards' tokens are of kind ", name_of(kind));
    return tokenizer;
  }
  const std::string file = directory + '/' + kCharactersFile;
  const FileBytes bytes = read_file(file);
  return with_context(file, [&] {
    return characters_tokenizer({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}

}  // namespace lethe
