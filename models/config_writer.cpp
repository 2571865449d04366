#include "models/config_writer.h"

#include <algorithm>
#include <set>

#include "framework/name_pattern.h"
#include "models/config.h"
#include "models/config_families.h"
#include "models/document.h"
#include "models/settings.h"

namespace lethe {
namespace {

/// What an entry says of a value of its var: a text that stands for it, or the value; null where the key says nothing.
Json said_by(const JsonNode& entry, const Json& value) {
  if (!entry.has("values")) return value;
  for (const auto& [text, number] : entry.at("values").members())
    if (number.json() == value) return text;
  return {};
}

const ConfigFamily& family_named(const std::vector<ConfigFamily>& families, const std::string& name,
                                 const std::string& file) {
  std::vector<std::string> known;
  for (const ConfigFamily& family : families) {
    if (family.name == name) return family;
    known.push_back(family.name);
  }
  fail(file, ": its \"config\" has no ", quote(name), "; known: ", known.empty() ? "none" : joined(known));
}

/// Fails unless what was written gives the vars that it was written from.
void check_back(const Bindings& vars, const NetworkFile& file, const Json& config, const std::string& family,
                const std::set<std::string>& bounded) {
  const ConfiguredNetwork back = read_config(file.path, config);
  const Bindings read = NetworkDocument(file, back.sets).vars();
  for (const auto& [var, value] : vars)
    check(bounded.contains(var) || json_of(read.at(var)) == json_of(value), file.path, ": ", var, " is ",
          text_of(value), ", which files of ", family, " cannot say: they mean ", text_of(read.at(var)));
}

}  // namespace

void put_at(Json& config, const std::string& path, const Json& value) {
  Json* at = &config;
  for (std::size_t begin = 0;;) {
    const std::size_t dot = path.find('.', begin);
    check_as(Exit::Data, at->is_object() || at->is_null(), quote(path), " stands beside the value ",
             quote(path.substr(0, std::max<std::size_t>(begin, 1) - 1)));
    at = &(*at)[path.substr(begin, dot == path.npos ? dot : dot - begin)];
    if (dot == path.npos) break;
    begin = dot + 1;
  }
  check_as(Exit::Data, at->is_null(), quote(path), " is a value, and the beginning of other keys");
  *at = value;
}

ConfigValues written_config(const NetworkFile& file, const Sets& sets, const std::string& family) {
  const NetworkDocument document(file, sets);
  const std::vector<ConfigFamily> families = config_families(document.document());
  ConfigValues values;
  Json config = {{"model_type", family}};
  std::set<std::string> bounded = {"dropout"}, written;
  for (const auto& [path, entry] : family_named(families, family, file.path).keys) {
    const bool is_bound = entry.has("most");
    if (!is_bound && !entry.has("var")) continue;
    const std::string var = entry.at(is_bound ? "most" : "var").text();
    if (is_bound) bounded.insert(var);
    const Json value = said_by(entry, json_of(document.vars().at(var)));
    if (value.is_null() || !written.insert(var).second) continue;
    values.emplace_back(path, value);
    put_at(config, path, value);
  }
  check_back(document.vars(), file, config, family, bounded);
  return values;
}

}  // namespace lethe
