// A table in a file of comma-separated values, plain or gzipped, as RFC 4180 has them: a header of names, then rows of
// as many cells. A cell in quotes may have commas, ends of lines, and quotes that stand twice.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/data/data_files.h"

namespace lethe {

class CsvFile {
 public:
  /// Passes over lines with nothing on them. Fails with Exit::Data, naming the line, on a row of another length, a
  /// quote that does not end its cell or is not closed, and a name in the header that is empty or stands twice; and
  /// where there is no row.
  explicit CsvFile(const std::string& path);
  CsvFile(CsvFile&&) = default;
  CsvFile(const CsvFile&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }
  std::int64_t rows() const { return std::ssize(lines_); }
  /// Without the quotes around it; valid as long as the file.
  std::string_view cell(std::int64_t row, std::size_t column) const {
    return cells_[static_cast<std::size_t>(row) * names_.size() + column];
  }
  /// "people.csv:7": where a row begins.
  std::string place(std::int64_t row) const;
  /// The column of a name; -1 if there is none.
  std::int64_t find(std::string_view name) const;

 private:
  void read_header(const std::vector<std::string_view>& cells, std::int64_t line);

  std::string path_;
  FileBytes bytes_;
  std::vector<std::string> names_ = {};
  std::vector<std::string_view> cells_ = {};  // of the bytes, row by row
  std::vector<std::int64_t> lines_ = {};      // by row
};

}  // namespace lethe
