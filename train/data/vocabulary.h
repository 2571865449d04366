// How text becomes symbols, and symbols text.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lethe {

/// Symbols that stand before and after those of a text: llama's <s>, BERT's [CLS] and [SEP].
struct Frame {
  std::vector<std::int32_t> before = {}, after = {};
  std::int64_t size() const { return std::ssize(before) + std::ssize(after); }
};

class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  virtual std::int64_t size() const = 0;  // symbols are the numbers below
  /// Fails where the text has what no symbol stands for, saying what and where.
  virtual std::vector<std::int32_t> symbols_of(std::string_view text) const = 0;
  /// The bytes that a symbol stands for, maybe a part of a character.
  virtual std::string text_of(std::int32_t symbol) const = 0;
  virtual Frame frame() const { return {}; }
  /// Whether symbol 0 is padding by the vocabulary itself, and so in no text.
  virtual bool pads() const { return false; }
  /// Whether the blank that the text of symbols begins with is none of the text itself.
  virtual bool adds_blank() const { return false; }
  /// The byte that each symbol stands for, if symbols are bytes; else "".
  virtual std::string alphabet() const { return ""; }
  /// "bpe of 50257 tokens, checksum 1a2b3c4d" if symbols are tokens, another for any that makes others; else "".
  virtual std::string identity() const { return ""; }
};

/// Symbol i is the byte alphabet[i].
std::unique_ptr<Vocabulary> characters_of(std::string alphabet);

/// The bytes that are in the texts, in the order of their values.
std::string bytes_in(const std::vector<std::string_view>& texts);

/// A byte as it is, or as in C if it cannot be seen: "a", "\x0a".
std::string shown_byte(char byte);

}  // namespace lethe
