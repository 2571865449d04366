// Figures from the README of optnet (Francisco Massa, 2016), as printed.
#include "train/optnet/published.h"

#include <array>
#include <cmath>

namespace lethe {
namespace {

using enum Column;

PublishedTable table_1() {
  return {.number = 1,
          .batch = 1,
          .dtype = DType::f64,
          .backend = TorchBackend::Nn,
          .sets = {{"dropout", "true"}, {"bn", "true"}},
          .columns = {Total, Outputs, Buffers, Params},
          .rows = {
              {"alexnet", "optnet/alexnet", {973, 6, 43, 924}, {472, 1.5, 9, 462}, {51, 75, 80, 50}},
              {"vgg-A", "optnet/vgg_a", {2311, 69, 215, 2027}, {1106, 31, 61, 1014}, {52, 55, 72, 50}},
              {"googlenet", "optnet/googlenet", {505, 69, 145, 292}, {193, 31, 16, 146}, {62, 54, 89, 50}},
              {"resnet110", "optnet/resnet110", {113, 16, 71, 26}, {15, 0.5, 1.3, 13}, {87, 97, 98, 50}},
          }};
}

PublishedTable table_2() {
  return {.number = 2,
          .batch = 128,
          .sets = {{"dropout", "true"}, {"bn", "true"}},
          .columns = {Total, Outputs, Params},
          .rows = {
              {"alexnet", "optnet/alexnet", {859, 397, 462}, {328, 97, 231}, {62, 75, 50}},
              {"vgg-A", "optnet/vgg_a", {5340, 4386, 1014}, {2467, 1960, 507}, {54, 55, 50}},
              {"googlenet", "optnet/googlenet", {4536, 4390, 146}, {2066, 1993, 73}, {54, 55, 50}},
              {"resnet110", "optnet/resnet110", {1049, 1036, 13}, {39, 32, 7}, {96, 97, 50}},
          }};
}

PublishedTable table_3() {
  return {.number = 3,
          .batch = 64,
          .training = true,
          .sets = {{"dropout", "false"}, {"bn", "false"}},
          .columns = {Total, Outputs, GradInputs, Params},
          .rows = {
              {"alexnet", "optnet/alexnet", {963, 195, 303, 462}, {816, 195, 156, 462}, {15, 0, 48, 0}},
              {"vgg-A", "optnet/vgg_a", {5433, 2191, 2228, 1014}, {4228, 2191, 1023, 1014}, {22, 0, 54, 0}},
              {"googlenet", "optnet/googlenet", {6092, 2195, 3346, 146}, {4844, 2195, 2098, 146}, {20, 0, 37, 0}},
              {"resnet110", "optnet/resnet110", {664, 259, 392, 13}, {428, 259, 156, 13}, {36, 0, 60, 0}},
          }};
}

/// Whether a value rounds to a printed figure: to whole numbers, or to tenths where that has some.
bool rounds_to(double value, double printed) {
  const double unit = printed == std::floor(printed) ? 1 : 10;
  return std::round(value * unit) == std::round(printed * unit);
}

}  // namespace

std::string_view name_of(Column column) {
  static constexpr std::array<std::string_view, 5> kNames{"total", "outputs", "grad_inputs", "buffers", "params"};
  return kNames[static_cast<std::size_t>(column)];
}

const std::vector<PublishedTable>& published_tables() {
  static const std::vector<PublishedTable> tables = {table_1(), table_2(), table_3()};
  return tables;
}

std::int64_t share(const OptnetBytes& bytes, Column column) {
  switch (column) {
    case Total:
      return bytes.total();
    case Outputs:
      return bytes.outputs;
    case GradInputs:
      return bytes.grad_inputs;
    case Buffers:
      return bytes.buffers;
    case Params:
      return bytes.params;
  }
  return 0;
}

std::int64_t figure(const OptnetBytes& bytes, Column column, const PublishedTable& table) {
  if (column != Total) return share(bytes, column);
  return table.training ? bytes.total() + kWorkspaceOfTable3 : bytes.total() - bytes.grad_inputs;
}

Agreement agreement(double printed, double value, double without_workspace, bool known_misprint) {
  if (known_misprint) return Agreement::Misprint;
  if (rounds_to(without_workspace, printed)) return Agreement::Exact;
  return rounds_to(value, printed) ? Agreement::WithWorkspace : Agreement::Differs;
}

std::string misprint(int table, const std::string& net, Column column, bool before, bool saving) {
  if (table == 2 && net == "vgg-A" && column == Total && before && !saving)
    return "5340 is a misprint of 5400: its own row sums to 4386 + 1014";
  if (table == 1 && net == "googlenet" && column == Outputs && saving)
    return "54 % is a misprint of 55 %: the same ratio stands as 55 % in table 2";
  return "";
}

}  // namespace lethe
