// Cells of a table as numbers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "train/data/csv_file.h"
#include "train/data/dataset.h"

namespace lethe {

/// What the cells of a column come to in some rows: their mean and deviation (of all, as scikit-learn's StandardScaler
/// has it), or 0 and 1 of a column of chances; a column of one number has deviation 1. Cells that are empty are left
/// out. Fails with Exit::Data, naming line and column, on what is no finite number, and where all cells are empty.
TableColumn numbers_in(const CsvFile& file, const std::string& name, const std::vector<std::int32_t>& rows);
/// The different texts in a column, sorted. Fails with Exit::Data where all cells are empty.
TableColumn categories_in(const CsvFile& file, const std::string& name, const std::vector<std::int32_t>& rows);

/// Whether nothing but blanks stand in a cell.
bool is_empty_cell(std::string_view cell);
/// A cell's number as it stands; fails as numbers_in() does, also on an empty one.
double number_in(const CsvFile& file, std::int64_t row, std::size_t column);

/// How many cells of a column had nothing to go by.
struct Unknown {
  std::int64_t empty = 0, others = 0;  // others: categories that the column does not have
};
/// Writes what the column makes of each row, `step` numbers apart: (number - mean) / deviation, 0 for an empty cell,
/// which is the mean; or the category's number, 0 for one that it does not have and for an empty cell. Fails with
/// Exit::Data, naming line and column, on what is no number, or too far from the mean for f32.
Unknown encode(const TableColumn& column, const CsvFile& file, double* to, std::size_t step);

}  // namespace lethe
