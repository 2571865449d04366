// Tables of labels and texts in files, as GLUE's SST-2 has them.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "framework/error.h"
#include "train/data/data_files.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/held_out.h"
#include "train/data/labelled_texts.h"
#include "train/data/samples.h"

namespace lethe {
namespace {

struct TextRow {
  std::string_view label, text;
  std::int64_t line = 0;
};

struct TextTable {
  std::string file;
  FileBytes bytes;
  std::vector<TextRow> rows = {};  // of the bytes
};

/// The columns of label and text in a line.
struct TextColumns {
  std::size_t count = 2, label = 0, text = 1;
};

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

/// Compares names in a header, whose letters may be large ones.
bool is_named(std::string_view column, std::string_view name) {
  return std::ranges::equal(column, name, {}, [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
}

/// Reads a header; none if the line is none, which has no column `label`.
std::optional<TextColumns> columns_of_header(const std::vector<std::string_view>& names, const std::string& file) {
  const auto column = [&](std::string_view name) {
    const auto found = std::ranges::find_if(names, [&](std::string_view each) { return is_named(each, name); });
    return static_cast<std::size_t>(found - names.begin());
  };
  const std::size_t label = column("label"), text = std::min(column("sentence"), column("text"));
  if (label == names.size()) return std::nullopt;
  check_as(Exit::Data, text < names.size(), file,
           ":1: names a column 'label' and none 'sentence' or 'text', which is what is read");
  return TextColumns{.count = names.size(), .label = label, .text = text};
}

TextTable read_table(const std::string& file) {
  TextTable table{.file = file, .bytes = read_text_file(file)};
  std::string_view left(reinterpret_cast<const char*>(table.bytes.data()), table.bytes.size());
  TextColumns columns;
  for (std::int64_t line = 1; !left.empty(); ++line) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    std::string_view own = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (own.ends_with('\r')) own.remove_suffix(1);
    const std::vector<std::string_view> fields = fields_of(own);
    if (line == 1)
      if (const auto header = columns_of_header(fields, file)) {
        columns = *header;
        continue;
      }
    check_as(Exit::Data, fields.size() == columns.count, file, ':', line, ": columns: ", fields.size(), ", expected ",
             columns.count, ", with a tab between label and text");
    const TextRow row{.label = fields[columns.label], .text = fields[columns.text], .line = line};
    check_as(Exit::Data, !row.label.empty(), file, ':', line, ": the label is empty");
    check_as(Exit::Data, !row.text.empty(), file, ':', line, ": the text is empty");
    table.rows.push_back(row);
  }
  check_as(Exit::Data, !table.rows.empty(), file, ": has no line with a label and a text");
  return table;
}

/// The files of a directory, or the one file. With a share held out those for tests are not read.
std::vector<std::string> files_at(const std::string& path, double held_share) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return {path};
  const auto named = [&](const char* name) { return (fs::path(path) / name).string(); };
  if (held_share > 0) return {named("train.tsv")};
  for (const char* name : {"dev.tsv", "val.tsv", "test.tsv"})
    if (fs::exists(named(name))) return {named("train.tsv"), named(name)};
  fail_as(Exit::Data, path, ": has no dev.tsv, val.tsv or test.tsv; tests are read from one of these beside train.tsv");
}

std::vector<std::string_view> texts_of(const std::vector<TextTable>& tables) {
  std::vector<std::string_view> texts;
  for (const TextTable& table : tables)
    for (const TextRow& row : table.rows) texts.push_back(row.text);
  return texts;
}

/// The rows for tests: of one file each tenth, or the share that is held out; of two files all of the second.
Split split_of(const std::vector<TextTable>& tables, std::size_t table, std::size_t row, double held_share) {
  const bool is_test = tables.size() > 1 ? table > 0
                       : held_share > 0  ? is_held_out(static_cast<std::int64_t>(row), held_share)
                                         : row % 10 == 9;
  return is_test ? Split::Test : Split::Train;
}

/// The labels for training, sorted.
std::vector<std::string> labels_of(const std::vector<TextTable>& tables, double held_share) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < tables[0].rows.size(); ++i)
    if (split_of(tables, 0, i, held_share) == Split::Train) labels.emplace_back(tables[0].rows[i].label);
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

class TextTables final : public LabelledTexts {
 public:
  explicit TextTables(TextsInfo own) : LabelledTexts(std::move(own)) {
    for (std::size_t i = 0; i < info().classes.size(); ++i)
      label_of_.emplace(info().classes[i], static_cast<std::int32_t>(i));
  }

  /// Gives whether there was room for all of the text.
  bool add(Split split, const TextTable& table, const TextRow& row) {
    const auto found = label_of_.find(row.label);
    if (found == label_of_.end())
      fail_as(Exit::Data, table.file, ':', row.line, ": label ", quote(row.label),
              " is none of those that are trained: ", joined(info().classes));
    const TextSymbols text = with_context(message(table.file, ':', row.line),
                                          [&] { return text_symbols(*info().vocabulary, row.text, info().length); });
    symbols_.insert(symbols_.end(), text.symbols.begin(), text.symbols.end());
    samples_[static_cast<std::size_t>(split)].push_back(
        {.end = symbols_.size(), .count = text.symbols.size(), .label = found->second});
    return text.is_whole;
  }

  std::int64_t size(Split split) const override { return std::ssize(samples_[static_cast<std::size_t>(split)]); }

  std::int32_t read(Split split, std::int64_t index, std::int32_t* symbols) const override {
    const Sample& sample = samples_[static_cast<std::size_t>(split)][static_cast<std::size_t>(index)];
    write_padded(std::span(symbols_).subspan(sample.end - sample.count, sample.count), info().length, symbols);
    return sample.label;
  }

 private:
  struct Sample {
    std::size_t end = 0, count = 0;  // of its symbols
    std::int32_t label = 0;
  };
  std::map<std::string, std::int32_t, std::less<>> label_of_ = {};  // by its name
  std::vector<std::int32_t> symbols_ = {};                          // of all texts, without what has no room
  std::array<std::vector<Sample>, 2> samples_ = {};
};

}  // namespace

std::unique_ptr<LabelledTexts> open_text_tables(const TextSpec& spec, std::int64_t length, const Notify& notify,
                                                const Meaning& known) {
  std::vector<TextTable> tables;
  for (const std::string& file : files_at(spec.path, spec.val)) tables.push_back(read_table(file));
  std::shared_ptr<const Vocabulary> vocabulary;
  if (spec.tokenizer.empty())
    vocabulary = characters_of(known.alphabet.empty() ? bytes_in(texts_of(tables)) : known.alphabet);
  else
    vocabulary = open_folder_tokenizer(spec.tokenizer).tokenizer;
  auto data = std::make_unique<TextTables>(
      TextsInfo{.name = "tsv",
                .length = length,
                .vocabulary = vocabulary,
                .classes = known.classes.empty() ? labels_of(tables, spec.val) : known.classes});
  std::int64_t cut = 0;
  for (std::size_t t = 0; t < tables.size(); ++t)
    for (std::size_t i = 0; i < tables[t].rows.size(); ++i)
      cut += !data->add(split_of(tables, t, i, spec.val), tables[t], tables[t].rows[i]);
  if (spec.val > 0) check_divided(spec.path, data->size(Split::Train), data->size(Split::Test), spec.val);
  check_as(Exit::Data, data->size(Split::Test) > 0, spec.path, ": has ", data->size(Split::Train),
           " texts; each tenth is for tests, so it takes ten at least");
  if (notify)
    notify(message("tsv: ", spec.path, ": ", data->size(Split::Train), " texts for training and ",
                   data->size(Split::Test), " for tests, of ", data->info().classes.size(), " classes"));
  if (cut > 0 && notify)
    notify(message(spec.path, ": texts longer than the ", length,
                   " symbols that the network reads, and cut there: ", cut));
  return data;
}

}  // namespace lethe
