// Image files as evaluation would show them to a network, and what it says of them.
#pragma once
#include <string>
#include <vector>

#include "framework/executor.h"
#include "train/data/augment.h"
#include "train/data/data_spec.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"

namespace lethe {

/// How image files become what a network was trained on, and what its classes are called.
struct ImageInput {
  DataInfo data = {};  // the image that the network takes, classes, mean and deviation
  FolderOptions folder = {};
};

struct Guess {
  std::int64_t label = 0;
  double probability = 0;
};

/// The likeliest classes first.
struct Prediction {
  std::string file = {};
  std::vector<Guess> guesses = {};
};

/// Fails unless the network tells images apart: one input of images beside its labels, a label for each.
void check_takes_images(const Network& network);

class Predictor {
 public:
  /// All must outlive it. The network must have been made for evaluation, and `planned` of it so that it keeps the
  /// prediction. Gives the `top` likeliest classes of each image.
  Predictor(const Network& network, const Planned& planned, Prepared& prepared, Store& store, ImageInput input,
            std::int64_t top);
  /// Reads the file into the next row of the batch, unless it fails (Exit::Data).
  void add(const std::string& file);
  bool is_full() const { return std::ssize(files_) == batch_; }
  /// Of the files added since the last run. Fails with Exit::Numeric if the network gives no numbers.
  std::vector<Prediction> run();

 private:
  const Network& network_;
  ImageInput input_;
  FedInputs fed_;
  std::int64_t batch_, top_;
  Executor executor_;
  Normalizer normalizer_;
  std::vector<std::uint8_t> pixels_;  // of one image
  std::vector<std::byte> samples_;    // of the batch, as they are fed
  std::vector<std::string> files_;    // of the rows that are there
};

}  // namespace lethe
