#include "train/report/graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/markup.h"

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

constexpr const char* kLegend =
    "Equal number and colour: the same place in memory, that is the same buffer or, at level=2,<BR/>"
    "the same first byte of the arena. Each side counts for itself. Grey heads: backward ops.<BR/>"
    "Parameters, optimizer state and the ops that update them are left out.";

/// The limits keep dot from taking minutes for a few dozen layers.
constexpr const char* kLook =
    "  labelloc=t;\n  nslimit=1;\n  nslimit1=1;\n  fontname=\"sans-serif\";\n"
    "  node [shape=plain, fontname=\"sans-serif\", fontsize=10];\n";

/// Channel of a colour by hue (turns), as HSL has it.
double channel(double hue, double saturation, double lightness) {
  const double at = std::abs(std::fmod(hue + 1, 1) * 6 - 3) - 1;  // -1 to 2
  return lightness + saturation * std::min(lightness, 1 - lightness) * (2 * std::clamp(at, 0.0, 1.0) - 1);
}

/// Numbers of places in memory, by VarId: two vars have the same number just if they begin at the same byte of the same
/// buffer. From 1 in the order of the vars; 0: in the Store, or never used.
std::vector<int> place_numbers(const Plan& plan) {
  std::map<std::pair<int, std::int64_t>, int> known;
  std::vector<int> numbers;
  for (const Place& place : plan.vars) {
    if (place.buffer < 0)
      numbers.push_back(0);
    else
      numbers.push_back(
          known.emplace(std::pair(place.buffer, place.offset), static_cast<int>(known.size()) + 1).first->second);
  }
  return numbers;
}

/// One side of the picture while it is written.
class SideText {
 public:
  SideText(const GraphSide& side, int index)
      : program_(side.planned.program), prefix_(message('s', index, '_')), numbers_(place_numbers(side.planned.plan)) {
    const int last = numbers_.empty() ? 0 : *std::max_element(numbers_.begin(), numbers_.end());
    colours_ = place_colours(static_cast<std::size_t>(last) + 1);
    text_ = message("  subgraph cluster_", index, " {\n    label=<", markup(side.title), ">;\n");
    add_inputs();
    int number = 0;
    for (const Block& block : program_.blocks)
      for (const Op& op : block.ops)
        if (op.role != Role::Optimize && op.type != kDeleteVar) add_op(op, number++);
    text_ += "  }\n";
  }
  const std::string& text() const { return text_; }

 private:
  void add_inputs() {
    std::vector<bool> read(program_.vars.size());
    for (const Block& block : program_.blocks)
      for (const Op& op : block.ops)
        for (const VarId v : op.in)
          if (v != kNone && op.role != Role::Optimize) read[v] = true;
    for (std::size_t v = 0; v < program_.vars.size(); ++v)
      if (program_.vars[v].kind == Kind::Input && read[v])
        add_node(message(prefix_, "in", v), "input", "#ffffff", {static_cast<VarId>(v)});
  }

  void add_op(const Op& op, int number) {
    const std::string node = message(prefix_, "op", number);
    for (const VarId v : op.in)
      if (v != kNone && writer_.count(v) != 0) edges_to(node, v);
    add_node(node, op.type, op.role == Role::Backward ? "#d0d0d0" : "#ffffff", op.out);
  }

  void edges_to(const std::string& node, VarId v) {
    text_.append(message("    ", writer_[v], ":v", v, " -> ", node, ":head;\n"));
  }

  void add_node(const std::string& node, const std::string& head, const char* colour, const std::vector<VarId>& out) {
    text_.append(message("    ", node, " [label=<<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\">",
                         "<TR><TD PORT=\"head\" COLSPAN=\"2\" BGCOLOR=\"", colour, "\"><B>", head, "</B></TD></TR>"));
    for (const VarId v : out) {
      if (is_persistable(program_.vars[v].kind)) continue;
      writer_[v] = node;
      text_.append(message("<TR><TD BGCOLOR=\"", colours_[numbers_[v]], "\">", numbers_[v], "</TD><TD PORT=\"v", v,
                           "\" BGCOLOR=\"", colours_[numbers_[v]], "\">", markup(program_.vars[v].name), " ",
                           text_of(program_.vars[v]), "</TD></TR>"));
    }
    text_.append("</TABLE>>];\n");
  }

  const Program& program_;
  std::string prefix_;
  std::vector<int> numbers_;
  std::vector<std::string> colours_;
  std::map<VarId, std::string> writer_;
  std::string text_;
};

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

std::vector<std::string> place_colours(std::size_t count) {
  // Evenly spread over hue and lightness however many there are: Roberts, "The unreasonable effectiveness of
  // quasirandom sequences", 2018.
  constexpr double kPlastic = 1.32471795724474602596;
  std::set<std::string> used;
  std::vector<std::string> colours;
  for (std::size_t i = 0; i < count; ++i) {
    const double hue = static_cast<double>(i) / kPlastic;
    const double lightness = 0.7 + 0.18 * std::fmod(static_cast<double>(i) / (kPlastic * kPlastic), 1);
    const auto byte = [&](double turn) { return static_cast<int>(255 * channel(hue + turn, 0.7, lightness)); };
    int blue = byte(1.0 / 3);
    while (!used.insert(formatted("#%02x%02x%02x", byte(0), byte(2.0 / 3), blue)).second) blue = (blue + 1) % 256;
    colours.push_back(formatted("#%02x%02x%02x", byte(0), byte(2.0 / 3), blue));
  }
  return colours;
}

std::string graph_dot(const std::string& title, const std::vector<GraphSide>& sides) {
  std::string dot = message("digraph memory {\n  label=<", markup(title), "<BR/>", kLegend, ">;\n", kLook);
  int index = 0;
  for (const GraphSide& side : sides) dot += SideText(side, index++).text();
  return dot + "}\n";
}

}  // namespace lethe
