// Samples that users name, a batch at a time.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "framework/run/executor.h"

namespace lethe {

class NamedBatch {
 public:
  /// Of what `input`, an input of the program, is fed.
  NamedBatch(const Program& program, VarId input)
      : input_(input),
        rows_(program.vars[input].shape[0]),
        samples_(static_cast<std::size_t>(bytes_of(program.vars[input]))) {}
  /// Has `write` write the next row of the batch, which stays free if that fails.
  void add(const std::string& name, const std::function<void(std::byte* sample)>& write) {
    write(samples_.data() + names_.size() * (samples_.size() / rows()));
    names_.push_back(name);
  }
  std::size_t rows() const { return static_cast<std::size_t>(rows_); }
  bool is_full() const { return names_.size() == rows(); }
  const std::vector<std::byte>& samples() const { return samples_; }  // as they are fed
  /// Runs a step on the batch and gives the names of the rows that are there; it is empty then. Runs nothing if it is.
  std::vector<std::string> run(Executor& executor) {
    if (names_.empty()) return {};
    executor.feed(input_, samples_.data(), std::ssize(samples_));
    executor.run();
    return std::exchange(names_, {});
  }

 private:
  VarId input_;
  std::int64_t rows_;
  std::vector<std::byte> samples_;
  std::vector<std::string> names_;  // of the rows that are there
};

}  // namespace lethe
