// Walks a network file's layers, blocks, repeats, branches and loops and says them to a Builder, one layer after the
// other.
#pragma once
#include <string>
#include <vector>

#include "framework/builder/builder.h"
#include "models/expression.h"
#include "models/json_source.h"
#include "models/paths.h"

namespace lethe {

class Expander {
 public:
  /// `vars` are known everywhere in the file. All three must outlive the expander.
  Expander(const JsonNode& document, const Bindings& vars, Builder& builder)
      : document_(document), vars_(vars), builder_(builder) {}

  /// Makes a name of an input known.
  void declare(const std::string& name, VarId var);
  /// Builds the file's layers, starting from `input`; gives what the last one gives.
  VarId build(VarId input);
  /// What a name or a path stands for; fails with a suggestion.
  VarId find(const JsonNode& name) const { return var_of(name, top_); }

 private:
  VarId chain(const JsonNode& list, VarId current, Scope& scope);
  VarId entry(const JsonNode& entry, VarId current, Scope& scope);
  VarId op(const JsonNode& entry, VarId current, Scope& scope);
  VarId block(const JsonNode& entry, VarId current, Scope& scope);
  VarId repeat(const JsonNode& entry, VarId current, Scope& scope);
  VarId branches(const JsonNode& entry, VarId current, Scope& scope);
  VarId choice(const JsonNode& entry, VarId current, Scope& scope);

  // Decided at run time: models/expander_control.cpp.
  VarId branch(const JsonNode& entry, VarId current, Scope& scope);
  VarId loop(const JsonNode& entry, VarId current, Scope& scope);
  VarId condition(const JsonNode& list, VarId current, const Scope& scope);
  VarId initial(const JsonNode& state, const std::string& path, VarId current, const Scope& scope);
  Vars trips(const JsonNode& entry, const std::string& path, const std::vector<std::string>& states, VarId current,
             const Scope& scope);
  Vars next(const JsonNode& next, const std::vector<std::string>& states, const Vars& carried,
            const Scope& scope) const;
  VarId trip(const JsonNode& name) const;

  Bindings arguments(const JsonNode& entry, const JsonNode& block, const Bindings& values, bool first, bool last) const;
  VarId join(const JsonNode& entry, const std::string& path, const std::vector<VarId>& outputs);
  VarId var_of(const JsonNode& name, const Scope& scope) const;
  std::vector<VarId> inputs_of(const JsonNode& entry, VarId current, const Scope& scope) const;

  const JsonNode& document_;
  const Bindings& vars_;
  Builder& builder_;
  Scope top_;
  Paths paths_;
  std::vector<std::string> active_;  // blocks that are being built, outermost first
  int depth_ = 0;                    // entries that are being built, each within the one before
};

}  // namespace lethe
