// Text in columns that line up.
#pragma once
#include <string>
#include <vector>

namespace lethe {

using TextRows = std::vector<std::vector<std::string>>;

/// Rows of equally many cells, the first `left` columns to the left, all others to the right, two blanks between.
/// Each row is a line that begins with `indent`.
std::string text_table(const TextRows& rows, std::size_t left, const std::string& indent = "");

/// The same as a Markdown table; the first row has the titles.
std::string markdown_table(const TextRows& rows, std::size_t left);

/// "12,345,678".
std::string grouped(std::int64_t value);

}  // namespace lethe
