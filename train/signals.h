// Requests from outside while training runs.
#pragma once
#include <csignal>
#include <iterator>

namespace lethe {

/// While one lives: the first SIGINT or SIGTERM asks to stop after the step. A second one, of whichever of the two,
/// ends the process at once. A checkpoint being written is lost then; it only counts once it is renamed. SIGHUP asks
/// for a checkpoint. At most one lives at a time.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  bool stop_wanted() const;
  /// Whether a checkpoint was asked for since the last call.
  bool take_save_wanted();

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before_[std::size(kSignals)];
};

}  // namespace lethe
