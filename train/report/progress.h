// What a run says while it trains: progress to a person, on a terminal in one line that redraws itself, elsewhere in a
// line now and then; scores to standard output, records into files.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "train/report/metrics.h"
#include "train/session/listener.h"

namespace lethe {

/// "42s", "3m05s", "2h07m".
std::string duration(double seconds);
/// `Epoch 3/10 [=====>....] 391/782 42s ETA 41s 54ms/step loss 0.52 acc 0.81`, at most `columns` wide.
std::string bar_line(const Moment& moment, int columns);
/// The same without the bar.
std::string plain_line(const Moment& moment);

/// What a person sees.
class Progress {
 public:
  enum class Style { Quiet, Plain, Bar };
  /// Bar with colours, unless NO_COLOR is set, if `out` is a terminal.
  Progress(std::FILE* out, bool quiet);
  Progress(std::FILE* out, Style style, bool colour) : out_(out), style_(style), colour_(colour) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// After each step: redraws the bar, at most ten times a second. The line of an epoch's last step stays.
  void step(const Moment& moment);
  /// Prints the plain line where a record is due.
  void record(const Moment& moment);
  /// For work that is no training: redraws the line at most ten times a second, or prints it about once a second where
  /// there is no terminal.
  void show(const std::string& line);
  /// A line that stays; the bar stands below it again at the next step.
  void note(const std::string& line);
  /// Takes the bar away, so that something else may be printed.
  void clear();
  bool quiet() const { return style_ == Style::Quiet; }

 private:
  void draw(std::string line);

  std::FILE* out_;
  Style style_;
  bool colour_ = false;
  std::size_t drawn_ = 0;  // width of the bar that stands on the terminal
  double drawn_at_ = -1;   // seconds() of the moment that was drawn
  std::int64_t drawn_epoch_ = 0;
  std::chrono::steady_clock::time_point shown_at_ = std::chrono::steady_clock::now();
};

/// Hands on what is said.
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
