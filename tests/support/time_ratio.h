// How long one piece of work takes beside another; they run in turn, so that what else the machine does slows both.
#pragma once
#include <algorithm>
#include <chrono>

namespace lethe::testing {

/// Whether times say anything of a build.
#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
inline constexpr bool kIsFast = false;
#else
inline constexpr bool kIsFast = true;
#endif

/// The least time of nine runs of `a` over that of `b`.
template <class A, class B>
double time_ratio(const A& a, const B& b) {
  const auto seconds = [](const auto& run) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double of_a = seconds(a), of_b = seconds(b);
  for (int run = 1; run < 9; ++run) of_a = std::min(of_a, seconds(a)), of_b = std::min(of_b, seconds(b));
  return of_a / of_b;
}

}  // namespace lethe::testing
