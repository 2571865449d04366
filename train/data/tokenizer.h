// How text becomes tokens, and tokens text.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/data/vocabulary.h"

namespace lethe {

/// Tokens are bytes, the characters that a text has, those of byte pair encodings of bytes as GPT-2's, BERT's word
/// pieces, or those of sentencepiece's byte pair encoding of characters.
enum class TokenKind : std::uint32_t { Bytes, Characters, Pairs, WordPieces, SentencePieces };
const char* name_of(TokenKind kind);  // "bytes", "chars", "bpe", "wordpiece", "sentencepiece"

/// Remembers words that it has met, so each thread needs its own.
class Tokenizer : public Vocabulary {
 public:
  TokenKind kind() const { return kind_; }
  /// Tokens are 0 to size() - 1.
  std::int64_t size() const override { return std::ssize(texts_); }
  /// Appends the tokens of a text from the byte `at` on, 0 or where another call ended, until the text ends or `most`
  /// or more are there, and gives where it ended. Those of its frame are not among them. Fails with Exit::Data at a
  /// character that the vocabulary lacks.
  virtual std::size_t encode(std::string_view text, std::size_t at, std::size_t most,
                             std::vector<std::int32_t>& tokens) const = 0;
  std::vector<std::int32_t> symbols_of(std::string_view text) const override;
  /// The bytes that a token stands for, maybe a part of a character; none for a number that is no token.
  std::string text_of(std::int32_t token) const override;
  std::string identity() const override;
  Frame frame() const override { return frame_; }
  bool pads() const override { return kind_ == TokenKind::WordPieces; }
  bool adds_blank() const override { return kind_ == TokenKind::WordPieces || kind_ == TokenKind::SentencePieces; }
  /// The first one that stands for just that.
  std::optional<std::int32_t> token_of(std::string_view text) const;

 protected:
  /// `rules`: a checksum of what decides which tokens a text becomes, beside what these stand for.
  Tokenizer(TokenKind kind, std::vector<std::string> texts, std::uint32_t rules = 0, Frame frame = {})
      : kind_(kind), texts_(std::move(texts)), rules_(rules), frame_(std::move(frame)) {}

 private:
  TokenKind kind_;
  std::vector<std::string> texts_;
  std::uint32_t rules_;
  Frame frame_;
};

/// Token i is the byte i.
std::unique_ptr<Tokenizer> bytes_tokenizer();

/// Adds the characters of a text to those found before. Fails with Exit::Data where it is no UTF-8, saying at which
/// byte.
void find_characters(std::string_view text, std::vector<bool>& found);
/// The characters found, in the order of their numbers, as one text.
std::string alphabet_of(const std::vector<bool>& found);
/// Token i is character i of the alphabet. Fails with Exit::Data on one that is no UTF-8, or where a character stands
/// twice.
std::unique_ptr<Tokenizer> characters_tokenizer(std::string_view alphabet);

/// GPT-2's token after each document.
inline constexpr const char* kEndOfText = "<|endoftext|>";
/// GPT-2's files, under whichever of their names are in the directory. Fails with Exit::Data if one is missing.
struct PairFiles {
  std::string vocabulary;  // vocab.json or encoder.json: {"token": number}
  std::string merges;      // merges.txt or vocab.bpe: a line for each merge, the first to be done first
};
PairFiles pair_files_in(const std::string& directory);
bool has_pair_files(const std::string& directory);
/// GPT-2's byte pair encoding by these files. Fails with Exit::Data, file and line where they are not as GPT-2's: a
/// merge whose parts or result are no tokens or that stands twice, a byte that is none, numbers that are not 0 to their
/// count - 1.
std::unique_ptr<Tokenizer> open_pairs(const PairFiles& files);

/// Reads what made the tokens of a data set from the files beside its shards (train/data/token_shard.h): those of
/// open_folder_tokenizer(), for characters all of them in kCharactersFile, for bytes none.
std::unique_ptr<Tokenizer> open_tokenizer(TokenKind kind, const std::string& directory);
/// Whether those files are there.
bool has_tokenizer(TokenKind kind, const std::string& directory);
inline constexpr const char* kCharactersFile = "characters.txt";

}  // namespace lethe
