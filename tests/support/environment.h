// Variables of the environment.
#pragma once
#include <cstdlib>
#include <string>

namespace lethe::testing {

/// Sets a variable, for programs started meanwhile.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

/// Whether tests take all networks where some are enough to show a fault at once (./dev nightly zoo).
inline bool takes_all_networks() { return std::getenv("LETHE_ALL_NETWORKS") != nullptr; }

}  // namespace lethe::testing
