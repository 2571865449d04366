// What a run says while it trains: progress to a person, scores to standard output, records into files.
#pragma once
#include <memory>
#include <vector>

#include "train/report/metrics.h"
#include "train/report/progress.h"
#include "train/session/listener.h"

namespace lethe {

class RunReport : public Listener {
 public:
  /// The progress must outlive it.
  RunReport(Progress& progress, std::vector<std::unique_ptr<RecordFile>> files)
      : progress_(progress), files_(std::move(files)) {}
  void note(const std::string& line) override { progress_.note(line); }
  void step(const Moment& now) override { progress_.step(now); }
  void mark(const Moment& now) override { progress_.record(now); }
  void record(const Record& measured) override;
  void evaluated(std::int64_t step, std::int64_t epoch, const Scores& scores) override;

 private:
  Progress& progress_;
  std::vector<std::unique_ptr<RecordFile>> files_;
};

}  // namespace lethe
