#include "train/data/table_places.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "framework/error.h"
#include "train/data/dataset.h"
#include "train/data/write_number.h"

namespace lethe {
namespace {

std::string joined_columns(const std::vector<TableColumn>& columns, const std::vector<std::size_t>& which,
                           std::string_view between) {
  std::string names;
  for (const std::size_t i : which) names += message(names.empty() ? "" : between, columns[i].name);
  return shortened(names, 200);
}

std::int64_t numbers_of(const Var& var) { return elements(var.shape) / var.shape[0]; }

}  // namespace

TablePlaces::TablePlaces(std::string data, const Network& network, const FedInputs& fed,
                         const std::vector<TableColumn>& columns, std::size_t targets)
    : data_(std::move(data)), network_(network.name) {
  const auto column_of = [&](VarId id) {
    const auto found = std::ranges::find(columns, network.program.vars[id].name, &TableColumn::name);
    return static_cast<std::size_t>(found - columns.begin());
  };
  std::vector<std::size_t> left(columns.size());  // what no input is called as
  std::iota(left.begin(), left.end(), std::size_t{0});
  for (const VarId id : fed.inputs)
    if (id != fed.target) std::erase(left, column_of(id));
  std::int64_t offset = 0;
  for (const VarId id : fed.inputs) {
    const Var& var = network.program.vars[id];
    if (id == fed.target)
      add_targets(var, offset, columns.size(), targets);
    else if (const std::size_t column = column_of(id); column < columns.size())
      add_column(var, offset, column, columns[column]);
    else
      add_vector(var, offset, std::exchange(left, {}), columns);
    offset += bytes_of(var) / var.shape[0];
  }
  check_as(Exit::Data, left.empty(), data_, ": ", network_,
           " has no input for columns of the table: ", joined_columns(columns, left, ", "),
           "; drop=", joined_columns(columns, left, "|"), " leaves them out");
}

void TablePlaces::add_vector(const Var& var, std::int64_t offset, const std::vector<std::size_t>& numbers,
                             const std::vector<TableColumn>& columns) {
  check_as(Exit::Data, is_float(var.dtype) && var.shape.size() == 2, data_, ": the input '", var.name, "' of ",
           network_, " is ", text_of(var), "; it is called as no column, and no vector of floats for several");
  check_as(Exit::Data, !numbers.empty(), data_, ": no column is left for the input '", var.name, "' of ", network_);
  std::int64_t found = 0;
  const auto add = [&](std::size_t number, std::int64_t category) {
    places_.push_back(
        {.offset = offset + found * bytes_of(var.dtype), .dtype = var.dtype, .number = number, .category = category});
    ++found;
  };
  for (const std::size_t number : numbers) {
    const auto categories = std::ssize(columns[number].categories);
    if (categories == 0) add(number, 0);
    for (std::int64_t category = 1; category <= categories; ++category) add(number, category);
  }
  check_as(Exit::Data, found == var.shape[1], data_, ": the columns come to ", found,
           " numbers, one for each category, the input '", var.name, "' of ", network_, " takes ", var.shape[1], ": ",
           joined_columns(columns, numbers, ", "), set_hint("inputs", found));
}

void TablePlaces::add_column(const Var& var, std::int64_t offset, std::size_t number, const TableColumn& column) {
  const bool has_categories = !column.categories.empty();
  check_as(Exit::Data, numbers_of(var) == 1 && is_float(var.dtype) != has_categories, data_, ": the input '", var.name,
           "' of ", network_, " is ", text_of(var), ", expected ",
           has_categories ? "an i32 for the number of its category" : "a float for its number", " of each row");
  places_.push_back({.offset = offset, .dtype = var.dtype, .number = number});
}

void TablePlaces::add_targets(const Var& var, std::int64_t offset, std::size_t first, std::size_t targets) {
  check_as(Exit::Data, is_float(var.dtype), data_, ": ", network_, " compares with ", text_of(var),
           ", expected floats");
  check_as(Exit::Data, targets == 0 || numbers_of(var) == static_cast<std::int64_t>(targets), data_,
           ": targets: ", targets, "; ", network_, " gives ", numbers_of(var),
           set_hint("outputs", static_cast<std::int64_t>(targets)));
  for (std::size_t i = 0; i < targets; ++i)
    places_.push_back({.offset = offset + static_cast<std::int64_t>(i) * bytes_of(var.dtype),
                       .dtype = var.dtype,
                       .number = first + i});
}

void TablePlaces::write(const double* numbers, std::byte* sample) const {
  for (const Place& place : places_) {
    const double number = numbers[place.number];
    const double value = place.category == 0 ? number : number == static_cast<double>(place.category) ? 1 : 0;
    check_as(Exit::Data, write_number(value, place.dtype, sample + place.offset), data_, ": a number of ", value,
             " deviations is none of ", name_of(place.dtype));
  }
}

}  // namespace lethe
