// What a run says of itself while it trains.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace lethe {

/// What was measured up to a step: of training, the means since the last record; of evaluation, over all samples.
struct Record {
  std::int64_t step = 0;        // done since the beginning, over resumes
  std::int64_t epoch = 0;       // from 1
  std::string split = "train";  // "train" or "eval"
  double loss = 0;
  std::optional<double> accuracy = {};
  double lr = 0;
  double ms = 0;              // per step
  std::int64_t mem_peak = 0;  // most bytes taken from the device so far
};

/// A file that records are appended to, each written out at once.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  virtual void append(const Record& record) = 0;
};

}  // namespace lethe
