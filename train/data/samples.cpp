#include "train/data/samples.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/language/op_def.h"
#include "framework/random.h"
#include "train/data/vocabulary.h"

namespace lethe {
namespace {

std::string shown_symbols(const Meaning& meaning) {
  if (!meaning.tokenizer.empty()) return meaning.tokenizer;
  if (meaning.alphabet.empty()) return "nothing";
  std::string text;
  for (const char byte : meaning.alphabet) text += byte == ' ' ? " " : shown_byte(byte);
  return message("the ", meaning.alphabet.size(), " characters ", quote(shortened(text, 100)));
}

std::string names_of(const std::vector<TableColumn>& columns) {
  std::vector<std::string> names;
  for (const TableColumn& column : columns) names.push_back(column.name);
  return joined(names);
}

bool is_below(std::uint64_t stream, double share) {
  const Philox4 drawn = philox(stream_key(hash_of("held out"), stream), 0, 0);
  return uniform_of(drawn.word[0], drawn.word[1]) < share;
}

}  // namespace

void check_means(const Meaning& known, const Meaning& found, const std::string& data) {
  if (!known.classes.empty() && found.classes != known.classes) {
    const auto differ = std::ranges::mismatch(known.classes, found.classes);
    const std::string here =
        differ.in2 == found.classes.end() ? "no class" : message("class ", quote(shortened(*differ.in2)));
    const std::string there =
        differ.in1 == known.classes.end() ? "none" : message("class ", quote(shortened(*differ.in1)));
    fail_as(Exit::Data, data, ": has ", here, " where the run has ", there, "; the run knows ", joined(known.classes));
  }
  check_as(Exit::Data, known.columns.empty() || (found.columns == known.columns && found.targets == known.targets),
           data, ": has other columns than the table that the run was trained on, ", names_of(known.columns));
  const bool has_symbols = !known.alphabet.empty() || !known.tokenizer.empty();
  check_as(Exit::Data, !has_symbols || (found.alphabet == known.alphabet && found.tokenizer == known.tokenizer), data,
           ": symbols stand for ", shown_symbols(found), ", those of the run for ", shown_symbols(known));
}

void Samples::visit_labels(Split split, const LabelVisitor& visit) const {
  const DType dtype = pixels() ? DType::u8 : DType::f32;
  const std::unique_ptr<SampleReader> read = reader({.dtype = dtype});
  std::vector<std::byte> sample(static_cast<std::size_t>(sample_bytes(dtype)));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(this->labels()));
  for (std::int64_t index = 0; index < size(split); ++index) {
    read->read(split, index, 0, sample.data(), labels.data());
    visit(index, labels);
  }
}

bool is_held_out(std::string_view name, double share) { return is_below(hash_of(name), share); }
bool is_held_out(std::int64_t row, double share) { return is_below(static_cast<std::uint64_t>(row), share); }

RowsOfSplits divided_rows(std::string_view what, std::int64_t rows, double share) {
  check_as(Exit::Data, rows <= INT32_MAX, what, ": has ", rows, " rows, more than ", INT32_MAX);
  RowsOfSplits divided;
  for (std::int64_t row = 0; row < rows; ++row)
    divided[is_held_out(row, share) ? 1 : 0].push_back(static_cast<std::int32_t>(row));
  check_divided(what, std::ssize(divided[0]), std::ssize(divided[1]), share);
  return divided;
}

void check_divided(std::string_view what, std::int64_t training, std::int64_t held, double share) {
  check_as(Exit::Data, training > 0 && held > 0, what, ": val=", share, " leaves ", training,
           " samples for training and ", held, " for evaluation; both need one at least");
}

double SampleReader::read_pair(SamplePair&) { fail_as(Exit::Internal, "only images are mixed with each other"); }

}  // namespace lethe
