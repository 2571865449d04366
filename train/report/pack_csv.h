// Packing instances as comma-separated text, as other planners read and write them: id,lower,upper,size and, when
// packed, offset.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "memopt/pack/pack.h"

namespace lethe {

struct PackTable {
  std::vector<std::string> ids;
  std::vector<PackItem> items;
};

/// Columns in any order, named by the first line; an offset column is passed over. Fails with Exit::Data, naming file
/// and line, at whatever is no such table: other columns, missing values, an id that stands there twice, a life without
/// an instant, sizes that are negative or add up to more than kMostPackBytes.
PackTable read_pack_csv(const std::string& file);
std::string pack_csv(const PackTable& table, const std::vector<std::int64_t>& offsets);

}  // namespace lethe
