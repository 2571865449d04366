#include "train/report/summary.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "framework/checked.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "train/report/memory_report.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

constexpr const char* kMultAdds = "the number of multiply-adds";

/// One line: the first `kTexts` cells to the left of their columns, the others to the right.
std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  constexpr std::size_t kTexts = 3;
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::string space(widths[c] - cells[c].size(), ' ');
    line.append(c < kTexts ? cells[c] + space : space + cells[c]).append(c + 1 < cells.size() ? "  " : "\n");
  }
  return line;
}

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
    for (const VarId v : op.in)
      if (v != kNone && program_.vars[v].kind == Kind::Param && counted_.insert(v).second)
        row.parameters += elements(program_.vars[v].shape);
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
  std::int64_t parameters = 0, mult_adds = 0;
  for (const LayerRow& row : rows) {
    parameters = checked_add(parameters, row.parameters, "the number of parameters");
    mult_adds = checked_add(mult_adds, row.mult_adds, kMultAdds);
  }
  return message("parameters    ", grouped(parameters), "\nmult-adds     ", grouped(mult_adds), "\ninput         ",
                 mebibytes(bytes_of_kind(program, Kind::Input)), "\nactivations   ",
                 mebibytes(activation_bytes(program)), "\nparams        ",
                 mebibytes(bytes_of_kind(program, Kind::Param)), "\n");
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
  std::vector<std::vector<std::string>> lines = {{"layer", "type", "output", "parameters", "mult-adds"}};
  for (const LayerRow& row : rows)
    lines.push_back({row.path, row.type, row.output, count(row.parameters), count(row.mult_adds)});
  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& cells : lines)
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], cells[c].size());
  const std::size_t gaps = 2 * (widths.size() - 1);
  const std::string rule = std::string(std::accumulate(widths.begin(), widths.end(), gaps), '-') + "\n";

  const std::int64_t batch = network.inputs.empty() ? 1 : program.vars[network.inputs[0]].shape[0];
  std::string table = message(network.name, ", batch ", batch, "; images as [channels,height,width]\n") + rule;
  table.append(line_of(lines[0], widths)).append(rule);
  for (std::size_t l = 1; l < lines.size(); ++l) table.append(line_of(lines[l], widths));
  return table.append(rule).append(totals(program, rows));
}

}  // namespace lethe
