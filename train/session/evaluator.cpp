#include "train/session/evaluator.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "framework/error.h"
#include "train/session/logits.h"

namespace lethe {
namespace {

BatchOptions evaluation_batches_of(const Var& samples) { return evaluation_batches(samples.shape[0], samples.dtype); }

}  // namespace

Evaluator::Evaluator(const Network& network, const Planned& planned, Prepared& prepared, Store& store,
                     const Samples& data, Buffer* arena)
    : network_(network),
      fed_(fed_inputs(network)),
      batches_(data, evaluation_batches_of(network.program.vars[fed_.samples]), store.device()),
      executor_(planned.program, planned.plan, prepared, store, arena),
      results_(executor_, {network.correct, network.sample_loss}) {}

Scores Evaluator::run(ClassCounts* counts) {
  const auto begin = std::chrono::steady_clock::now();
  Scores scores;
  std::vector<std::int32_t> labels;  // of the step, for the counts
  batches_.start(0);
  for (const Batch* batch = feed_next(); batch;) {
    executor_.run();
    const std::int64_t rows = batch->count * fed_.rows;
    scores.samples += counted(network_, batch->labels, rows);
    if (counts) labels.assign(batch->labels, batch->labels + rows);
    batch = feed_next();  // while the device still runs
    add(rows, scores);
    if (counts) count(labels, *counts);
  }
  scores.loss /= static_cast<double>(std::max<std::int64_t>(scores.samples, 1));
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  scores.ms = spent.count() / static_cast<double>(batches_.per_epoch());
  return scores;
}

const Batch* Evaluator::feed_next() {
  const Batch* const batch = batches_.next();
  if (!batch) return nullptr;
  executor_.feed_next(fed_.samples, batch->samples, batches_.sample_bytes());
  executor_.feed_next(fed_.labels, batch->labels, batches_.label_bytes());
  return batch;
}

void Evaluator::add(std::int64_t rows, Scores& scores) {
  results_.fetch();
  const auto correct = results_.values<std::uint8_t>(network_.correct);
  scores.correct += std::accumulate(correct.begin(), correct.begin() + rows, std::int64_t{0});
  scores.loss += sum_of(results_.values<std::byte>(network_.sample_loss).data(),
                        network_.program.vars[network_.sample_loss].dtype, rows);
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
