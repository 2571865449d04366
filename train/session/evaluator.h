// Scores over the evaluation data.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/builder/builder.h"
#include "framework/run/executor.h"
#include "framework/run/readout.h"
#include "train/data/batches.h"
#include "train/session/class_counts.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"
#include "train/session/target_scores.h"

namespace lethe {

/// Exact over all samples: what pads the last batch is not counted, nor are labels that the loss ignores.
struct Scores {
  std::int64_t samples = 0, correct = 0;  // labels, of which sequences have one a symbol; or samples, if there are none
  double loss = 0;                        // mean over the labels
  double ms = 0;                          // per batch
  bool of_tokens = false;                 // the labels are what follows in a sequence
  bool of_labels = true;                  // false: the loss takes none
  std::vector<TargetScore> targets = {};  // then: by number of a target, if these are not too many (scored_numbers)
  std::optional<double> f1 = {}, iou = {};  // the means over classes, of whoever counts by class and says so
  double accuracy() const { return share_of(correct, samples); }
  /// For tokens: among how many equally likely ones the network would be as unsure.
  double perplexity() const { return std::exp(loss); }
};

class Evaluator {
 public:
  /// All must outlive it. The network must have been made for evaluation, and `planned` of it; `arena` as for
  /// an Executor.
  Evaluator(const Network& network, const Planned& planned, Prepared& prepared, Store& store, const Samples& data,
            Buffer* arena = nullptr);
  /// Counts each label by class, too, on all ranks, if there are `counts`, which takes a plan that keeps the
  /// prediction.
  Scores run(ClassCounts* counts = nullptr);

 private:
  /// Takes the next batch, if there is one, and hands it to the next step.
  const Batch* feed_next();
  struct BatchScores;
  /// The results of the step, of so many rows, of which so many labels count.
  BatchScores scored(std::int64_t rows, std::int64_t labels);
  /// Takes what this rank has of its batches, of each as much, and gives that of all ranks, in the order of the data.
  template <class Value>
  std::vector<Value> of_all_ranks(std::vector<Value> own);
  /// What a batch's samples have for what the loss compares with.
  std::vector<double> targets_in(const Batch& batch) const;
  /// Of all batches, padding with them, of which the first `samples` are counted.
  std::vector<TargetScore> target_scores(std::vector<double> predictions, std::vector<double> targets,
                                         std::int64_t samples);
  void count(std::span<const std::int32_t> labels, ClassCounts& counts) const;

  const Network& network_;
  FedInputs fed_;
  std::size_t numbers_;  // of a target that are scored
  std::vector<TableColumn> meaning_;
  Batches batches_;
  Executor executor_;
  Readout results_;  // of a step
};

/// The sum of the first `count` of the floats at `values`.
double sum_of(const void* values, DType dtype, std::int64_t count);

}  // namespace lethe
