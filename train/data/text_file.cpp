// Text, character by character; a character is a byte.
#include <array>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/samples.h"
#include "train/data/sequences.h"

namespace lethe {
namespace {

class Text final : public Sequences {
 public:
  /// `symbols` are the file's, of which the test split begins at `test`. With `rows` each split has these windows of
  /// all.
  Text(SequenceInfo info, std::vector<std::uint8_t> symbols, std::int64_t test, RowsOfSplits rows)
      : Sequences(std::move(info)), symbols_(std::move(symbols)), test_(test), rows_(std::move(rows)) {}

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    const std::int64_t length = info().length;
    const std::vector<std::int32_t>& rows = rows_[static_cast<std::size_t>(split)];
    const std::int64_t begin = !rows.empty() ? rows[static_cast<std::size_t>(index)] * length
                                             : (split == Split::Test ? test_ : 0) + index * length;
    const std::uint8_t* from = symbols_.data() + begin;
    for (std::int64_t t = 0; t < length; ++t) {
      symbols[t] = from[t];
      labels[t] = from[t + 1];
    }
  }

 private:
  std::vector<std::uint8_t> symbols_;
  std::int64_t test_;
  RowsOfSplits rows_;
};

/// How many windows with the character after each stand in so many characters.
std::int64_t windows_in(std::int64_t characters, std::int64_t length) {
  return characters > 0 ? (characters - 1) / length : 0;
}

}  // namespace

std::unique_ptr<Sequences> open_text(const std::string& file, std::int64_t length, double held_share,
                                     const std::string& known) {
  FileBytes bytes = read_text_file(file);
  const auto characters = static_cast<std::int64_t>(bytes.size());
  check_as(Exit::Data, characters > 0, file, ": is empty, text needs at least two different characters");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  SequenceInfo info{.name = "text", .length = length, .alphabet = known.empty() ? bytes_in({text}) : known};
  check_as(Exit::Data, info.alphabet.size() > 1, file, ": has one character alone, ", characters,
           " times; text needs at least two different ones");
  const std::int64_t of_tests = characters / 10;
  info.sizes = {windows_in(characters - of_tests, length), windows_in(of_tests, length)};
  RowsOfSplits rows;
  if (held_share > 0) {
    rows = divided_rows(file, windows_in(characters, length), held_share);
    info.sizes = {std::ssize(rows[0]), std::ssize(rows[1])};
  }
  check_as(Exit::Data, info.sizes[1] > 0, file, ": has ", characters, " characters, but windows of ", length,
           " with a tenth for tests take at least ", 10 * (length + 1), "; `set` length=L makes them shorter");
  std::array<std::int16_t, 256> symbol_of{};
  symbol_of.fill(-1);
  for (std::size_t i = 0; i < info.alphabet.size(); ++i)
    symbol_of[static_cast<std::uint8_t>(info.alphabet[i])] = static_cast<std::int16_t>(i);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::int16_t symbol = symbol_of[bytes[at]];
    check_as(Exit::Data, symbol >= 0, file, ": byte ", at, " is '", shown_byte(static_cast<char>(bytes[at])),
             "', which is none of the ", info.alphabet.size(), " characters that the run knows");
    bytes[at] = static_cast<std::uint8_t>(symbol);
  }
  return std::make_unique<Text>(std::move(info), std::move(bytes), characters - of_tests, std::move(rows));
}

}  // namespace lethe
