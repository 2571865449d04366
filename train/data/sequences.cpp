#include "train/data/sequences.h"

#include "framework/error.h"
#include "train/data/dataset.h"
#include "train/data/made_sequences.h"
#include "train/data/synthetic_images.h"

namespace lethe {
namespace {

class SequenceReader final : public SampleReader {
 public:
  explicit SequenceReader(const Sequences& data) : data_(data) {}
  void read(Split split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* labels) override {
    data_.read(split, index, reinterpret_cast<std::int32_t*>(sample), labels);
  }

 private:
  const Sequences& data_;
};

std::unique_ptr<Sequences> open(const DataSpec& spec, std::int64_t length, std::int64_t symbols, std::uint64_t seed,
                                std::optional<std::int64_t> ignored, const Meaning& known) {
  if (spec.kind == "tokens") return open_tokens(spec.tokens(), length, symbols, ignored);
  if (spec.kind == "text") return open_text(spec.place("FILE"), length, spec.held_share(), known.alphabet);
  if (spec.kind == "sentences") return make_sentences(length, seed, spec.counts(kSequenceCounts));
  if (spec.kind == "copy") return make_copies(length, symbols, seed, spec.counts(kSequenceCounts));
  if (spec.kind == "synthetic") {
    const std::int64_t count = synthetic_count(spec);
    return make_noise(length, symbols, seed, {count, (count + 4) / 5});
  }
  spec.reject_for_sequences();
}

}  // namespace

std::vector<std::string> Sequences::classes() const {
  std::vector<std::string> names;
  for (const char c : info_.alphabet) names.push_back(shown_byte(c));
  return names;
}

Meaning Sequences::meaning() const {
  const std::unique_ptr<Vocabulary> symbols = vocabulary();
  if (!symbols) return {};
  return {.alphabet = symbols->alphabet(), .tokenizer = symbols->identity()};
}

std::unique_ptr<Vocabulary> Sequences::vocabulary() const {
  return info_.alphabet.empty() ? nullptr : characters_of(info_.alphabet);
}

std::unique_ptr<SampleReader> Sequences::reader(const ReadOptions& options) const {
  check(options.augment == Augmentation{}, name(), ": gives sequences, which are not augmented");
  return std::make_unique<SequenceReader>(*this);
}

std::unique_ptr<Sequences> open_sequences(const std::string& spec, std::int64_t length, std::int64_t symbols,
                                          std::uint64_t seed, std::optional<std::int64_t> ignored,
                                          const Meaning& known) {
  check_as(Exit::Data, length > 0 && symbols > 0, "a network of ", symbols, " classes and sequences of ", length,
           " symbols takes no data");
  std::unique_ptr<Sequences> data = open(DataSpec(spec), length, symbols, seed, ignored, known);
  const auto found = std::ssize(data->info().alphabet);
  check_as(Exit::Data, found <= symbols, data->name(), ": has ", found, " different characters, the network tells ",
           symbols, " apart", set_hint("vocab", found));
  return data;
}

}  // namespace lethe
