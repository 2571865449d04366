#include "train/report/text_table.h"

#include <algorithm>

namespace lethe {
namespace {

std::vector<std::size_t> widths_of(const TextRows& rows) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(row.size());
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  return widths;
}

/// One row, its cells filled up with blanks and `between` them.
std::string joined(const std::vector<std::string>& row, const std::vector<std::size_t>& widths, std::size_t left,
                   const char* between) {
  std::string line;
  for (std::size_t c = 0; c < row.size(); ++c) {
    const std::string space(widths[c] - row[c].size(), ' ');
    line.append(c == 0 ? "" : between).append(c < left ? row[c] + space : space + row[c]);
  }
  return line;
}

}  // namespace

std::string text_table(const TextRows& rows, std::size_t left, const std::string& indent) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string table;
  for (const std::vector<std::string>& row : rows) {
    std::string line = indent;
    line.append(joined(row, widths, left, "  "));
    line.erase(line.find_last_not_of(' ') + 1);
    table.append(line).append("\n");
  }
  return table;
}

std::string markdown_table(const TextRows& rows, std::size_t left) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string table;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    table.append("| ").append(joined(rows[r], widths, left, " | ")).append(" |\n");
    if (r > 0) continue;
    for (std::size_t c = 0; c < widths.size(); ++c)
      table.append("|").append(widths[c] + 1, '-').append(c < left ? "-" : ":");
    table.append("|\n");
  }
  return table;
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

}  // namespace lethe
