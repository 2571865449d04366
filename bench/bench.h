// What the programs of this folder share: one way to take times, and one to read options and to end.
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <regex>
#include <string>
#include <vector>

#include "framework/error.h"
#include "framework/timed.h"

namespace lethe {

/// Seconds that a call takes.
template <class Call>
double seconds_of(const Call& call) {
  const Clock::time_point begin = Clock::now();
  call();
  return 1e-3 * ms_since(begin);
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// The median of so many calls, after one that warms up.
template <class Call>
double median_seconds(int runs, const Call& call) {
  call();
  std::vector<double> seconds(runs);
  for (double& of_one : seconds) of_one = seconds_of(call);
  return median(seconds);
}

/// What --only says; an error of exit code 2 if it is no regular expression.
inline std::regex regex_of(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    throw Error("--only: " + std::string(error.what()), Exit::Usage);
  }
}

/// Reads the options of a program and runs it. What goes wrong is one line, with the exit code of the error.
template <class Run>
int run_program(CLI::App& app, int argc, char** argv, const Run& run) {
  try {
    app.parse(argc, argv);
    run();
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(Exit::Usage);
  } catch (const Error& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return static_cast<int>(error.code);
  }
}

}  // namespace lethe
