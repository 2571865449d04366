// Texts to tune a network on, a line each, as trainers of others read them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lethe {

/// A text whose beginning may be given, and is not to be learned then.
struct TuningText {
  std::string prompt = {}, completion = {};
  std::int64_t line = 0;  // of the file, from 1
};

/// Reads a file of lines {"prompt": TEXT, "completion": TEXT} or {"text": TEXT}, which has no prompt; it may be packed
/// by gzip, and empty lines are passed over. Fails with Exit::Data, file and line, on anything else: another key, one
/// that stands twice, a value that is no text, an empty completion, a file without a text.
std::vector<TuningText> read_json_lines(const std::string& file);

}  // namespace lethe
