// How long something takes.
#pragma once
#include <chrono>

namespace lethe {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// What `f` gives; `ms` grows by how long it took.
template <class F>
auto timed(double& ms, F f) {
  const Clock::time_point begin = Clock::now();
  auto made = f();
  ms += ms_since(begin);
  return made;
}

}  // namespace lethe
