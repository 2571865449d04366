// The commands of the program. Each is one source in commands/ that registers it; nothing else depends on one.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/option_set.h"

namespace lethe {

struct Options;

/// A whole command line, and what it does.
struct Example {
  const char *line, *what;
};

/// Gives the exit code or throws an Error.
using Run = std::function<int(const Options& options)>;

/// What the rules that several options share ask of a command.
struct CommandFacts {
  bool trains = false;           // a whole run: the network file's steps are of it
  bool runs = false;             // programs, and does not only plan them
  bool takes_run = false;        // --weights may name a run, which says what network it trained
  bool evaluates = false;        // never trains
  bool prices = false;           // looks at level 3 whatever --memopt says
  bool one_sample = false;       // of a step, whatever the network's batch is
  bool guests = false;           // takes the memory of guests (train/session/memory_guest.h)
  bool writes_adapters = false;  // --lora without words asks for those that there are
};

struct Command {
  const char* word;  // "" for training, which needs none
  const char* help;
  std::vector<Example> examples = {};
  CommandFacts facts = {};
  /// Adds its options, bound to `options` and to what it keeps for itself, and gives what runs it then.
  Run (*declare)(OptionSet& set, Options& options) = {};
};

/// Makes a command known before main. Fails for a second one of that word.
struct RegisterCommand {
  RegisterCommand(Command command);
};

/// Training first, then all others by name.
const std::vector<Command>& command_table();
const Command& command_named(const std::string& word);
/// What stands before the options: "train", "train plan".
std::string call_of(const Command& command);
/// A text for whoever asked for help, which says calls as train WORD, with the name that the program was called by.
std::string as_called(const std::string& text);

struct CommandOptions {
  const Command* command;
  std::vector<OptionInfo> options;  // as --help lists them; the help of each in one line
};
/// In the order of command_table.
std::vector<CommandOptions> walk_options();

}  // namespace lethe
