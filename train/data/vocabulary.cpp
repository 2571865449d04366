#include "train/data/vocabulary.h"

#include <array>

#include "framework/error.h"

namespace lethe {
namespace {

class Characters final : public Vocabulary {
 public:
  explicit Characters(std::string alphabet) : alphabet_(std::move(alphabet)) {}

  std::int64_t size() const override { return std::ssize(alphabet_); }
  std::string alphabet() const override { return alphabet_; }

  std::vector<std::int32_t> symbols_of(std::string_view text) const override {
    std::vector<std::int32_t> symbols;
    for (const char c : text) {
      const std::size_t found = alphabet_.find(c);
      check(found != std::string::npos, "character ", symbols.size() + 1, " is '", shown_byte(c),
            "', which is none of the ", alphabet_.size(), " that the network knows: ", known());
      symbols.push_back(static_cast<std::int32_t>(found));
    }
    return symbols;
  }

  std::string text_of(std::int32_t symbol) const override { return {alphabet_.at(static_cast<std::size_t>(symbol))}; }

 private:
  std::string known() const {
    std::string text;
    for (const char c : alphabet_) text += c == ' ' ? " " : shown_byte(c);
    return shortened(text, 256);
  }

  std::string alphabet_;
};

}  // namespace

std::unique_ptr<Vocabulary> characters_of(std::string alphabet) {
  return std::make_unique<Characters>(std::move(alphabet));
}

std::string bytes_in(const std::vector<std::string_view>& texts) {
  std::array<bool, 256> found{};
  for (const std::string_view text : texts)
    for (const char byte : text) found[static_cast<unsigned char>(byte)] = true;
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    if (found[byte]) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

std::string shown_byte(char byte) {
  constexpr const char* kHex = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  if (value > ' ' && value < 127) return {byte};
  return message("\\x", kHex[value / 16], kHex[value % 16]);
}

}  // namespace lethe
