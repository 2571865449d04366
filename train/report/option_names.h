// Settings as the command line calls them.
#pragma once
#include <string>

namespace lethe {

/// A message of the library, which names a setting between two backticks as a field, with the option of that name in
/// its place: `weight_decay` becomes --weight-decay. A call, `train plan`, has the name that the program was called by.
std::string with_options(const std::string& text);

/// Such a message as a line on standard error: what a command passes to the library that has something to note.
void say(const std::string& line);

}  // namespace lethe
