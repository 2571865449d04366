#include "train/data/csv_file.h"

#include <algorithm>

#include "framework/error.h"

namespace lethe {
namespace {

/// Takes one row after another from the bytes, where it writes cells without their quotes.
class CsvRows {
 public:
  CsvRows(const std::string& path, FileBytes& bytes)
      : path_(path), at_(reinterpret_cast<char*>(bytes.data())), end_(at_ + bytes.size()) {}

  /// The next row that has anything; false if there is none.
  bool next(std::vector<std::string_view>& cells) {
    while (at_ != end_) {
      begin_ = line_;
      if (took_line_end()) continue;
      cells.clear();
      do cells.push_back(*at_ == '"' ? quoted() : plain());
      while (took_comma());
      return true;
    }
    return false;
  }
  /// On which the row begins.
  std::int64_t line() const { return begin_; }

 private:
  bool took_line_end() {
    char* next = at_;
    if (next != end_ && *next == '\r') ++next;
    if (next == end_ ? next == at_ : *next != '\n') return false;
    at_ = next == end_ ? end_ : next + 1;
    ++line_;
    return true;
  }
  /// Gives false where the row ends, after which the next begins.
  bool took_comma() {
    if (at_ == end_ || took_line_end()) return false;
    check_as(Exit::Data, *at_ == ',', path_, ':', line_, ": a cell goes on after the quote that closes it");
    if (++at_ == end_) *--at_ = '\n';  // in the comma's place: an empty cell is the last of the row
    return true;
  }
  std::string_view plain() {
    char* const begin = at_;
    while (at_ != end_ && *at_ != ',' && *at_ != '\n' && *at_ != '"') ++at_;
    check_as(Exit::Data, at_ == end_ || *at_ != '"', path_, ':', line_,
             ": a quote within a cell; one that has quotes stands in quotes, with each of its own twice");
    if ((at_ == end_ || *at_ == '\n') && at_ != begin && at_[-1] == '\r') --at_;
    return {begin, at_};
  }
  std::string_view quoted() {
    const std::int64_t opened = line_;
    char *const begin = at_++, *to = begin;
    for (;; ++at_) {
      check_as(Exit::Data, at_ != end_, path_, ':', opened, ": a quote that is not closed");
      if (*at_ == '"' && (++at_ == end_ || *at_ != '"')) return {begin, to};
      line_ += *at_ == '\n';
      *to++ = *at_;
    }
  }

  const std::string& path_;
  char *at_, *end_;
  std::int64_t line_ = 1, begin_ = 1;
};

}  // namespace

CsvFile::CsvFile(const std::string& path) : path_(path), bytes_(read_text_file(path)) {
  CsvRows rows(path_, bytes_);
  std::vector<std::string_view> cells;
  check_as(Exit::Data, rows.next(cells), path_, ": is empty, expected a header of names and rows");
  read_header(cells, rows.line());
  while (rows.next(cells)) {
    check_as(Exit::Data, cells.size() == names_.size(), path_, ':', rows.line(), ": cells: ", cells.size(),
             ", the header has ", names_.size());
    cells_.insert(cells_.end(), cells.begin(), cells.end());
    lines_.push_back(rows.line());
  }
  check_as(Exit::Data, !lines_.empty(), path_, ": has a header and no row after it");
}

void CsvFile::read_header(const std::vector<std::string_view>& cells, std::int64_t line) {
  for (const std::string_view name : cells) {
    check_as(Exit::Data, !name.empty(), path_, ':', line, ": column ", names_.size() + 1,
             " has no name; a header of names stands first");
    check_as(Exit::Data, find(name) < 0, path_, ':', line, ": two columns are called ",
             quote(shortened(std::string(name))));
    names_.emplace_back(name);
  }
}

std::string CsvFile::place(std::int64_t row) const {
  return message(path_, ':', lines_[static_cast<std::size_t>(row)]);
}

std::int64_t CsvFile::find(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  return found == names_.end() ? -1 : found - names_.begin();
}

}  // namespace lethe
