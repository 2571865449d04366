#include "train/option_set.h"

#include <CLI/StringTools.hpp>
#include <CLI/TypeTools.hpp>
#include <algorithm>
#include <utility>

namespace lethe {

OptionRow* OptionSet::add_row(const char* name, Form form, const char* type, const char* text, std::string help,
                              std::function<void(const std::string&)> take) {
  OptionInfo info{.value = text, .help = std::move(help)};
  if (form != Form::Positional) info.names = {name}, info.group = group_;
  return &rows_.emplace_back(OptionRow{name, form, type, std::move(info), std::move(take)});
}

OptionRow* OptionSet::add_read(const char* name, std::function<void(const std::string&)> take, const char* text,
                               std::string help) {
  return add_row(name, Form::Value, "TEXT", text, std::move(help), std::move(take));
}

OptionRow* OptionSet::add_flag(const char* name, bool& to, std::string help) {
  OptionRow* const row = add(name, to, "", std::move(help));
  row->form = Form::Flag;
  return row;
}

OptionRow* OptionSet::add_flag_read(const char* name, std::function<void(bool)> take, std::string help) {
  const auto read = [name, take = std::move(take)](const std::string& value) {
    bool on = false;
    check(read_value(value, on), "Could not convert: ", name, " = ", value);
    take(on);
  };
  return add_row(name, Form::Flag, "", "", std::move(help), read);
}

OptionRow* OptionSet::add_list(const char* name, std::function<void(const std::string& item)> take, const char* text,
                               std::string help) {
  return add_row(name, Form::List, "TEXT", text, std::move(help), std::move(take));
}

OptionRow* OptionSet::add_maybe(const char* name, std::optional<std::string>& to, const char* text, std::string help) {
  OptionRow* const row = add(name, to, text, std::move(help));
  row->form = Form::MayBeEmpty;
  return row;
}

OptionRow* OptionSet::add_positional(const char* name, std::vector<std::string>& to, const char* text, std::string help,
                                     bool many) {
  OptionRow* const row = add_row(name, Form::Positional, "TEXT", text, std::move(help),
                                 [&to](const std::string& value) { to.push_back(value); });
  row->info.many = many;
  return row;
}

const OptionRow* OptionSet::find(const std::string& name) const {
  const auto found = std::ranges::find(rows_, name, &OptionRow::name);
  return found == rows_.end() ? nullptr : &*found;
}

bool read_value(const std::string& text, std::string& to) {
  to = text;
  return true;
}
bool read_value(const std::string& text, bool& to) { return CLI::detail::lexical_cast(text, to); }
bool read_value(const std::string& text, int& to) { return CLI::detail::lexical_cast(text, to); }
bool read_value(const std::string& text, std::int64_t& to) { return CLI::detail::lexical_cast(text, to); }
bool read_value(const std::string& text, std::uint64_t& to) { return CLI::detail::lexical_cast(text, to); }
bool read_value(const std::string& text, double& to) { return CLI::detail::lexical_cast(text, to); }

}  // namespace lethe
