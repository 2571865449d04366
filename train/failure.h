// What goes wrong, as a line and an exit code.
#pragma once
#include <exception>
#include <string>

#include "framework/error.h"

namespace lethe {

struct Failure {
  std::string what;
  Exit code;
};

/// Of an exception of any type. Where the library names a setting, the line names its option.
Failure failure_of(const std::exception_ptr& thrown);

}  // namespace lethe
