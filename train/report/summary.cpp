#include "train/report/summary.h"

#include <set>

#include "framework/builder/settings.h"
#include "framework/checked.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "train/report/memory_report.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

constexpr const char* kMultAdds = "the number of multiply-adds";

/// Bytes of what the forward ops write, views and what is changed in place apart.
std::int64_t activation_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      if (op.role != Role::Forward || op_def(op.type).is_view() || op_def(op.type).updates) continue;
      const std::size_t made = op.blocks.empty() ? op.out.size() : loop_carried(program, op);
      for (std::size_t i = 0; i < made; ++i) bytes += bytes_of(program.vars[op.out[i]]);
    }
  return bytes;
}

/// Collects rows as the ops stand, those of an op's blocks before its own.
class LayerRows {
 public:
  explicit LayerRows(const Network& network) : network_(network) {}

  std::vector<LayerRow> run() && {
    visit(0, 1);
    return std::move(rows_);
  }

 private:
  void visit(BlockId block, std::int64_t trips) {
    for (const Op& op : program_.blocks[block].ops) {
      if (op.role != Role::Forward) continue;
      const std::int64_t more = op.type == kWhile ? op.attrs.integer(kMaxTrips) : 1;
      for (const BlockId body : op.blocks) visit(body, checked_mul(trips, more, "the number of trips"));
      if (!op.out.empty()) add(op, trips);
    }
  }

  void add(const Op& op, std::int64_t trips) {
    const bool counts_trips = op.type == kWhile && loop_carried(program_, op) > 1;
    const VarId shown = op.out[counts_trips ? 1 : 0];
    const std::string& name = program_.vars[shown].name;
    const std::string& layer = op_def(op.type).layer.name;
    LayerRow row{.path = layer_of(name),
                 .type = layer.empty() ? op.type : layer,
                 .output = text_of(sample_shape(network_, shown))};
    for (const VarId v : op.in) {
      if (v == kNone || program_.vars[v].kind != Kind::Param || !counted_.insert(v).second) continue;
      const std::int64_t count = elements(program_.vars[v].shape);
      row.parameters += count;
      if (network_.frozen.contains(v)) row.frozen += count;
    }
    row.mult_adds = checked_mul(mult_adds_of(program_, op), trips, kMultAdds);
    rows_.push_back(std::move(row));
  }

  const Network& network_;
  const Program& program_ = network_.program;
  std::vector<LayerRow> rows_;
  std::set<VarId> counted_;
};

std::int64_t bytes_of_kind(const Program& program, Kind kind) {
  std::int64_t bytes = 0;
  for (const Var& var : program.vars)
    if (var.kind == kind) bytes += bytes_of(var);
  return bytes;
}

std::string totals(const Program& program, const std::vector<LayerRow>& rows) {
  std::int64_t parameters = 0, frozen = 0, mult_adds = 0;
  for (const LayerRow& row : rows) {
    frozen += row.frozen;
    parameters = checked_add(parameters, row.parameters, "the number of parameters");
    mult_adds = checked_add(mult_adds, row.mult_adds, kMultAdds);
  }
  const std::string trained = frozen > 0 ? "\ntrained       " + grouped(parameters - frozen) : "";
  return message("parameters    ", grouped(parameters), trained, "\nmult-adds     ", grouped(mult_adds),
                 "\ninput         ", mebibytes(bytes_of_kind(program, Kind::Input)), "\nactivations   ",
                 mebibytes(activation_bytes(program)), "\nparams        ",
                 mebibytes(bytes_of_kind(program, Kind::Param)), "\n");
}

std::string inputs_of(const Layer& layer) {
  if (layer.max_inputs < 0) return message(layer.min_inputs, " or more inputs");
  if (layer.max_inputs > layer.min_inputs) return message(layer.min_inputs, " to ", layer.max_inputs, " inputs");
  return message(layer.max_inputs, layer.max_inputs == 1 ? " input" : " inputs");
}

std::string default_of(const Key& key) {
  if (!key.absent) return key.optional ? "none" : "required";
  if (key.type == KeyType::Bool) return *key.absent == Attr(0) ? "false" : "true";
  const auto* text = std::get_if<std::string>(&key.absent->base());
  return text ? *text : text_of(*key.absent);
}

std::string described(const Layer& layer) {
  const std::vector<std::string> names = names_of(layer);
  std::string text = layer.name;
  if (names.size() > 1) text += " (" + joined({names.begin() + 1, names.end()}) + ")";
  text += ": " + layer.help + "; " + inputs_of(layer) + "\n";
  TextRows rows;
  for (const Key& key : layer.keys)
    rows.push_back({key.name, values_of(key), default_of(key), range_of(key), key.help});
  return rows.empty() ? text : text + text_table(rows, rows.front().size(), "  ");
}

}  // namespace

std::string layer_of(const std::string& var) {
  const std::string forward = var.substr(0, var.find('@'));
  return forward.substr(0, forward.rfind('.'));
}

std::vector<LayerRow> layer_rows(const Network& network) { return LayerRows(network).run(); }

std::string layer_table(const Network& network) {
  const Program& program = network.program;
  const std::vector<LayerRow> rows = layer_rows(network);
  const auto count = [](std::int64_t value) { return value ? grouped(value) : std::string(1, '-'); };
  const auto mark = [](const LayerRow& row) {
    return row.frozen == 0 ? "" : row.frozen < row.parameters ? " partly frozen" : " frozen";
  };
  TextRows lines = {{"layer", "type", "output", "parameters", "mult-adds"}};
  for (const LayerRow& row : rows)
    lines.push_back({row.path, row.type, row.output, count(row.parameters) + mark(row), count(row.mult_adds)});
  const std::string table = text_table(lines, 3);
  const std::size_t head = table.find('\n') + 1;
  const std::string rule = std::string(head - 1, '-') + "\n";
  const std::int64_t batch = network.inputs.empty() ? 1 : program.vars[network.inputs[0]].shape[0];
  return message(network.name, ", batch ", batch, "; images as [channels,height,width]\n", rule, table.substr(0, head),
                 rule, table.substr(head), rule, totals(program, rows));
}

std::string layer_list(const std::string& name) {
  if (!name.empty()) return described(layer_named(name));
  std::string text;
  for (const Layer* layer : all_layers()) text.append(text.empty() ? "" : "\n").append(described(*layer));
  return text;
}

std::vector<std::string> layer_names() {
  std::vector<std::string> names;
  for (const Layer* layer : all_layers()) names.push_back(layer->name);
  return names;
}

}  // namespace lethe
