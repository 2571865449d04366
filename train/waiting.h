// How the workers of a team wait for each other.
#pragma once
#include <cstdlib>

namespace lethe {

/// While a worker waits for another one it should go to sleep soon: on a machine with other work, one that waits may
/// hold the processor that the other needs. GNU's OpenMP reads this from the environment as it is loaded, so it counts
/// for programs that are started from now on. Returns whether anything changed: what the user says of waiting stays.
inline bool ask_to_sleep_while_waiting() {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY")) return false;
  return setenv("GOMP_SPINCOUNT", "5000", 0) == 0;  // a tenth of a millisecond
}

}  // namespace lethe
