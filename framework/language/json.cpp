// The JSON form. Written by hand: the framework needs no JSON library to print five keys.
#include <sstream>

#include "framework/language/text.h"

namespace lethe {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class Writer {
 public:
  Writer(const Program& program, int indent) : program_(program), indent_(indent) {}

  std::string write() {
    out_ << '{';
    line(1) << "\"vars\": [";
    list(program_.vars.size(), 2, [&](std::size_t v) { write_var(program_.vars[v]); });
    line(1) << "],";
    line(1) << "\"blocks\": [";
    list(program_.blocks.size(), 2, [&](std::size_t b) { write_block(program_.blocks[b]); });
    line(1) << ']';
    line(0) << "}\n";
    return out_.str();
  }

 private:
  std::ostream& line(int depth) { return out_ << '\n' << std::string(static_cast<std::size_t>(depth * indent_), ' '); }

  template <class Each>
  void list(std::size_t size, int depth, const Each& each) {
    for (std::size_t i = 0; i < size; ++i) {
      line(depth);
      each(i);
      if (i + 1 < size) out_ << ',';
    }
  }

  void write_var(const Var& var) {
    out_ << "{\"name\": " << quoted(var.name) << ", \"shape\": " << text_of(var.shape)
         << ", \"dtype\": " << quoted(name_of(var.dtype)) << ", \"kind\": " << quoted(name_of(var.kind))
         << ", \"bytes\": " << bytes_of(var);
    if (var.pitch != 0) out_ << ", \"pitch\": " << var.pitch;
    out_ << '}';
  }

  void write_block(const Block& block) {
    out_ << "{\"parent\": " << block.parent << ", \"results\": " << names(block.results) << ", \"ops\": [";
    list(block.ops.size(), 3, [&](std::size_t i) { write_op(block.ops[i]); });
    line(2) << "]}";
  }

  void write_op(const Op& op) {
    out_ << "{\"type\": " << quoted(op.type) << ", \"in\": " << names(op.in) << ", \"out\": " << names(op.out)
         << ", \"attrs\": {";
    const char* separator = "";
    for (const auto& [key, value] : op.attrs) {
      out_ << separator << quoted(key) << ": " << text_of(value);
      separator = ", ";
    }
    out_ << "}, \"role\": " << quoted(name_of(op.role))
         << ", \"blocks\": " << text_of(Attr(Ints(op.blocks.begin(), op.blocks.end()))) << '}';
  }

  std::string names(const std::vector<VarId>& vars) const {
    std::string text = "[";
    for (const VarId v : vars)
      text.append(text.size() > 1 ? ", " : "").append(v == kNone ? "null" : quoted(program_.vars[v].name));
    return text + ']';
  }

  const Program& program_;
  int indent_;
  std::ostringstream out_;
};

}  // namespace

std::string to_json(const Program& program, int indent) { return Writer(program, indent).write(); }

}  // namespace lethe
