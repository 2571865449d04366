#include "models/paths.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "framework/did_you_mean.h"
#include "framework/language/op_def.h"
#include "models/format.h"

namespace lethe {
namespace {

// A bound far above any network, so that a wrong number ends in a line and not in a full machine.
constexpr std::size_t kMostPaths = 50000;

}  // namespace

std::string Paths::claim(const JsonNode& entry, const std::string& base, const Scope& scope) {
  std::string path = scope.prefix;
  if (entry.has("name")) {
    check_name(entry.at("name"), entry.at("name").text());
    path += entry.at("name").text();
  } else {
    path += base;
    path += std::to_string(++counts_[path]);
  }
  if (paths_.size() >= kMostPaths) entry.fail("the network has more than ", kMostPaths, " layers");
  if (!paths_.emplace(path, kNone).second)
    (entry.has("name") ? entry.at("name") : entry).fail("the name ", quote(path), " is taken by another layer");
  return path;
}

void Paths::close(const std::string& prefix) {
  for (auto path = paths_.lower_bound(prefix); path != paths_.end() && path->first.rfind(prefix, 0) == 0; ++path)
    path->second = kNone;
}

std::string Paths::path_of(const JsonNode& name, const Scope& scope) const {
  const std::string& text = name.text();
  if (const auto found = scope.names.find(text); found != scope.names.end()) return found->second;
  const std::string path = scope.prefix + text;
  if (const auto found = paths_.find(path); found != paths_.end() && found->second != kNone) return path;
  std::vector<std::string> known;
  for (const auto& [key, at] : scope.names) known.push_back(key);
  name.fail("no layer ", quote(text), " before this one", did_you_mean(text, known),
            "; named here: ", known.empty() ? "none" : joined(known));
}

VarId Paths::var_of(const JsonNode& name, const Scope& scope) const {
  return name.text() == "@in" ? scope.input : paths_.at(path_of(name, scope));
}

/// Variables' and files' formats rely on it: a path has no other '/', '@' or blank in it.
void check_name(const JsonNode& node, const std::string& name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), allowed))
    node.fail("name ", quote(name), " may have letters, digits, '_', '.' and '-' only");
  if (name.size() > kLongestName)
    node.fail("name ", quote(name), " has ", name.size(), " characters, expected at most ", kLongestName);
}

}  // namespace lethe
