// Counts what a step launches on a GPU, where there need not be one.
#pragma once
#include <cstdint>

namespace lethe {

/// While one lives, what its thread would launch is counted and not launched: addresses may be made up then. A call of
/// a library counts as one launch.
class LaunchCount {
 public:
  LaunchCount() : outer_(current()) { current() = this; }
  ~LaunchCount() { current() = outer_; }
  LaunchCount(const LaunchCount&) = delete;
  LaunchCount& operator=(const LaunchCount&) = delete;
  std::int64_t launches() const { return launches_; }

  /// Whether launches are counted here and now: then this one has been.
  static bool takes_launch() {
    if (!current()) return false;
    ++current()->launches_;
    return true;
  }

 private:
  static LaunchCount*& current() {
    thread_local LaunchCount* counting = nullptr;
    return counting;
  }
  LaunchCount* outer_;
  std::int64_t launches_ = 0;
};

}  // namespace lethe
