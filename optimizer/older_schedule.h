// Schedules as runs of older versions say them, whose +warmup multiplied the curve.
#pragma once
#include <string>

namespace lethe {

/// The same course as it is written now, with *warmup.
inline std::string in_older_sense(std::string schedule) {
  if (const std::size_t plus = schedule.find("+warmup"); plus != std::string::npos) schedule[plus] = '*';
  return schedule;
}

}  // namespace lethe
