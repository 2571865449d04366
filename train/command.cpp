#include "train/command.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "framework/did_you_mean.h"
#include "framework/program_name.h"
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

std::string call_of(const Command& command) {
  const std::string name = program_name();
  return *command.word ? name + " " + command.word : name;
}

std::string as_called(const std::string& text) {
  static const std::string kWritten = "train ";
  const auto is_call = [&](std::size_t at) {
    if (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '-')) return false;
    const std::size_t word = at + kWritten.size();
    if (text.compare(word, 2, "--") == 0) return true;
    const std::string next = text.substr(word, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", word) - word);
    return !next.empty() && std::ranges::any_of(registered(), [&](const Command& one) { return next == one.word; });
  };
  std::string all;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(kWritten, at)) != std::string::npos; at += kWritten.size())
    if (is_call(at)) {
      all.append(text, from, at - from).append(program_name()).append(" ");
      from = at + kWritten.size();
    }
  return all.append(text, from);
}

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
