// Walks a network file's layers, blocks, repeats and branches and says them to a Builder, one layer after the other.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "framework/builder.h"
#include "models/expression.h"
#include "models/json_source.h"

namespace lethe {

class Expander {
 public:
  /// `vars` are known everywhere in the file. All three must outlive the expander.
  Expander(const JsonNode& document, const Values& vars, Builder& builder)
      : document_(document), vars_(vars), builder_(builder) {}

  /// Makes a name of an input known.
  void declare(const std::string& name, VarId var);
  /// Builds the file's layers, starting from `input`; gives what the last one gives.
  VarId build(VarId input);
  /// What a name or a path stands for; fails with a suggestion.
  VarId find(const JsonNode& name) const { return var_of(name, top_); }

 private:
  using Names = std::map<std::string, std::string>;  // to paths
  /// Where an entry stands.
  struct Scope {
    std::string prefix = {};  // of paths: "" or ending in '/'
    Values values = {};       // for expressions
    Names names = {};         // layers that `in` may name
    VarId input = kNone;      // what "@in" is
  };

  VarId chain(const JsonNode& list, VarId current, Scope& scope);
  VarId entry(const JsonNode& entry, VarId current, Scope& scope);
  VarId op(const JsonNode& entry, VarId current, Scope& scope);
  VarId block(const JsonNode& entry, VarId current, Scope& scope);
  VarId repeat(const JsonNode& entry, VarId current, Scope& scope);
  VarId branches(const JsonNode& entry, VarId current, Scope& scope);
  VarId branch_if(const JsonNode& entry, VarId current, Scope& scope);

  Values arguments(const JsonNode& entry, const JsonNode& block, const Scope& scope, bool first, bool last) const;
  VarId join(const JsonNode& entry, const std::string& path, const std::vector<VarId>& outputs);
  std::vector<VarId> inputs_of(const JsonNode& entry, VarId current, const Scope& scope) const;
  /// The path that a name or a path stands for, and the var it gives; "@in" has a var alone.
  std::string path_of(const JsonNode& name, const Scope& scope) const;
  VarId var_of(const JsonNode& name, const Scope& scope) const;
  /// The entry's path in its scope: its name, else `base` and a count.
  std::string claim(const JsonNode& entry, const std::string& base, const Scope& scope);

  const JsonNode& document_;
  const Values& vars_;
  Builder& builder_;
  Scope top_;
  std::map<std::string, VarId> paths_;  // kNone: claimed and not built yet
  std::map<std::string, int> counts_;   // of unnamed entries, by prefix and base
  std::vector<std::string> active_;     // blocks that are being built, outermost first
};

}  // namespace lethe
