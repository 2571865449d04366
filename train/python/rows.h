// Rows of others as samples of a network: in arrays, or given one by one.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "train/data/held_out.h"
#include "train/data/named_samples.h"
#include "train/data/target_range.h"
#include "train/python/array_view.h"
#include "train/session/fed_data.h"

namespace lethe {

/// By the names of inputs; labels and targets are inputs, too.
using ArraysByName = std::map<std::string, ArrayView>;

class Rows {
 public:
  virtual ~Rows() = default;
  virtual std::int64_t size() const = 0;
  /// Writes a row as the network takes it, values for one input after another. Fails with Exit::Data.
  virtual void read(std::int64_t row, std::byte* sample, std::int32_t* labels) const = 0;
};

/// An array for each input of the network, all of as many rows.
class ArrayRows final : public Rows {
 public:
  /// `owner` keeps the memory of the arrays. Fails (Exit::Usage) for a name that is no input, (Exit::Data) for one that
  /// is missing and arrays that do not fit. With `predicts` labels and targets may be missing.
  ArrayRows(ArraysByName arrays, const Network& network, std::shared_ptr<void> owner, bool predicts = false);
  std::int64_t size() const override { return arrays_.front().rows(); }
  void read(std::int64_t row, std::byte* sample, std::int32_t* labels) const override;
  /// Feeds all rows, which are a batch, or if `count` is given so many from `begin` on and zeros after them; of an
  /// array that is as it is fed without a copy.
  void feed(Executor& executor);
  void feed(Executor& executor, std::int64_t begin, std::int64_t count);
  /// How many of the labels that were fed count.
  std::int64_t counted_labels() const;

 private:
  struct Given {
    VarId input;
    int array;                           // -1: there is none
    std::vector<std::byte> copied = {};  // of a batch
  };
  void check_targets(int array, std::int64_t row, const std::byte* value) const;

  const Network& network_;
  FedInputs fed_;
  TargetRange range_;
  std::shared_ptr<void> owner_;
  std::vector<InputArray> arrays_ = {};
  std::vector<Given> given_ = {};  // by input
  const std::int32_t* fed_labels_ = nullptr;
};

/// Rows to learn from and to be evaluated on.
class RowSamples final : public NamedSamples {
 public:
  /// `tests` null: the rows of `training` that `held` says are for evaluation. `meaning`: what labels stand for.
  RowSamples(const Network& network, Meaning meaning, std::shared_ptr<const Rows> training,
             std::shared_ptr<const Rows> tests, double held);
  std::int64_t size(Split split) const override;
  void read(Split split, std::int64_t index, std::byte* sample, std::int32_t* labels) const override;
  std::vector<std::string> classes() const override { return meaning_.classes; }
  Meaning meaning() const override { return meaning_; }

 private:
  Meaning meaning_;
  std::shared_ptr<const Rows> training_, tests_;
  RowsOfSplits divided_ = {};  // empty where none of the rows is held out
};

/// Stands for data until there is some: has a row that cannot be read.
std::shared_ptr<const Samples> no_samples(const Network& network, Meaning meaning);

}  // namespace lethe
