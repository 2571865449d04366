#include "train/session/evaluator.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>

#include "framework/error.h"
#include "framework/host_memory.h"
#include "kernels/dtypes.h"
#include "train/session/logits.h"

namespace lethe {
namespace {

/// The batches of this rank, which has a share if there are several.
BatchOptions evaluation_batches_of(const Var& samples, Device& device) {
  BatchOptions options = evaluation_batches(samples.shape[0], samples.dtype);
  if (const Peers* const peers = device.peers()) options.rank = peers->rank();
  return options;
}

/// The vars that are read after each step.
std::vector<VarId> results_of(const Network& network) {
  std::vector<VarId> results = {network.sample_loss};
  if (network.correct != kNone) results.push_back(network.correct);
  return results;
}

}  // namespace

Evaluator::Evaluator(const Network& network, const Planned& planned, Prepared& prepared, Store& store,
                     const Samples& data, Buffer* arena)
    : network_(network),
      fed_(fed_inputs(network)),
      numbers_(static_cast<std::size_t>(scored_numbers(network))),
      meaning_(data.meaning().targets),
      batches_(data, evaluation_batches_of(network.program.vars[fed_.samples], store.device()), store.device()),
      executor_(planned.program, planned.plan, prepared, store, arena),
      results_(executor_, results_of(network)) {}

struct Evaluator::BatchScores {
  std::int64_t samples = 0, correct = 0;
  double loss = 0;
};

Scores Evaluator::run(ClassCounts* counts) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<BatchScores> by_batch;
  std::vector<std::int32_t> labels;          // of the step, for the counts
  std::vector<double> predictions, targets;  // of all steps, for scores by number
  batches_.start(0);
  for (const Batch* batch = feed_next(); batch;) {
    executor_.run();
    const std::int64_t rows = batch->count * fed_.rows,
                       count_of_labels = fed_.labels == kNone ? rows : counted(network_, batch->labels, rows);
    if (counts) labels.assign(batch->labels, batch->labels + rows);
    if (numbers_ > 0) std::ranges::copy(targets_in(*batch), std::back_inserter(targets));
    batch = feed_next();  // while the device still runs
    by_batch.push_back(scored(rows, count_of_labels));
    if (counts) count(labels, *counts);
    if (numbers_ > 0)
      std::ranges::copy(fetch_numbers(executor_, network_.program, network_.prediction),
                        std::back_inserter(predictions));
  }
  Scores scores{.of_labels = fed_.labels != kNone};
  for (const BatchScores& batch : of_all_ranks(std::move(by_batch))) {
    scores.samples += batch.samples;
    scores.correct += batch.correct;
    scores.loss += batch.loss;
  }
  scores.loss /= static_cast<double>(std::max<std::int64_t>(scores.samples, 1));
  scores.of_tokens = takes_sequences(network_);
  if (numbers_ > 0) scores.targets = target_scores(std::move(predictions), std::move(targets), scores.samples);
  if (Peers* const peers = executor_.device().peers(); peers && counts) counts->sum_over(*peers);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  scores.ms = spent.count() / static_cast<double>(std::max<std::int64_t>(batches_.per_epoch(), 1));
  return scores;
}

const Batch* Evaluator::feed_next() {
  const Batch* const batch = batches_.next();
  if (!batch) return nullptr;
  lethe::feed_next(executor_, fed_, batches_, *batch);
  return batch;
}

Evaluator::BatchScores Evaluator::scored(std::int64_t rows, std::int64_t labels) {
  results_.fetch();
  std::int64_t right = 0;
  if (fed_.labels != kNone) {
    const auto correct = results_.values<std::uint8_t>(network_.correct);
    right = std::accumulate(correct.begin(), correct.begin() + rows, std::int64_t{0});
  }
  return {.samples = labels,
          .correct = right,
          .loss = sum_of(results_.values<std::byte>(network_.sample_loss).data(),
                         network_.program.vars[network_.sample_loss].dtype, rows)};
}

std::vector<double> Evaluator::targets_in(const Batch& batch) const {
  const auto* values = static_cast<const std::byte*>(batch.samples);
  for (const VarId input : fed_.inputs) {
    if (input == fed_.target) break;
    values += bytes_of(network_.program.vars[input]);
  }
  const Var& target = network_.program.vars[fed_.target];
  return for_float(target.dtype, [&](auto zero) {
    const auto* const numbers = reinterpret_cast<const decltype(zero)*>(values);
    return std::vector<double>(numbers, numbers + elements(target.shape));
  });
}

std::vector<TargetScore> Evaluator::target_scores(std::vector<double> predictions, std::vector<double> targets,
                                                  std::int64_t samples) {
  predictions = of_all_ranks(std::move(predictions));
  targets = of_all_ranks(std::move(targets));
  std::vector<TargetScore> scores;
  for (std::size_t number = 0; number < numbers_; ++number) {
    std::vector<double> own, wanted;
    for (std::size_t i = number; i < static_cast<std::size_t>(samples) * numbers_; i += numbers_) {
      own.push_back(predictions[i]);
      wanted.push_back(targets[i]);
    }
    const bool has_meaning = number < meaning_.size();
    scores.push_back(fed_.chances ? score_of_chances(own, wanted)
                                  : score_of_numbers(own, wanted, has_meaning ? meaning_[number].deviation : 1));
    scores.back().name = has_meaning ? meaning_[number].name : std::to_string(number);
  }
  return scores;
}

template <class Value>
std::vector<Value> Evaluator::of_all_ranks(std::vector<Value> own) {
  Peers* const peers = executor_.device().peers();
  if (!peers) return own;
  const auto ranks = static_cast<std::size_t>(peers->rank().of),
             number = static_cast<std::size_t>(peers->rank().number),
             batches = static_cast<std::size_t>(batches_.per_epoch()), each = own.size() / batches;
  std::vector<Value> gathered(ranks * own.size()), in_order;
  std::copy(own.begin(), own.end(), gathered.begin() + static_cast<std::ptrdiff_t>(number * own.size()));
  peers->gather(gathered.data(), static_cast<std::int64_t>(own.size() * sizeof(Value)));
  for (std::size_t batch = 0; batch < batches; ++batch)
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto from = gathered.begin() + static_cast<std::ptrdiff_t>(rank * own.size() + batch * each);
      in_order.insert(in_order.end(), from, from + static_cast<std::ptrdiff_t>(each));
    }
  return in_order;
}

void Evaluator::count(std::span<const std::int32_t> labels, ClassCounts& counts) const {
  const std::vector<double> logits = fetch_numbers(executor_, network_.program, network_.prediction);
  const auto classes = static_cast<std::size_t>(counts.classes());
  for (std::size_t row = 0; row < labels.size(); ++row)
    if (counted(network_, &labels[row], 1) == 1)
      counts.add(labels[row], std::span(logits).subspan(row * classes, classes));
}

double sum_of(const void* values, DType dtype, std::int64_t count) {
  if (dtype == DType::f64)
    return std::accumulate(static_cast<const double*>(values), static_cast<const double*>(values) + count, 0.0);
  check(dtype == DType::f32, "cannot sum values of ", name_of(dtype));
  return std::accumulate(static_cast<const float*>(values), static_cast<const float*>(values) + count, 0.0);
}

}  // namespace lethe
