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
  const std::vector<std::int32_t> of_text = vocabulary.symbols_of(text);
  write_padded(of_text.data(), std::ssize(of_text), length, symbols);
}

void write_padded(const std::int32_t* of_text, std::int64_t count, std::int64_t length, std::int32_t* symbols) {
  const std::int64_t shown = std::min(count, length);
  std::transform(of_text, of_text + shown, symbols, [](std::int32_t symbol) { return symbol + 1; });
  std::fill(symbols + shown, symbols + length, 0);
}

std::unique_ptr<LabelledTexts> open_labelled_texts(const std::string& spec, std::int64_t length, std::int64_t symbols,
                                                   std::int64_t classes, std::uint64_t seed, const Notify& notify,
                                                   const Meaning& known) {
  std::unique_ptr<LabelledTexts> data = open(DataSpec(spec), length, seed, notify, known);
  const TextsInfo& info = data->info();
  const std::int64_t found = info.vocabulary->size() + 1;
  check_as(Exit::Data, found <= symbols, info.name, ": has ", found, " symbols with padding, the network reads ",
           symbols, set_hint("vocab", found));
  check_as(Exit::Data, std::ssize(info.classes) == classes, info.name, ": has ", info.classes.size(),
           " classes, the network tells ", classes, " apart", set_hint("classes", std::ssize(info.classes)));
  return data;
}

}  // namespace lethe
