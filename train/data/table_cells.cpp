#include "train/data/table_cells.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "framework/error.h"

namespace lethe {
namespace {

std::size_t column_of(const CsvFile& file, const std::string& name) {
  const std::int64_t found = file.find(name);
  check_as(Exit::Data, found >= 0, file.path(), ": has no column ", quote(name), ", only ", joined(file.names()));
  return static_cast<std::size_t>(found);
}

std::string_view without_blanks(std::string_view cell) {
  const std::size_t begin = std::min(cell.find_first_not_of(" \t"), cell.size());
  cell.remove_prefix(begin);
  return cell.substr(0, cell.find_last_not_of(" \t") + 1);
}

}  // namespace

bool is_empty_cell(std::string_view cell) { return without_blanks(cell).empty(); }

double number_in(const CsvFile& file, std::int64_t row, std::size_t column) {
  const auto whose = [&] { return message(file.place(row), ": column ", quote(file.names()[column]), " has "); };
  std::string_view digits = without_blanks(file.cell(row, column));
  check_as(Exit::Data, !digits.empty(), whose(), "nothing, expected a number");
  const std::string shown = quote(shortened(std::string(digits)));
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  double number = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  check_as(Exit::Data, end == digits.data() + digits.size() && status != std::errc::invalid_argument, whose(), shown,
           ", expected a number; categories=", file.names()[column],
           " gives each of its different texts a number of its own");
  check_as(Exit::Data, status == std::errc{} && std::isfinite(number), whose(), shown,
           ", which is no finite number; an empty cell stands for one that is not known");
  return number;
}

TableColumn numbers_in(const CsvFile& file, const std::string& name, const std::vector<std::int32_t>& rows) {
  const std::size_t column = column_of(file, name);
  std::vector<double> numbers;
  for (const std::int32_t row : rows)
    if (!is_empty_cell(file.cell(row, column))) numbers.push_back(number_in(file, row, column));
  check_as(Exit::Data, !numbers.empty(), file.path(), ": column ", quote(name),
           " has no number in any row for training; drop=", name, " leaves it out");
  const auto count = static_cast<double>(numbers.size());
  TableColumn found{.name = name};
  for (const double number : numbers) found.mean += number / count;
  double variance = 0;
  for (const double number : numbers) variance += (number - found.mean) * (number - found.mean) / count;
  const auto [least, most] = std::ranges::minmax(numbers);
  if (least < most)
    found.deviation = std::sqrt(variance);
  else
    found.mean = least;
  check_as(Exit::Data, std::isfinite(found.mean) && std::isfinite(found.deviation) && found.deviation > 0, file.path(),
           ": column ", quote(name), " has numbers whose mean or deviation is none");
  return found;
}

TableColumn categories_in(const CsvFile& file, const std::string& name, const std::vector<std::int32_t>& rows) {
  const std::size_t column = column_of(file, name);
  TableColumn found{.name = name};
  for (const std::int32_t row : rows)
    if (const std::string_view cell = file.cell(row, column); !is_empty_cell(cell)) found.categories.emplace_back(cell);
  std::ranges::sort(found.categories);
  const auto rest = std::ranges::unique(found.categories);
  found.categories.erase(rest.begin(), rest.end());
  check_as(Exit::Data, !found.categories.empty(), file.path(), ": column ", quote(name),
           " has nothing in any row for training; drop=", name, " leaves it out");
  return found;
}

Unknown encode(const TableColumn& column, const CsvFile& file, double* to, std::size_t step) {
  const std::size_t at = column_of(file, column.name);
  Unknown unknown;
  for (std::int64_t row = 0; row < file.rows(); ++row, to += step) {
    const std::string_view cell = file.cell(row, at);
    *to = 0;
    if (is_empty_cell(cell)) {
      ++unknown.empty;
    } else if (column.categories.empty()) {
      const double number = number_in(file, row, at);
      *to = (number - column.mean) / column.deviation;
      check_as(Exit::Data, std::isfinite(static_cast<float>(*to)), file.place(row), ": column ", quote(column.name),
               " has ", number, ", which is too far from the mean ", column.mean);
    } else if (const auto found = std::ranges::lower_bound(column.categories, cell);
               found != column.categories.end() && *found == cell) {
      *to = static_cast<double>(found - column.categories.begin() + 1);
    } else {
      ++unknown.others;
    }
  }
  return unknown;
}

}  // namespace lethe
