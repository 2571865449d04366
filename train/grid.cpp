#include "train/grid.h"

#include <algorithm>

namespace lethe {
namespace {

std::string line_of(const Cells& row, const std::vector<std::size_t>& widths, std::size_t words, bool markdown) {
  std::string line;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    const std::string space(widths[c] - row[c].size(), ' ');
    if (markdown) line.append("| ");
    line.append(c < words ? row[c] + space : space + row[c]).append(markdown ? 1 : 2, ' ');
  }
  if (markdown) line += "|";
  line.erase(line.find_last_not_of(' ') + 1);
  return line.append("\n");
}

}  // namespace

std::string grid(const std::vector<Cells>& rows, std::size_t words, bool markdown) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const Cells& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text = line_of(rows[0], widths, words, markdown);
  if (markdown) {
    for (std::size_t c = 0; c < widths.size(); ++c)
      text.append("|").append(widths[c] + 1, '-').append(c < words ? "-" : ":");
    text += "|\n";
  }
  for (std::size_t r = 1; r < rows.size(); ++r) text += line_of(rows[r], widths, words, markdown);
  return text;
}

}  // namespace lethe
