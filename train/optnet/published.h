// The three tables that optnet published in March 2016, and how to get at their figures again.
#pragma once
#include <string>
#include <vector>

#include "models/network.h"
#include "train/optnet/optnet_count.h"

namespace lethe {

enum class Column : std::uint8_t { Total, Outputs, GradInputs, Buffers, Params };
std::string_view name_of(Column column);  // "grad_inputs"

/// One network's figures by the table's columns. MB are MiB; savings are percentages.
struct PublishedRow {
  std::string net;    // "vgg-A"
  std::string model;  // "optnet/vgg_a"
  std::vector<double> before = {}, after = {}, saving = {};
};

struct PublishedTable {
  int number = 0;
  std::int64_t batch = 1;
  DType dtype = DType::f32;
  bool training = false;
  TorchBackend backend = TorchBackend::Cudnn;
  Sets sets = {};  // vars of the networks: the three tables were made from two states of them
  std::vector<Column> columns = {};
  std::vector<PublishedRow> rows = {};
};

const std::vector<PublishedTable>& published_tables();

/// Bytes of cudnn's workspace in the totals of table 3. Not in the sources: the eight totals confine it to [0.100,
/// 0.543) MiB; this is 6 bytes an output pixel of a 224x224 layer and 8, which fits a log of the time.
inline constexpr std::int64_t kWorkspaceOfTable3 = 301064;

/// The bytes of a column; the total is everything.
std::int64_t share(const OptnetBytes& bytes, Column column);

/// A reproduced figure as the table counted it: its total leaves out the gradients in inference (the counter of that
/// day did) and has the workspace in table 3.
std::int64_t figure(const OptnetBytes& bytes, Column column, const PublishedTable& table);

/// How a computed figure stands to the printed one.
enum class Agreement : std::uint8_t { Exact, WithWorkspace, Misprint, Differs };

/// `printed` as a multiple of its last digit, MiB or percent; `value` and `without_workspace` in the same unit.
Agreement agreement(double printed, double value, double without_workspace, bool known_misprint);

/// Why a printed figure cannot be right; "" for all but two.
std::string misprint(int table, const std::string& net, Column column, bool before, bool saving);

}  // namespace lethe
