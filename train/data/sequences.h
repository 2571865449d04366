// Sequences of symbols, each beside the symbols that a network is to give for it. A symbol is a number from 0 to the
// alphabet's size - 1; both sides have the same length.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "train/data/data_spec.h"
#include "train/data/dataset.h"
#include "train/data/samples.h"
#include "train/data/vocabulary.h"

namespace lethe {

struct SequenceInfo {
  std::string name = {};
  std::int64_t length = 0;
  std::string alphabet = {};  // the character that each symbol stands for; empty: they stand for nothing
  std::array<std::int64_t, 2> sizes = {};
  std::int64_t tokens = 0;  // how many there are, if symbols are a tokenizer's
};

class Sequences : public Samples {
 public:
  const SequenceInfo& info() const { return info_; }
  const std::string& name() const override { return info_.name; }
  std::int64_t size(Split split) const override { return info_.sizes[static_cast<int>(split)]; }
  std::int64_t sample_bytes(DType) const override { return info_.length * 4; }
  std::int64_t labels() const override { return info_.length; }
  /// The characters of the alphabet; those that cannot be seen as in C.
  std::vector<std::string> classes() const override;
  Meaning meaning() const override;
  /// Null if the symbols stand for nothing.
  virtual std::unique_ptr<Vocabulary> vocabulary() const;
  /// The symbol after each document; none if there is none.
  virtual std::optional<std::int32_t> end_symbol() const { return {}; }
  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override;
  /// Writes info().length symbols and as many labels. Always the same for the same arguments; may be called from
  /// several threads.
  virtual void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const = 0;

 protected:
  explicit Sequences(SequenceInfo info) : info_(std::move(info)) {}

 private:
  SequenceInfo info_;
};

/// The names of a network's inputs where a sample holds several texts (framework/builder/packed_texts.h).
struct PackedInputs {
  std::string symbols = {}, positions = {};  // "": a sample holds one
};

/// Opens what `spec` names, for a network that reads `length` symbols and tells `symbols` apart, which mean what
/// `known` says, and whose loss counts the label `ignored` for nothing, if any:
///   tokens:DIR[,ignore-borders]  text:FILE[,tokenizer=DIR]  jsonl:FILE[,tokenizer=DIR][,no-pack]
///   sentences[:train=N,test=M]  copy[:train=N,test=M]  synthetic[:N]
/// jsonl alone fills a sample with several texts, and does if the network takes them.
/// Fails with Exit::Usage on an unknown spec, with Exit::Data on a file that cannot be read or has too little in it,
/// and on more different symbols than the network has.
std::unique_ptr<Sequences> open_sequences(const std::string& spec, std::int64_t length, std::int64_t symbols,
                                          std::uint64_t seed, std::optional<std::int64_t> ignored = {},
                                          const Meaning& known = {}, const PackedInputs& inputs = {},
                                          const Notify& notify = {});

/// The characters of a file, plain or gzipped, each to be followed by the next. Its alphabet is the bytes that are in
/// it, in the order of their values, or `known`, outside of which it may have none; or symbols are the tokens of a
/// folder's tokenizer, which are held, 4 bytes each. Samples are windows side by side. The last tenth is the test
/// split, or a share of the windows, by their numbers, if one is held out.
std::unique_ptr<Sequences> open_text(const TextSpec& spec, std::int64_t length, const std::string& known = "");

/// Texts to tune a network on (train/data/json_lines.h), as characters or tokens like those of open_text(), each with
/// the tokenizer's end token after it. Labels are what comes after a prompt, and `ignored` elsewhere. A sample is one
/// text, or as many as have room together (train/data/packing.h) where the network takes several: the same in each
/// epoch. What a text has no room for is cut at its end. Each tenth text is for tests, or the share that is held out.
/// `notify` hears how many tokens are used, padded and cut. Fails with Exit::Data, file and line, on lines that are no
/// such texts.
std::unique_ptr<Sequences> open_tuning_texts(const TextSpec& spec, std::int64_t length, const PackedInputs& inputs,
                                             std::optional<std::int64_t> ignored, const Notify& notify,
                                             const Meaning& known = {});

/// The shards that `train tokenize` has made (train/data/token_shard.h), of which all memory is the system's. Samples
/// of training are windows side by side in each shard, the first of which begins before token `length`, where (seed,
/// epoch) say; those of tests begin at its first token. Fails with Exit::Data on a token that is none of the network's
/// symbols, and on a split in which no window has room.
std::unique_ptr<Sequences> open_tokens(const TokensSpec& spec, std::int64_t length, std::int64_t symbols,
                                       std::optional<std::int64_t> ignored);

inline constexpr SampleCounts kSequenceCounts{8000, 800};

/// Sentences of a small grammar, in which verbs agree with their subjects; each character is to be followed by the
/// next.
std::unique_ptr<Sequences> make_sentences(std::int64_t length, std::uint64_t seed, const SampleCounts& counts);

}  // namespace lethe
