#include "train/option_walk.h"

#include <sstream>

#include "framework/error.h"
#include "models/network.h"
#include "train/option_table.h"
#include "train/values.h"

namespace lethe {
namespace {

OptionInfo option_info(const CLI::Option& option) {
  OptionInfo info{.names = {},
                  .value = option.get_option_text(),
                  .group = option.get_positional() ? "" : option.get_group(),
                  .help = in_one_line(option.get_description()),
                  .words = words_of(option),
                  .many = option.get_positional() && option.get_items_expected_max() > 1};
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  if (info.names == std::vector<std::string>{"--model"}) info.words = zoo_names();
  return info;
}

}  // namespace

bool OptionInfo::takes(const std::string& kind) const {
  std::istringstream kinds(value);
  for (std::string one; std::getline(kinds, one, '|');)
    if (one == kind) return true;
  return false;
}

std::vector<CommandOptions> walk_options() {
  std::vector<CommandOptions> all;
  for (const CommandInfo& info : command_table()) {
    Options options;
    options.command = info.command;
    CLI::App app;
    set_up(app, options);
    all.push_back({.info = &info, .options = {}});
    for (const CLI::Option* option : std::as_const(app).get_options())
      all.back().options.push_back(option_info(*option));
  }
  return all;
}

std::string escaped(const std::string& text, const std::string& special, const std::string& escape) {
  std::string all;
  for (const char c : text) all.append(special.find(c) == std::string::npos ? "" : escape).append(1, c);
  return all;
}

}  // namespace lethe
