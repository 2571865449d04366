// Texts with a label each, for networks that tell of what kind a text is.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/data/data_spec.h"
#include "train/data/dataset.h"
#include "train/data/vocabulary.h"

namespace lethe {

struct TextsInfo {
  std::string name = {};
  std::int64_t length = 0;                            // symbols of a sample
  std::shared_ptr<const Vocabulary> vocabulary = {};  // of tokens for one thread
  std::vector<std::string> classes = {};              // their names; a label is an index into it
};

/// A sample is `length` symbols: those of its text in their frame, as far as there is room for the text, and zeros
/// after them, which are padding. For the symbol s of a vocabulary that does not pad by itself stands s + 1.
class LabelledTexts : public Samples {
 public:
  const TextsInfo& info() const { return info_; }
  const std::string& name() const override { return info_.name; }
  std::int64_t sample_bytes(DType) const override { return info_.length * 4; }
  std::int64_t labels() const override { return 1; }
  std::vector<std::string> classes() const override { return info_.classes; }
  Meaning meaning() const override;
  std::unique_ptr<SampleReader> reader(const ReadOptions& options) const override;
  /// Writes a sample and gives its label. Always the same for the same arguments; may be called from several threads.
  virtual std::int32_t read(Split split, std::int64_t index, std::int32_t* symbols) const = 0;

 protected:
  explicit LabelledTexts(TextsInfo info) : info_(std::move(info)) {}

 private:
  TextsInfo info_;
};

/// What a sample of at most `length` symbols has of a text, before padding.
struct TextSymbols {
  std::vector<std::int32_t> symbols = {};
  bool is_whole = true;  // there was room for all of the text
};
/// Fails where the text has what the vocabulary lacks, or where the frame alone has no room.
TextSymbols text_symbols(const Vocabulary& vocabulary, std::string_view text, std::int64_t length);

/// Writes the symbols and zeros after them.
void write_padded(std::span<const std::int32_t> of_text, std::int64_t length, std::int32_t* symbols);

/// Writes a text as a sample of `length` symbols. Fails where it has what the vocabulary lacks.
void write_text(const Vocabulary& vocabulary, std::string_view text, std::int64_t length, std::int32_t* symbols);

/// Opens what `spec` names, for a network that reads `length` symbols, each below `symbols`, and tells so many classes
/// apart, all of which mean what `known` says:
///   tsv:PATH[,tokenizer=DIR]  subjects[:train=N,test=M]
/// Fails with Exit::Usage on an unknown spec, with Exit::Data on other classes, more different symbols, and files that
/// cannot be read or are no such tables, naming the line.
std::unique_ptr<LabelledTexts> open_labelled_texts(const std::string& spec, std::int64_t length, std::int64_t symbols,
                                                   std::int64_t classes, std::uint64_t seed, const Notify& notify = {},
                                                   const Meaning& known = {});

/// A table in lines, whose columns tabs separate: label and text, or as a header of column names says, `label` and
/// `sentence` or `text` among them. A file, each tenth line of which is for tests; or a directory with train.tsv and,
/// for tests, dev.tsv, val.tsv or test.tsv. Classes are the labels for training, sorted. Symbols are the bytes in all
/// texts, or the tokens of a folder's tokenizer. What `known` says of classes and bytes stands in the place of what is
/// found.
std::unique_ptr<LabelledTexts> open_text_tables(const TextSpec& spec, std::int64_t length, const Notify& notify,
                                                const Meaning& known = {});

/// Sentences of a small grammar; the label says whether the subject is one or many.
std::unique_ptr<LabelledTexts> make_subjects(std::int64_t length, std::uint64_t seed, const SampleCounts& counts);

}  // namespace lethe
