// What a network says of the rows of a table.
#pragma once
#include <string>
#include <vector>

#include "framework/run/executor.h"
#include "train/data/table.h"
#include "train/session/fed_data.h"
#include "train/session/predictor.h"
#include "train/session/programs.h"

namespace lethe {

/// Numbers of a row, in the table's units; of a loss bce chances, 0 to 1.
struct RowNumbers {
  std::string name = {};
  std::vector<double> values = {};
};

/// Of each row, in their order: its likeliest classes, if the network tells classes apart, else its numbers.
struct RowResults {
  std::vector<Prediction> guesses = {};
  std::vector<RowNumbers> numbers = {};
};

class RowPredictor {
 public:
  /// All must outlive it. The network must have been made for evaluation, and `planned` of it so that it keeps the
  /// prediction.
  RowPredictor(const Network& network, const Planned& planned, Prepared& prepared, Store& store, const TableRows& rows);
  /// The targets are those of the run; `top`: how many classes. Fails with Exit::Numeric where the network gives no
  /// numbers.
  RowResults run(const std::vector<TableColumn>& targets, std::int64_t top);

 private:
  const Network& network_;
  const TableRows& rows_;
  FedInputs fed_;
  Batches batches_;
  Executor executor_;
};

}  // namespace lethe
