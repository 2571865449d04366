#include "framework/language/text.h"

#include <sstream>

#include "framework/error.h"

namespace lethe {
namespace {

std::string names_of(const Program& program, const std::vector<VarId>& vars) {
  std::string text;
  for (const VarId v : vars) text.append(text.empty() ? "" : ", ").append(v == kNone ? "_" : program.vars[v].name);
  return text;
}

void write_op(std::ostream& out, const Program& program, const Op& op) {
  out << "  ";
  if (!op.out.empty()) out << names_of(program, op.out) << " = ";
  out << op.type << '(' << names_of(program, op.in) << ')';
  if (!op.attrs.empty()) {
    const char* separator = " {";
    for (const auto& [key, value] : op.attrs) {
      out << separator << key << '=' << text_of(value);
      separator = ", ";
    }
    out << '}';
  }
  for (const BlockId block : op.blocks) out << " block " << block;
  if (op.role != Role::Forward) out << ' ' << name_of(op.role);
  out << '\n';
}

}  // namespace

std::string to_text(const Program& program) {
  std::ostringstream out;
  for (const Var& var : program.vars) {
    out << name_of(var.kind) << ' ' << var.name << ' ' << text_of(var);
    if (var.block != 0) out << " block " << var.block;
    out << '\n';
  }
  for (std::size_t id = 0; id < program.blocks.size(); ++id) {
    const Block& block = program.blocks[id];
    out << "block " << id;
    if (block.parent != -1) out << " parent " << block.parent;
    if (!block.results.empty()) out << " results (" << names_of(program, block.results) << ')';
    out << " {\n";
    for (const Op& op : block.ops) write_op(out, program, op);
    out << "}\n";
  }
  return out.str();
}

std::string text_of(const Program& program, const Op& op) {
  return op.out.empty() ? op.type : message(op.type, " of '", program.vars[op.out.front()].name, "'");
}

}  // namespace lethe
