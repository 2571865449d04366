// What a network learns from, sample by sample, as it takes them: images with a label each or one for each pixel,
// sequences with a label for each of their symbols, values for inputs by name; and what their numbers mean.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/builder/byte_images.h"
#include "train/data/augmentation.h"
#include "train/data/table_column.h"

namespace lethe {

/// What the numbers of samples stand for. A run keeps that, and matches by it what it reads later.
struct Meaning {
  std::vector<std::string> classes = {};          // the names of labels, from 0 on; none: they stand for nothing
  std::vector<double> mean = {}, deviation = {};  // of images: what normalises them, by channel
  std::string alphabet = {};                      // of text in bytes: the byte that each symbol stands for
  std::string tokenizer = {};                     // of tokens: whose they are (Vocabulary::identity)
  std::vector<TableColumn> columns = {},
                           targets = {};  // of tables: what is read, and what is predicted but for classes
  bool operator==(const Meaning&) const = default;
};

/// Fails with Exit::Data unless what `found` says is as `known` has it, as far as that says anything; `data` is the
/// name of what was found. Normalisation is left out, since it can be taken from `known`.
void check_means(const Meaning& known, const Meaning& found, const std::string& data);

enum class Split : std::uint8_t { Train, Test };

struct ReadOptions {
  DType dtype = DType::f32;  // of images; u8: their bytes as they are, for a program that normalises them
  Augmentation augment = {};
  std::uint64_t seed = 0;  // of the augmentation
};

/// Two samples of a batch, which are mixed with each other.
struct SamplePair {
  Split split = Split::Train;
  std::array<std::int64_t, 2> index = {};
  std::int64_t epoch = 0, batch = 0;
  std::array<std::byte*, 2> samples = {};   // null: that one is not written
  std::array<std::int32_t, 2> labels = {};  // set by the reader
};

/// Has the scratch memory that reading takes, so each thread needs its own.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  /// Writes a sample and its labels; the same for the same arguments. Fails with Exit::Data if it cannot be read.
  virtual void read(Split split, std::int64_t index, std::int64_t epoch, std::byte* sample, std::int32_t* labels) = 0;
  /// Reads a pair and mixes it as is drawn for the batch; gives the share that each keeps of itself. Only of images.
  virtual double read_pair(SamplePair& pair);
};

/// What a sample has for an input of the network.
struct SampleInput {
  std::string name = {};
  std::int64_t bytes = 0;  // of one sample, as it is fed
  bool operator==(const SampleInput&) const = default;
};

using LabelVisitor = std::function<void(std::int64_t index, std::span<const std::int32_t> labels)>;

class Samples {
 public:
  virtual ~Samples() = default;
  virtual const std::string& name() const = 0;
  virtual std::int64_t size(Split split) const = 0;
  virtual std::int64_t sample_bytes(DType dtype) const = 0;  // as it is fed
  virtual std::int64_t labels() const = 0;                   // of a sample; 0: no loss reads labels
  /// The network's inputs beside the labels, in its order, which stand one after another in a sample; so does what a
  /// loss compares with that takes no labels. None: a sample is for the one input that there is.
  virtual std::vector<SampleInput> inputs(DType /*dtype*/) const { return {}; }
  /// What labels are called in reports, from 0 on; none if they stand for nothing.
  virtual std::vector<std::string> classes() const = 0;
  virtual Meaning meaning() const { return {.classes = classes()}; }
  /// What normalises images that can be fed as bytes; none for other samples.
  virtual std::optional<PixelNorm> pixels() const { return std::nullopt; }
  /// The data must outlive it. Fails on options that these samples do not have.
  virtual std::unique_ptr<SampleReader> reader(const ReadOptions& options) const = 0;
  /// Shows the labels of each sample of the split, in their order. Without one of its own a set reads whole samples.
  virtual void visit_labels(Split split, const LabelVisitor& visit) const;
};

}  // namespace lethe
