// What names in a network file stand for. The path of a layer is its name after those of the blocks, trips and
// branches that it stands in.
#pragma once
#include <map>
#include <string>

#include "framework/language/program.h"
#include "models/expression.h"
#include "models/json_source.h"

namespace lethe {

/// Where an entry stands.
struct Scope {
  std::string prefix = {};                        // of paths: "" or ending in '/'
  Bindings values = {};                           // for expressions
  std::map<std::string, std::string> names = {};  // layers that `in` may name, to paths
  VarId input = kNone;                            // what "@in" is
};

class Paths {
 public:
  /// The path of an entry: its name, else `base` and a count. Fails if it is taken.
  std::string claim(const JsonNode& entry, const std::string& base, const Scope& scope);
  /// The var that the layer at a path gives.
  VarId set(const std::string& path, VarId var) { return paths_[path] = var; }
  /// Makes what is below a prefix unknown: vars of a loop or a branch are not there outside of it.
  void close(const std::string& prefix);
  /// The path that a name or a path stands for; fails with a suggestion.
  std::string path_of(const JsonNode& name, const Scope& scope) const;
  /// The var of it; "@in" has a var alone.
  VarId var_of(const JsonNode& name, const Scope& scope) const;

 private:
  std::map<std::string, VarId> paths_;  // kNone: claimed and not built yet
  std::map<std::string, int> counts_;   // of unnamed entries, by prefix and base
};

/// Fails unless the name has the characters that paths may have.
void check_name(const JsonNode& node, const std::string& name);

}  // namespace lethe
