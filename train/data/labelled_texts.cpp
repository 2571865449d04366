#include "train/data/labelled_texts.h"

#include <algorithm>

#include "framework/error.h"
#include "train/data/sequences.h"

namespace lethe {
namespace {

class LabelledTextsReader final : public SampleReader {
 public:
  explicit LabelledTextsReader(const LabelledTexts& data) : data_(data) {}
  void read(Split split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* labels) override {
    *labels = data_.read(split, index, reinterpret_cast<std::int32_t*>(sample));
  }

 private:
  const LabelledTexts& data_;
};

std::unique_ptr<LabelledTexts> open(const DataSpec& spec, std::int64_t length, std::uint64_t seed, const Notify& notify,
                                    const Meaning& known) {
  if (spec.kind == "tsv") return open_text_tables(spec.tables(), length, notify, known);
  if (spec.kind == "subjects") return make_subjects(length, seed, spec.counts(kSequenceCounts));
  spec.reject_for_texts();
}

}  // namespace

std::unique_ptr<SampleReader> LabelledTexts::reader(const ReadOptions& options) const {
  check(options.augment == Augmentation{}, name(), ": gives texts, which are not augmented");
  return std::make_unique<LabelledTextsReader>(*this);
}

Meaning LabelledTexts::meaning() const {
  return {
      .classes = info_.classes, .alphabet = info_.vocabulary->alphabet(), .tokenizer = info_.vocabulary->identity()};
}

void write_text(const Vocabulary& vocabulary, std::string_view text, std::int64_t length, std::int32_t* symbols) {
  write_padded(text_symbols(vocabulary, text, length).symbols, length, symbols);
}

TextSymbols text_symbols(const Vocabulary& vocabulary, std::string_view text, std::int64_t length) {
  const Frame frame = vocabulary.frame();
  const std::int64_t room = length - frame.size();
  check_as(Exit::Data, room > 0, "the network reads ", length, " symbols, of which ", frame.size(),
           " stand beside each text; `set` length=L gives it more");
  std::vector<std::int32_t> of_text = vocabulary.symbols_of(text);
  TextSymbols sample{.symbols = frame.before, .is_whole = std::ssize(of_text) <= room};
  if (!sample.is_whole) of_text.resize(static_cast<std::size_t>(room));
  for (const std::vector<std::int32_t>& part : {of_text, frame.after})
    sample.symbols.insert(sample.symbols.end(), part.begin(), part.end());
  if (!vocabulary.pads())
    for (std::int32_t& symbol : sample.symbols) ++symbol;
  return sample;
}

void write_padded(std::span<const std::int32_t> of_text, std::int64_t length, std::int32_t* symbols) {
  std::fill(std::ranges::copy(of_text, symbols).out, symbols + length, 0);
}

std::unique_ptr<LabelledTexts> open_labelled_texts(const std::string& spec, std::int64_t length, std::int64_t symbols,
                                                   std::int64_t classes, std::uint64_t seed, const Notify& notify,
                                                   const Meaning& known) {
  std::unique_ptr<LabelledTexts> data = open(DataSpec(spec), length, seed, notify, known);
  const TextsInfo& info = data->info();
  const std::int64_t found = info.vocabulary->size() + (info.vocabulary->pads() ? 0 : 1);
  check_as(Exit::Data, found <= symbols, info.name, ": has ", found, " symbols with padding, the network reads ",
           symbols, set_hint("vocab", found));
  check_as(Exit::Data, std::ssize(info.classes) == classes, info.name, ": has ", info.classes.size(),
           " classes, the network tells ", classes, " apart", set_hint("classes", std::ssize(info.classes)));
  return data;
}

}  // namespace lethe
