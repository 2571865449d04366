// The commands of the program: what each is called, does, and how it is used.
#pragma once
#include <string>
#include <vector>

#include "train/options.h"

namespace lethe {

/// A whole command line, and what it does.
struct Example {
  const char *line, *what;
};

struct CommandInfo {
  Command command;
  const char* word;  // "" for training, which needs none
  const char* help;
  std::vector<Example> examples;
};

/// Training first, then all others by name.
const std::vector<CommandInfo>& command_table();
const CommandInfo& info_of(Command command);
/// What stands before the options: "train", "train plan".
std::string call_of(const CommandInfo& info);

}  // namespace lethe
