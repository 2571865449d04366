// Texts to tune on, a line of JSON each.
#include "tests/fuzz/fuzz.h"
#include "train/data/sequences.h"

namespace lethe::fuzz::json_lines_target {
namespace {

constexpr std::int64_t kLength = 6;

void read_all(const std::string& file) {
  const std::unique_ptr<Sequences> data =
      open_tuning_texts({.path = file}, kLength, {.symbols = "text", .positions = "positions"}, -1, {});
  const std::unique_ptr<SampleReader> reader = data->reader({});
  std::int32_t sample[2 * kLength], labels[kLength];
  const auto symbols = static_cast<std::int32_t>(data->info().alphabet.size());
  for (const Split split : {Split::Train, Split::Test})
    for (std::int64_t i = 0; i < data->size(split); ++i) {
      reader->read(split, i, 0, reinterpret_cast<std::byte*>(sample), labels);
      for (std::int64_t t = 0; t < kLength; ++t) {
        require(sample[t] >= 0 && sample[t] < symbols && labels[t] >= -1 && labels[t] < symbols, "a symbol is one");
        const std::int32_t position = sample[kLength + t], before = t > 0 ? sample[kLength + t - 1] : -1;
        require(position == 0 || position == before + 1, "positions go on or begin");
      }
    }
}

Material material() {
  std::string rows, texts;
  for (int row = 0; row < 10; ++row) {
    rows += R"({"prompt": "so )" + std::string(1, static_cast<char>('a' + row)) + R"(", "completion": "on"})" + "\n";
    texts += R"({"text": "a\u00e9\n"})" + std::string("\n");
  }
  return {.seeds = {rows, texts, rows + "\n\r\n" + texts},
          .words = {"\n", "{", "}", "\"prompt\": ", "\"completion\": ", "\"text\": ", "\"\"", "\\ud83d\\ude00", ", "}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("texts.jsonl", text_of(data, size));
  reads({Exit::Data}, [&] { read_all(file); });
}

const RegisterTarget target{{"json_lines", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::json_lines_target
