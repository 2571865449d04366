// Settings as the command line calls them.
#pragma once
#include <functional>
#include <string>

namespace lethe {

/// A message of the library, which names a setting between two backticks as a field, with the option of that name in
/// its place: `weight_decay` becomes --weight-decay. A call, `train plan`, has the name that the program was called by.
std::string with_options(const std::string& text);

/// Such a message as a line on standard error: what a command passes to the library that has something to note.
void say(const std::string& line);
/// From here on hands such lines, and those that progress has for standard error, to the listener instead: of a process
/// with a log of its own.
void say_to(std::function<void(const std::string& line)> listener);
bool is_said_elsewhere();

}  // namespace lethe
