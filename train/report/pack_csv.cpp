#include "train/report/pack_csv.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <unordered_map>

#include "framework/error.h"
#include "framework/text_input.h"

namespace lethe {
namespace {

const std::vector<std::string> kColumns = {"id", "lower", "upper", "size", "offset"};
constexpr std::size_t kNeeded = 4;  // of the columns, from the front

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// The position of each known column in the file.
std::vector<std::size_t> positions(const std::vector<std::string>& header) {
  for (const std::string& name : header)
    check_as(Exit::Data, std::find(kColumns.begin(), kColumns.end(), name) != kColumns.end(), "unknown column ",
             quote(name), ", expected id,lower,upper,size");
  std::vector<std::size_t> at;
  for (std::size_t c = 0; c < kNeeded; ++c) {
    check_as(Exit::Data, std::count(header.begin(), header.end(), kColumns[c]) == 1, "column '", kColumns[c],
             "' is missing or stands there twice, expected id,lower,upper,size");
    at.push_back(static_cast<std::size_t>(std::find(header.begin(), header.end(), kColumns[c]) - header.begin()));
  }
  return at;
}

std::int64_t number(const std::string& text, const std::string& column) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check_as(Exit::Data, error != std::errc::result_out_of_range, column, " ", shortened(text),
           " does not fit in 64 bits");
  check_as(Exit::Data, error == std::errc() && stop == text.data() + text.size(), column, " is ", quote(text),
           ", expected a whole number");
  return value;
}

/// The rows below the header, one after the other.
class CsvRows {
 public:
  explicit CsvRows(const std::vector<std::string>& header) : at_(positions(header)), columns_(header.size()) {}

  void read(const std::vector<std::string>& cells, std::size_t line) {
    check_as(Exit::Data, cells.size() == columns_, cells.size(), " values, expected ", columns_);
    const std::string& id = cells[at_[0]];
    const auto [was, fresh] = line_of_.emplace(id, line);
    check_as(Exit::Data, fresh, "id ", quote(id), " stands on line ", was->second, " already");
    const PackItem item = {number(cells[at_[1]], "lower"), number(cells[at_[2]], "upper"),
                           number(cells[at_[3]], "size")};
    check_as(Exit::Data, item.lower < item.upper, "lower ", item.lower, " is not below upper ", item.upper);
    check_as(Exit::Data, item.size >= 0, "size is ", item.size, ", expected at least 0");
    check_as(Exit::Data, item.size <= kMostPackBytes - total_, "sizes add up to more than ", kMostPackBytes);
    total_ += item.size;
    table_.ids.push_back(id);
    table_.items.push_back(item);
  }
  PackTable table() && { return std::move(table_); }

 private:
  std::vector<std::size_t> at_;
  std::size_t columns_;
  std::unordered_map<std::string, std::size_t> line_of_;
  std::int64_t total_ = 0;
  PackTable table_;
};

}  // namespace

PackTable read_pack_csv(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  check_as(Exit::Data, in.good(), file, ": cannot be read");
  std::optional<CsvRows> rows;
  std::size_t number_of_line = 0;
  const auto next = [&](std::string& line) {
    return with_context(message(file, ":", ++number_of_line), [&] { return read_line(in, line); });
  };
  for (std::string line; next(line);) {
    with_context(message(file, ":", number_of_line), [&] {
      if (number_of_line == 1) line.erase(0, mark_length(line));
      const std::vector<std::string> cells = cells_of(line);
      if (!rows) {
        rows.emplace(cells);
      } else if (cells.size() > 1 || !cells[0].empty()) {
        rows->read(cells, number_of_line);
      }
    });
  }
  check_as(Exit::Data, !in.bad(), file, ": cannot be read");
  check_as(Exit::Data, rows.has_value(), file, ": is empty, expected a first line id,lower,upper,size");
  return std::move(*rows).table();
}

std::string pack_csv(const PackTable& table, const std::vector<std::int64_t>& offsets) {
  std::string text = "id,lower,upper,size,offset\n";
  for (std::size_t i = 0; i < table.items.size(); ++i) {
    const PackItem& item = table.items[i];
    text.append(message(table.ids[i], ",", item.lower, ",", item.upper, ",", item.size, ",", offsets[i], "\n"));
  }
  return text;
}

}  // namespace lethe
