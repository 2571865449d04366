// The commands and their options as data, for what is written from them: completion scripts and the manual page.
#pragma once
#include <string>
#include <vector>

#include "train/command_table.h"

namespace lethe {

struct OptionInfo {
  std::vector<std::string> names;  // "-h", "--help"; none of a positional
  std::string value;               // what it takes: "FILE", "NAME|FILE"; "" of a flag
  std::string group;               // "Training"; "" of a positional
  std::string help;                // one line
  std::vector<std::string> words;  // values that can be listed
  bool many = false;               // whether it is a positional that may stand more than once

  bool takes(const std::string& kind) const;  // whether `value` lists `kind`: "NAME|FILE" lists two
  bool operator==(const OptionInfo&) const = default;
};

struct CommandOptions {
  const CommandInfo* info;
  std::vector<OptionInfo> options;  // as --help lists them
};

/// In the order of command_table. The words of --model are the zoo's names.
std::vector<CommandOptions> walk_options();

/// `text` with `escape` before each character that is in `special`.
std::string escaped(const std::string& text, const std::string& special, const std::string& escape);

}  // namespace lethe
