#include "train/data/table.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/host_memory.h"
#include "train/data/csv_spec.h"
#include "train/data/held_out.h"
#include "train/data/table_cells.h"
#include "train/data/table_places.h"

namespace lethe {
namespace {

constexpr const char* kName = "csv";

bool has(const std::vector<std::string>& names, const std::string& name) { return std::ranges::count(names, name) > 0; }

/// What the columns of a table mean to a network.
struct TableMeaning {
  std::vector<TableColumn> columns = {}, targets = {};
  std::optional<TableColumn> classes = {};  // of a network that takes labels: the target's categories
};

std::vector<std::int32_t> all_rows(const CsvFile& file) {
  check_as(Exit::Data, file.rows() <= INT32_MAX, file.path(), ": has ", file.rows(), " rows, more than ", INT32_MAX);
  std::vector<std::int32_t> rows(static_cast<std::size_t>(file.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// A name of the spec must be a column, and each list must mean something of it.
void check_columns(const DataSpec& spec, const CsvSpec& csv, const CsvFile& file, const FedInputs& fed) {
  for (const auto* names : {&csv.targets, &csv.drop, &csv.categories})
    for (const std::string& name : *names)
      if (file.find(name) < 0)
        spec.reject(message("the table has no column ", quote(name), did_you_mean(name, file.names()),
                            " (known: ", joined(file.names()), ")"));
  for (const std::string& target : csv.targets) {
    if (has(csv.drop, target)) spec.reject(message(quote(target), " is a target, which cannot be dropped"));
    if (std::ranges::count(csv.targets, target) > 1)
      spec.reject(message("the target ", quote(target), " stands twice"));
    if (has(csv.categories, target) && fed.labels == kNone)
      spec.reject(message(quote(target), " is a target, which the loss takes as a number"));
  }
  for (const std::string& dropped : csv.drop)
    if (has(csv.categories, dropped)) spec.reject(message(quote(dropped), " stands in drop and in categories"));
}

/// What the run knows of its columns, the spec may repeat and not change.
void check_known(const DataSpec& spec, const CsvSpec& csv, const Meaning& known) {
  for (const TableColumn& column : known.columns) {
    if (has(csv.drop, column.name))
      spec.reject(message("the run reads ", quote(column.name), ", so it cannot be dropped"));
    if (has(csv.categories, column.name) && column.categories.empty())
      spec.reject(message("to the run ", quote(column.name), " is a number"));
  }
}

/// What the rows for training say, or what is known.
TableMeaning find_meaning(const CsvSpec& csv, const CsvFile& file, const std::vector<std::int32_t>& rows,
                          const FedInputs& fed, const Meaning& known) {
  TableMeaning meaning{.columns = known.columns, .targets = known.targets};
  if (meaning.columns.empty())
    for (const std::string& name : file.names())
      if (!has(csv.targets, name) && !has(csv.drop, name))
        meaning.columns.push_back(has(csv.categories, name) ? categories_in(file, name, rows)
                                                            : numbers_in(file, name, rows));
  if (fed.labels != kNone) {
    meaning.classes = known.classes.empty() ? categories_in(file, csv.targets[0], rows)
                                            : TableColumn{.name = csv.targets[0], .categories = known.classes};
  } else if (meaning.targets.empty()) {
    for (const std::string& name : csv.targets)
      meaning.targets.push_back(fed.chances ? TableColumn{.name = name} : numbers_in(file, name, rows));
  }
  return meaning;
}

/// The targets must be those of the spec, in its order, and as many as the network says.
void check_targets(const DataSpec& spec, const CsvSpec& csv, const Network& network, const FedInputs& fed,
                   const TableMeaning& meaning) {
  if (fed.labels != kNone) {
    const auto classes = std::ssize(meaning.classes->categories);
    check_as(Exit::Data, fed.rows == 1, network.name, ": takes ", fed.rows, " labels of a sample, a table gives one");
    check_as(Exit::Data, classes == network.classes, kName, ": column ", quote(csv.targets[0]), " has ", classes,
             " classes, the network tells ", network.classes, " apart", set_hint("classes", classes));
    return;
  }
  std::vector<std::string> names;
  for (const TableColumn& target : meaning.targets) names.push_back(target.name);
  if (names != csv.targets) spec.reject(message("the run's targets are ", joined(names)));
}

/// The rows of a file as numbers: those of the columns, then those of the targets, or the class from 1 on.
class CodedRows {
 public:
  CodedRows() = default;
  CodedRows(const CsvFile& file, const TableMeaning& meaning, bool chances, const Notify& notify) {
    std::vector<TableColumn> all = meaning.columns;
    all.insert(all.end(), meaning.targets.begin(), meaning.targets.end());
    if (meaning.classes) all.push_back(*meaning.classes);
    width_ = all.size();
    taking(message(file.path(), ": ", file.rows(), " rows as numbers"),
           file.rows() * static_cast<std::int64_t>(width_ * sizeof(double)),
           [&] { numbers_.resize(static_cast<std::size_t>(file.rows()) * width_); });
    for (std::size_t i = 0; i < width_; ++i) {
      const Unknown unknown = encode(all[i], file, numbers_.data() + i, width_);
      if (i < meaning.columns.size())
        note(file, all[i], unknown, notify);
      else
        check_target(file, all[i], i, unknown, chances);
    }
  }
  const double* row(std::int64_t number) const { return numbers_.data() + static_cast<std::size_t>(number) * width_; }
  std::int64_t label(std::int64_t number) const { return static_cast<std::int64_t>(row(number)[width_ - 1]) - 1; }

 private:
  static void note(const CsvFile& file, const TableColumn& column, const Unknown& unknown, const Notify& notify) {
    if (!notify) return;
    const bool of_numbers = column.categories.empty();
    if (unknown.empty > 0)
      notify(message(file.path(), ": empty cells of column ", quote(column.name), ", read as ",
                     of_numbers ? message("their mean ", column.mean) : "no category", ": ", unknown.empty));
    if (unknown.others > 0)
      notify(message(file.path(), ": cells of column ", quote(column.name),
                     " with what is no category for training, read as none: ", unknown.others));
  }

  void check_target(const CsvFile& file, const TableColumn& target, std::size_t at, const Unknown& unknown,
                    bool chances) {
    const auto column = static_cast<std::size_t>(file.find(target.name));
    for (std::int64_t i = 0; i < file.rows() && unknown.empty + unknown.others > 0; ++i) {
      const std::string_view cell = file.cell(i, column);
      if (target.categories.empty())
        number_in(file, i, column);  // fails on an empty one
      else
        check_as(Exit::Data, row(i)[at] > 0, file.place(i), ": column ", quote(target.name), " has ",
                 is_empty_cell(cell) ? "nothing" : quote(shortened(std::string(cell))),
                 ", which is none of the classes ", joined(target.categories));
    }
    for (std::int64_t i = 0; i < file.rows() && chances; ++i)
      check_as(Exit::Data, row(i)[at] >= 0 && row(i)[at] <= 1, file.place(i), ": column ", quote(target.name), " has ",
               row(i)[at], ", bce takes 0 to 1");
  }

  std::vector<double> numbers_ = {};
  std::size_t width_ = 0;
};

class Table final : public NamedSamples {
 public:
  Table(const Network& network, const FedInputs& fed, TableMeaning meaning)
      : NamedSamples(kName, network, fed),
        meaning_(std::move(meaning)),
        places_(kName, network, fed, meaning_.columns, meaning_.targets.size()) {}

  /// The rows of a file for a split, by their numbers.
  void take(Split split, std::shared_ptr<const CodedRows> rows, std::vector<std::int32_t> numbers) {
    rows_[static_cast<std::size_t>(split)] = std::move(rows);
    numbers_[static_cast<std::size_t>(split)] = std::move(numbers);
  }
  std::int64_t size(Split split) const override { return std::ssize(numbers_[static_cast<std::size_t>(split)]); }
  std::vector<std::string> classes() const override {
    return meaning_.classes ? meaning_.classes->categories : std::vector<std::string>{};
  }
  Meaning meaning() const override {
    return {.classes = classes(), .columns = meaning_.columns, .targets = meaning_.targets};
  }
  void read(Split split, std::int64_t index, std::byte* sample, std::int32_t* labels) const override {
    const CodedRows& rows = *rows_[static_cast<std::size_t>(split)];
    const std::int64_t row = numbers_[static_cast<std::size_t>(split)][static_cast<std::size_t>(index)];
    places_.write(rows.row(row), sample);
    if (this->labels() > 0) *labels = meaning_.classes ? static_cast<std::int32_t>(rows.label(row)) : 0;
  }

 private:
  TableMeaning meaning_;
  TablePlaces places_;
  std::array<std::shared_ptr<const CodedRows>, 2> rows_ = {};
  RowsOfSplits numbers_ = {};
};

void note_constants(const CsvFile& file, const std::vector<TableColumn>& columns, const std::vector<std::int32_t>& rows,
                    const Notify& notify) {
  for (const TableColumn& column : columns) {
    if (!column.categories.empty() || column.deviation != 1) continue;
    const auto at = static_cast<std::size_t>(file.find(column.name));
    const auto is_mean = [&](std::int32_t row) {
      return is_empty_cell(file.cell(row, at)) || number_in(file, row, at) == column.mean;
    };
    if (std::ranges::all_of(rows, is_mean))
      notify(message(file.path(), ": column ", quote(column.name), " is ", column.mean,
                     " in all rows for training, so nothing is learned from it"));
  }
}

}  // namespace

std::unique_ptr<NamedSamples> open_table(const DataSpec& spec, const Network& network, const FedInputs& fed,
                                         const Notify& notify, const Meaning& known) {
  const CsvSpec csv = csv_spec(spec);
  const CsvFile file(csv.file);  // first, since an unknown word of the spec and all before it are taken for its name
  if (csv.targets.empty()) spec.reject("write which column is predicted: target=NAME, or target=A|B");
  if (fed.labels != kNone && csv.targets.size() > 1)
    spec.reject(message(network.name, " tells classes apart, which are those of one target"));
  check_as(Exit::Data, fed.target != kNone, network.name,
           ": the loss compares with what is no input, so no table fits");
  check_columns(spec, csv, file, fed);
  check_known(spec, csv, known);
  RowsOfSplits rows;
  std::optional<CsvFile> test;
  if (csv.test.empty()) {
    rows = divided_rows(csv.file, file.rows(), csv.val > 0 ? csv.val : kTestedShare);
  } else {
    test.emplace(csv.test);
    rows = {all_rows(file), all_rows(*test)};
  }
  const TableMeaning meaning = find_meaning(csv, file, rows[0], fed, known);
  check_targets(spec, csv, network, fed, meaning);
  auto table = std::make_unique<Table>(network, fed, meaning);
  if (notify) note_constants(file, meaning.columns, rows[0], notify);
  const auto coded = std::make_shared<CodedRows>(file, meaning, fed.chances, notify);
  table->take(Split::Test, test ? std::make_shared<CodedRows>(*test, meaning, fed.chances, notify) : coded, rows[1]);
  table->take(Split::Train, coded, std::move(rows[0]));
  if (notify)
    notify(message(kName, ": ", csv.file, ": ", table->size(Split::Train), " rows for training and ",
                   table->size(Split::Test), " for tests, of ", meaning.columns.size(), " columns"));
  return table;
}

TableRows open_rows(const std::string& path, const Network& network, const FedInputs& fed, const Notify& notify,
                    const Meaning& known) {
  const CsvFile file(path);
  const TableMeaning meaning{.columns = known.columns};
  auto table = std::make_unique<Table>(network, fed, meaning);
  table->take(Split::Test, std::make_shared<CodedRows>(file, meaning, false, notify), all_rows(file));
  TableRows rows{.samples = std::move(table)};
  for (std::int64_t row = 0; row < file.rows(); ++row) rows.places.push_back(file.place(row));
  return rows;
}

}  // namespace lethe
