// What a kernel has to say to the user.
#pragma once
#include <functional>
#include <string>

namespace lethe {

/// One line, once in a process however often it is said: to stderr, or to whom tell_to names.
void tell_once(const std::string& line);
void tell_to(std::function<void(const std::string& line)> listener);

}  // namespace lethe
