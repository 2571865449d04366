#include "train/session/predictor.h"

#include <algorithm>

#include "framework/error.h"
#include "train/data/photograph.h"
#include "train/session/logits.h"

namespace lethe {

void check_takes_images(const Network& network) {
  check(
      network.correct != kNone, network.name,
      ": predict names the likeliest class, which takes a cross_entropy loss, or gives numbers for the rows of a table "
      "to a run that was trained on csv:FILE");
  check(network.inputs.size() == 2, network.name, ": has ", network.inputs.size() - 1,
        " inputs beside its labels, predict gives it one: an image");
  const FedInputs fed = sample_and_labels(network);
  const Var& input = network.program.vars[fed.samples];
  check((is_float(input.dtype) || input.dtype == DType::u8) && input.shape.size() == 4, network.name, ": takes ",
        text_of(input),
        ", predict gives it images [N,H,W,C], or texts i32[N,T] to a network that says one thing of each");
  check(fed.rows == 1, network.name, ": tells ", fed.rows, " classes of each image, predict shows one");
}

void ImageReader::read(const std::string& file, std::byte* sample) {
  read_image(file, input_.data.image, input_.folder, {}, pixels_.data());
  normalizer_.run(pixels_.data(), std::ssize(pixels_), sample);
}

Predictor::Predictor(const Network& network, const Planned& planned, Prepared& prepared, Store& store, std::int64_t top)
    : network_(network),
      fed_(sample_and_labels(network)),
      batch_(network.program, fed_.samples),
      top_(top),
      executor_(planned.program, planned.plan, prepared, store) {
  const Var& labels = network.program.vars[fed_.labels];
  const std::vector<std::byte> unknown(static_cast<std::size_t>(bytes_of(labels)));  // the loss is not looked at
  executor_.feed(fed_.labels, unknown.data(), bytes_of(labels));
}

std::vector<Prediction> Predictor::run() {
  std::vector<std::string> names = batch_.run(executor_);
  if (names.empty()) return {};
  const std::vector<double> logits = fetch_numbers(executor_, network_.program, network_.prediction);
  const std::size_t classes = logits.size() / batch_.rows();
  std::vector<Prediction> predictions;
  for (std::size_t row = 0; row < names.size(); ++row)
    predictions.push_back(likeliest(std::move(names[row]), std::span(logits).subspan(row * classes, classes), top_));
  return predictions;
}

Prediction likeliest(std::string name, std::span<const double> logits, std::int64_t top) {
  const std::vector<double> shares = softmax(logits);
  Prediction prediction{.name = std::move(name)};
  for (const std::int64_t label : largest(shares, top))
    prediction.guesses.push_back({label, shares[static_cast<std::size_t>(label)]});
  check_as(Exit::Numeric, !prediction.guesses.empty(), prediction.name, ": the network gives what is no number");
  return prediction;
}

}  // namespace lethe
