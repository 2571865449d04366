// What a kernel has to say to the user.
#pragma once
#include <string>

namespace lethe {

/// One line on stderr, once in a process however often it is said.
void tell_once(const std::string& line);

}  // namespace lethe
