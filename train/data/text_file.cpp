// Text, character by character, which is a byte, or token by token.
#include <array>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/held_out.h"
#include "train/data/samples.h"
#include "train/data/sequences.h"

namespace lethe {
namespace {

/// The symbols of a file, and how they are divided.
template <class Symbol>
struct TextFile {
  std::vector<Symbol> symbols = {};
  std::int64_t tests_from = 0;  // where the test split begins
  RowsOfSplits rows = {};       // instead: the windows of each split, of all
};

template <class Symbol>
class Text final : public Sequences {
 public:
  /// What symbols mean stands in the alphabet, or else in `folder`, whose tokens they are.
  Text(SequenceInfo info, TextFile<Symbol> file, std::string folder = "", FolderTokenizer tokens = {})
      : Sequences(std::move(info)), file_(std::move(file)), folder_(std::move(folder)), end_(tokens.end) {
    if (tokens.tokenizer) identity_ = tokens.tokenizer->identity();
  }

  Meaning meaning() const override { return folder_.empty() ? Sequences::meaning() : Meaning{.tokenizer = identity_}; }
  std::unique_ptr<Vocabulary> vocabulary() const override {
    return folder_.empty() ? Sequences::vocabulary() : open_folder_tokenizer(folder_).tokenizer;
  }
  std::optional<std::int32_t> end_symbol() const override { return end_; }

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    const std::int64_t length = info().length;
    const std::vector<std::int32_t>& rows = file_.rows[static_cast<std::size_t>(split)];
    const std::int64_t begin = !rows.empty() ? rows[static_cast<std::size_t>(index)] * length
                                             : (split == Split::Test ? file_.tests_from : 0) + index * length;
    const Symbol* from = file_.symbols.data() + begin;
    for (std::int64_t t = 0; t < length; ++t) {
      symbols[t] = from[t];
      labels[t] = from[t + 1];
    }
  }

 private:
  TextFile<Symbol> file_;
  std::string folder_, identity_ = {};  // reading a tokenizer takes its time
  std::optional<std::int32_t> end_;
};

/// How many windows with the symbol after each stand in so many symbols.
std::int64_t windows_in(std::int64_t symbols, std::int64_t length) { return symbols > 0 ? (symbols - 1) / length : 0; }

/// Divides symbols into windows for training and for tests; `unit` is what they are called.
template <class Symbol>
TextFile<Symbol> divided(std::vector<Symbol> symbols, const TextSpec& spec, const char* unit, SequenceInfo& info) {
  const auto count = std::ssize(symbols), of_tests = count / 10;
  TextFile<Symbol> file{.symbols = std::move(symbols), .tests_from = count - of_tests};
  info.sizes = {windows_in(file.tests_from, info.length), windows_in(of_tests, info.length)};
  if (spec.val > 0) {
    file.rows = divided_rows(spec.path, windows_in(count, info.length), spec.val);
    info.sizes = {std::ssize(file.rows[0]), std::ssize(file.rows[1])};
  }
  check_as(Exit::Data, info.sizes[1] > 0, spec.path, ": has ", count, ' ', unit, ", but windows of ", info.length,
           " with a tenth for tests take at least ", 10 * (info.length + 1), "; `set` length=L makes them shorter");
  return file;
}

std::unique_ptr<Sequences> open_tokens_of(const TextSpec& spec, std::string_view text, std::int64_t length) {
  FolderTokenizer folder = open_folder_tokenizer(spec.tokenizer);
  const Tokenizer& tokenizer = *folder.tokenizer;
  std::vector<std::int32_t> tokens = tokenizer.frame().before;
  with_context(spec.path, [&] { tokenizer.encode(text, 0, std::string_view::npos, tokens); });
  SequenceInfo info{.name = "text", .length = length, .tokens = tokenizer.size()};
  TextFile<std::int32_t> file = divided(std::move(tokens), spec, "tokens", info);
  return std::make_unique<Text<std::int32_t>>(std::move(info), std::move(file), spec.tokenizer, std::move(folder));
}

}  // namespace

std::unique_ptr<Sequences> open_text(const TextSpec& spec, std::int64_t length, const std::string& known) {
  FileBytes bytes = read_text_file(spec.path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  check_as(Exit::Data, !text.empty(), spec.path, ": is empty, text needs at least two different characters");
  if (!spec.tokenizer.empty()) return open_tokens_of(spec, text, length);
  SequenceInfo info{.name = "text", .length = length, .alphabet = known.empty() ? bytes_in({text}) : known};
  check_as(Exit::Data, info.alphabet.size() > 1, spec.path, ": has one character alone, ", text.size(),
           " times; text needs at least two different ones");
  TextFile<std::uint8_t> file = divided(std::move(bytes), spec, "characters", info);
  std::array<std::int16_t, 256> symbol_of{};
  symbol_of.fill(-1);
  for (std::size_t i = 0; i < info.alphabet.size(); ++i)
    symbol_of[static_cast<std::uint8_t>(info.alphabet[i])] = static_cast<std::int16_t>(i);
  for (std::size_t at = 0; at < file.symbols.size(); ++at) {
    const std::int16_t symbol = symbol_of[file.symbols[at]];
    check_as(Exit::Data, symbol >= 0, spec.path, ": byte ", at, " is '",
             shown_byte(static_cast<char>(file.symbols[at])), "', which is none of the ", info.alphabet.size(),
             " characters that the run knows");
    file.symbols[at] = static_cast<std::uint8_t>(symbol);
  }
  return std::make_unique<Text<std::uint8_t>>(std::move(info), std::move(file));
}

}  // namespace lethe
