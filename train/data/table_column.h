// What a column of a table means.
#pragma once
#include <string>
#include <vector>

namespace lethe {

/// A column of a table: numbers, of which `mean` is taken and which are divided by `deviation`, or categories.
struct TableColumn {
  std::string name = {};
  double mean = 0, deviation = 1;
  std::vector<std::string> categories = {};  // in the order of their numbers, from 1 on; none: it has numbers
  bool operator==(const TableColumn&) const = default;
};

}  // namespace lethe
