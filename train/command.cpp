#include "train/command.h"

#include <algorithm>
#include <stdexcept>

#include "framework/did_you_mean.h"
#include "models/network.h"
#include "train/options.h"

namespace lethe {
namespace {

std::vector<Command>& registered() {
  static std::vector<Command> table;
  return table;
}

}  // namespace

RegisterCommand::RegisterCommand(Command command) {
  std::vector<Command>& all = registered();
  const auto at =
      std::ranges::find_if(all, [&](const Command& other) { return std::string(command.word) <= other.word; });
  if (at != all.end() && std::string(command.word) == at->word)
    throw std::logic_error(message("command ", quote(command.word), " is registered twice"));
  all.insert(at, command);
}

const std::vector<Command>& command_table() { return registered(); }

const Command& command_named(const std::string& word) {
  std::vector<std::string> known;
  for (const Command& command : command_table()) {
    if (word == command.word) return command;
    if (*command.word) known.emplace_back(command.word);
  }
  fail("unknown command ", quote(word), did_you_mean(word, known), "; commands: ", joined(known),
       "; a network is named with --model");
}

std::string call_of(const Command& command) { return *command.word ? std::string("train ") + command.word : "train"; }

std::vector<CommandOptions> walk_options() {
  std::vector<CommandOptions> all;
  for (const Command& command : command_table()) {
    Options options(command);
    OptionSet set;
    command.declare(set, options);
    all.push_back({&command, {}});
    for (const OptionInfo& answer : kAnswers) all.back().options.push_back(answer);
    for (const OptionRow& row : set.rows()) {
      all.back().options.push_back(row.info);
      all.back().options.back().help = in_one_line(row.info.help);
      if (row.name == "--model") all.back().options.back().words = zoo_names();  // not on each start: it reads folders
    }
  }
  return all;
}

}  // namespace lethe
