#include "train/data/samples.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/op_def.h"
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

double SampleReader::read_pair(SamplePair&) { fail_as(Exit::Internal, "only images are mixed with each other"); }

}  // namespace lethe
