#include "train/data/word_model.h"

#include "framework/error.h"
#include "train/data/unicode.h"

namespace lethe {
namespace {

class BytePairs final : public WordModel {
 public:
  BytePairs(PairMerges merges, const TokensOfBytes& bytes, TokenNumbers whole)
      : merges_(std::move(merges)), bytes_(bytes), whole_(std::move(whole)) {}
  void encode(std::string_view word, std::vector<std::int32_t>& tokens) override {
    if (const auto found = whole_.find(word); found != whole_.end()) return tokens.push_back(found->second);
    symbols_.clear();
    for (const char byte : word) {
      const auto number = static_cast<unsigned char>(byte);
      check_as(Exit::Data, bytes_[number] != kNoToken, quote(word), " has the byte ", static_cast<int>(number),
               ", which is no token of the vocabulary");
      symbols_.push_back(bytes_[number]);
    }
    merges_.encode(symbols_, tokens);
  }

 private:
  PairMerges merges_;
  TokensOfBytes bytes_;
  TokenNumbers whole_;
  std::vector<std::int32_t> symbols_ = {};  // of the word at hand
};

class CharacterPairs final : public WordModel {
 public:
  CharacterPairs(PairMerges merges, TokenNumbers characters, UnknownCharacters unknown)
      : merges_(std::move(merges)), characters_(std::move(characters)), unknown_(unknown) {}
  void encode(std::string_view word, std::vector<std::int32_t>& tokens) override {
    symbols_.clear();
    bool was_unknown = false;
    for (std::size_t at = 0; at < word.size();) {
      const std::string_view own = word.substr(at, character_at(word, at).bytes);
      const auto found = characters_.find(own);
      const bool is_known = found != characters_.end();
      if (is_known)
        symbols_.push_back(found->second);
      else
        add_unknown(own, was_unknown);
      was_unknown = !is_known;
      at += own.size();
    }
    merges_.encode(symbols_, tokens);
  }

 private:
  void add_unknown(std::string_view own, bool follows_unknown) {
    if (unknown_.bytes)
      for (const char byte : own) symbols_.push_back((*unknown_.bytes)[static_cast<unsigned char>(byte)]);
    else if (unknown_.token && !(follows_unknown && unknown_.is_one))
      symbols_.push_back(*unknown_.token);
  }

  PairMerges merges_;
  TokenNumbers characters_;
  UnknownCharacters unknown_;
  std::vector<std::int32_t> symbols_ = {};  // of the word at hand
};

class WordPieces final : public WordModel {
 public:
  WordPieces(TokenNumbers pieces, WordPieceRules rules) : pieces_(std::move(pieces)), rules_(std::move(rules)) {}
  void encode(std::string_view word, std::vector<std::int32_t>& tokens) override {
    if (character_at(word, 0).kind == CharClass::Space) return;
    ends_.clear();  // of characters
    for (std::size_t at = 0; at < word.size(); ends_.push_back(at)) at += character_at(word, at).bytes;
    const std::size_t before = tokens.size();
    if (std::ssize(ends_) <= rules_.most_characters && add_pieces(word, tokens)) return;
    tokens.resize(before);
    tokens.push_back(rules_.unknown);
  }

 private:
  /// Whether pieces make up the word.
  bool add_pieces(std::string_view word, std::vector<std::int32_t>& tokens) {
    for (std::size_t begin = 0, first = 0; begin < word.size();) {
      std::size_t last = ends_.size();  // one more than the character that the piece ends with
      for (; last > first; --last) {
        piece_.assign(begin > 0 ? rules_.prefix : "").append(word.substr(begin, ends_[last - 1] - begin));
        const auto found = pieces_.find(piece_);
        if (found == pieces_.end()) continue;
        tokens.push_back(found->second);
        break;
      }
      if (last == first) return false;
      begin = ends_[last - 1];
      first = last;
    }
    return true;
  }

  TokenNumbers pieces_;
  WordPieceRules rules_;
  std::vector<std::size_t> ends_ = {};  // of the word at hand, as is the piece
  std::string piece_ = {};
};

}  // namespace

std::unique_ptr<WordModel> byte_pairs(PairMerges merges, const TokensOfBytes& bytes, TokenNumbers whole) {
  return std::make_unique<BytePairs>(std::move(merges), bytes, std::move(whole));
}

std::unique_ptr<WordModel> character_pairs(PairMerges merges, TokenNumbers characters, UnknownCharacters unknown) {
  return std::make_unique<CharacterPairs>(std::move(merges), std::move(characters), unknown);
}

std::unique_ptr<WordModel> word_pieces(TokenNumbers pieces, WordPieceRules rules) {
  return std::make_unique<WordPieces>(std::move(pieces), std::move(rules));
}

}  // namespace lethe
