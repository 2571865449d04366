// In which order the ops of the entry block stand, and what of it matters.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "framework/language/views.h"

namespace lethe::testing {

/// "sgd w": each op's type and first output.
inline std::vector<std::string> order_of(const Program& program) {
  std::vector<std::string> names;
  for (const Op& op : program.blocks[0].ops) names.push_back(op.type + ' ' + program.vars[op.out[0]].name);
  return names;
}

/// For each value, who writes it and, between two writes, who reads it.
inline std::vector<std::vector<std::multiset<std::string>>> histories(const Program& program) {
  const std::vector<VarId> shown = view_root(program);
  std::vector<std::vector<std::multiset<std::string>>> all(program.vars.size(), {{}});
  for (const Op& op : program.blocks[0].ops) {
    const std::string name = op.type + ' ' + program.vars[op.out[0]].name;
    for (const VarId v : op.in)
      if (v != kNone) all[shown[v]].back().insert("read by " + name);
    for (const VarId v : op.out) all[shown[v]].insert(all[shown[v]].end(), {{"written by " + name}, {}});
  }
  return all;
}

}  // namespace lethe::testing
