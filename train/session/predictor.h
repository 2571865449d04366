// What a network says of samples that users name: of image files as evaluation would show them, or of texts.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "framework/run/executor.h"
#include "train/data/augment.h"
#include "train/data/data_spec.h"
#include "train/session/fed_data.h"
#include "train/session/named_batch.h"
#include "train/session/programs.h"

namespace lethe {

/// How image files become what a network was trained on, and what its classes are called.
struct ImageInput {
  DataInfo data = {};  // the image that the network takes, classes, mean and deviation
  FolderOptions folder = {};
};

class ImageReader {
 public:
  /// Reads images as `samples`, the network's input, takes them.
  ImageReader(ImageInput input, const Var& samples)
      : input_(std::move(input)),
        normalizer_(input_.data, samples.dtype),
        pixels_(static_cast<std::size_t>(input_.data.image.bytes())) {}
  /// Writes a file's image as a sample, or fails (Exit::Data).
  void read(const std::string& file, std::byte* sample);

 private:
  ImageInput input_;
  Normalizer normalizer_;
  std::vector<std::uint8_t> pixels_;
};

struct Guess {
  std::int64_t label = 0;
  double probability = 0;
};

/// The likeliest classes first.
struct Prediction {
  std::string name = {};
  std::vector<Guess> guesses = {};
};

/// The `top` likeliest classes. Fails with Exit::Numeric if the logits are no numbers.
Prediction likeliest(std::string name, std::span<const double> logits, std::int64_t top);

/// Fails unless the network tells images apart: one input of images beside its labels, a label for each.
void check_takes_images(const Network& network);

class Predictor {
 public:
  /// All must outlive it. The network must have been made for evaluation, and `planned` of it so that it keeps the
  /// prediction. Gives the `top` likeliest classes of each sample.
  Predictor(const Network& network, const Planned& planned, Prepared& prepared, Store& store, std::int64_t top);
  /// Has `write` write the next row of the batch, which stays free if that fails.
  void add(const std::string& name, const std::function<void(std::byte* sample)>& write) { batch_.add(name, write); }
  bool is_full() const { return batch_.is_full(); }
  /// Predicts the samples added since the last run. Fails with Exit::Numeric if the network gives no numbers.
  std::vector<Prediction> run();

 private:
  const Network& network_;
  FedInputs fed_;
  NamedBatch batch_;
  std::int64_t top_;
  Executor executor_;
};

}  // namespace lethe
