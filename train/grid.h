// Rows of cells as text.
#pragma once
#include <string>
#include <vector>

namespace lethe {

using Cells = std::vector<std::string>;

/// Columns as wide as they must be, or with bars for Markdown. The first row has the titles; the first `words` columns
/// stand left, the others, numbers, right.
std::string grid(const std::vector<Cells>& rows, std::size_t words, bool markdown);

}  // namespace lethe
