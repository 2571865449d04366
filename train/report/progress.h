// What a person sees while training runs: on a terminal one line that redraws itself, elsewhere a line now and then.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "train/session/listener.h"

namespace lethe {

/// "42s", "3m05s", "2h07m".
std::string duration(double seconds);
/// `Epoch 3/10 [=====>....] 391/782 42s ETA 41s 54ms/step loss 0.52 acc 0.81`, at most `columns` wide.
std::string bar_line(const Moment& moment, int columns);
/// The same without the bar.
std::string plain_line(const Moment& moment);

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

}  // namespace lethe
