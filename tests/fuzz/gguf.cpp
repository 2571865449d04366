// GGUF files: the header, the data of each tensor, the network that keys are of, and the tokenizer among them.
#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "tests/train/gguf_samples.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/gguf_file.h"
#include "train/gguf_model.h"
#include "train/session/gguf_reader.h"
#include "train/session/gguf_writer.h"

namespace lethe::fuzz::gguf_target {
namespace {

std::string file_with(const std::vector<GgufEntry>& entries, const std::vector<TensorEntry>& tensors) {
  const Directory directory;
  const std::string file = directory.path() + "/seed";
  GgufWriter writer(file, entries, tensors);
  for (const TensorEntry& tensor : tensors)
    writer.write(std::vector<std::byte>(static_cast<std::size_t>(tensor.bytes())));
  writer.finish();
  return text_in(file);
}

Material material() {
  return {
      .seeds = {file_with({}, {}),
                file_with({{.key = "a", .type = GgufType::I8, .value = {1, -2}},
                           {.key = "b", .type = GgufType::Bool, .value = true},
                           {.key = "c", .type = GgufType::F64, .value = 0.5}},
                          {{.name = "t", .dtype = DType::q4_1, .shape = {2, 32}}, {.name = "u", .shape = {3}}}),
                file_with(testing::llama_keys(), {{.name = "token_embd.weight", .shape = {264, 8}}}),
                file_with(testing::byte_pair_keys(), {}), file_with(testing::piece_keys(), {})},
      .words = {"GGUF", std::string("\3\0\0\0", 4), std::string("\x09\0\0\0\x08\0\0\0", 8), "general.alignment",
                "llama.block_count", "tokenizer.ggml.pre", std::string("\0\0\0\0\0\0\0\x10", 8), "\xff\xff\xff\xff"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static const Directory directory;
  const std::string file = directory.put("model.gguf", text_of(data, size));
  reads({Exit::Data}, [&] {
    GgufReader reader(file);
    for (const TensorEntry& tensor : reader.tensors()) reader.read(tensor);
  });
  reads({Exit::Data}, [&] { read_gguf_model(file); });
  reads({Exit::Data}, [&] { open_folder_tokenizer(file).tokenizer->symbols_of("a low  newer \xc3\xa9\n aaaa"); });
}

const RegisterTarget target{{"gguf", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::gguf_target
