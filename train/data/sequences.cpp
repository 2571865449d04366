#include "train/data/sequences.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"
#include "train/data/dataset.h"
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

/// The stream of one sample.
Random stream_of(const std::string& set, std::uint64_t seed, Split split, std::int64_t index) {
  return Random(seed, hash_of(set) + static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
}

/// A random number of random symbols from 1 on, then zeros up to the length, to be given back as they are.
class Copies final : public Sequences {
 public:
  Copies(SequenceInfo info, std::int64_t symbols, std::uint64_t seed)
      : Sequences(std::move(info)), symbols_(symbols), seed_(seed) {}

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    Random random = stream_of(name(), seed_, split, index);
    const std::int64_t length = info().length, used = 1 + random.below(static_cast<std::uint32_t>(length));
    std::fill(symbols, symbols + length, 0);
    for (std::int64_t t = 0; t < used; ++t)
      symbols[t] = 1 + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(symbols_ - 1)));
    std::copy(symbols, symbols + length, labels);
  }

 private:
  std::int64_t symbols_;
  std::uint64_t seed_;
};

/// Random symbols and random labels, for timing: nothing can be learned from them.
class Noise final : public Sequences {
 public:
  Noise(SequenceInfo info, std::int64_t symbols, std::uint64_t seed)
      : Sequences(std::move(info)), symbols_(symbols), seed_(seed) {}

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    Random random = stream_of(name(), seed_, split, index);
    const auto any = [&] { return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(symbols_))); };
    std::generate(symbols, symbols + info().length, any);
    std::generate(labels, labels + info().length, any);
  }

 private:
  std::int64_t symbols_;
  std::uint64_t seed_;
};

std::unique_ptr<Sequences> make_copies(std::int64_t length, std::int64_t symbols, std::uint64_t seed,
                                       const SampleCounts& counts) {
  check_as(Exit::Data, symbols > 2, "copy: has at least 2 symbols beside the padding, the network tells ", symbols,
           " apart");
  SequenceInfo info{.name = "copy", .length = length, .sizes = {counts.training, counts.test}};
  return std::make_unique<Copies>(std::move(info), symbols, seed);
}

std::unique_ptr<Sequences> make_noise(std::int64_t length, std::int64_t symbols, std::uint64_t seed,
                                      const SampleCounts& counts) {
  SequenceInfo info{.name = "synthetic", .length = length, .sizes = {counts.training, counts.test}};
  return std::make_unique<Noise>(std::move(info), symbols, seed);
}

std::unique_ptr<Sequences> open(const DataSpec& spec, std::int64_t length, std::int64_t symbols, std::uint64_t seed,
                                std::optional<std::int64_t> ignored, const Meaning& known, const PackedInputs& inputs,
                                const Notify& notify) {
  if (spec.kind == "jsonl")
    return open_tuning_texts(spec.text_file(), length, spec.packs() ? inputs : PackedInputs{}, ignored, notify, known);
  if (spec.kind == "tokens") return open_tokens(spec.tokens(), length, symbols, ignored);
  if (spec.kind == "text") return open_text(spec.text_file(), length, known.alphabet);
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
                                          std::uint64_t seed, std::optional<std::int64_t> ignored, const Meaning& known,
                                          const PackedInputs& inputs, const Notify& notify) {
  check_as(Exit::Data, length > 0 && symbols > 0, "a network of ", symbols, " classes and sequences of ", length,
           " symbols takes no data");
  std::unique_ptr<Sequences> data = open(DataSpec(spec), length, symbols, seed, ignored, known, inputs, notify);
  const auto characters = std::ssize(data->info().alphabet), found = std::max(data->info().tokens, characters);
  check_as(Exit::Data, found <= symbols, data->name(), ": has ", found,
           characters > 0 ? " different characters" : " tokens", ", the network tells ", symbols, " apart",
           set_hint("vocab", found));
  return data;
}

}  // namespace lethe
