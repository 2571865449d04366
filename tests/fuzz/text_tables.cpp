// A table of labels and texts, with a header or without one.
#include "tests/fuzz/fuzz.h"
#include "train/data/labelled_texts.h"

namespace lethe::fuzz::text_tables_target {
namespace {

constexpr std::int64_t kLength = 5;

void read_all(const std::string& file) {
  const std::unique_ptr<LabelledTexts> data = open_text_tables({.path = file}, kLength, {});
  std::int32_t symbols[kLength];
  for (const Split split : {Split::Train, Split::Test})
    for (std::int64_t i = 0; i < data->size(split); ++i) {
      const std::int32_t label = data->read(split, i, symbols);
      require(label >= 0 && label < std::ssize(data->classes()), "a label is a class");
      for (const std::int32_t symbol : symbols)
        require(symbol >= 0 && symbol <= data->info().vocabulary->size(), "a symbol is one, or padding");
    }
}

Material material() {
  std::string rows;
  for (int row = 0; row < 10; ++row) rows += std::string(1, static_cast<char>('0' + row % 3)) + "\twords in a row\n";
  return {.seeds = {rows, "sentence\tlabel\n" + rows, "index\ttext\tlabel\r\n1\tso\t2\r\n"},
          .words = {"\t", "\n", "\r\n", "label", "sentence", "text"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("texts.tsv", text_of(data, size));
  reads({Exit::Data}, [&] { read_all(file); });
}

const RegisterTarget target{{"text_tables", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::text_tables_target
