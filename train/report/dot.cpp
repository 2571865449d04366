#include <cstdio>

#include "framework/error.h"
#include "train/report/summary.h"

namespace lethe {
namespace {

const char* colour_of(Role role) {
  switch (role) {
    case Role::Forward:
      return "#cfe8ff";
    case Role::Backward:
      return "#ffe3c2";
    case Role::Optimize:
      return "#d5f2cf";
  }
  return "white";
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all.push_back('\\');
    all.push_back(c);
  }
  return all + "\"";
}

}  // namespace

std::string to_dot(const Program& program) {
  std::string dot = "digraph program {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  std::vector<std::string> writer(program.vars.size());
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const Var& var = program.vars[v];
    if (var.kind == Kind::Temp) continue;
    writer[v] = message("v", v);
    dot.append(
        message("  v", v, " [shape=ellipse, fillcolor=white, label=", quoted(var.name + " " + text_of(var)), "];\n"));
  }
  int number = 0;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      const std::string node = message("op", number++);
      dot.append(message("  ", node, " [fillcolor=\"", colour_of(op.role), "\", label=", quoted(op.type), "];\n"));
      for (const VarId v : op.in)
        if (v != kNone && !writer[v].empty())
          dot.append(
              message("  ", writer[v], " -> ", node, " [label=", quoted(text_of(program.vars[v].shape)), "];\n"));
      for (const VarId v : op.out)
        if (v != kNone) writer[v] = node;
    }
  return dot + "}\n";
}

}  // namespace lethe
