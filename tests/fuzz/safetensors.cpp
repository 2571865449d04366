// Weight files in the safetensors format: the header, and the data of each tensor.
#include "train/session/safetensors.h"

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::safetensors_target {
namespace {

std::string file_with(const std::vector<TensorEntry>& tensors, const Metadata& metadata) {
  const Directory directory;
  const std::string file = directory.path() + "/seed";
  SafetensorsWriter writer(file, tensors, metadata);
  for (const TensorEntry& tensor : tensors)
    writer.write(std::vector<std::byte>(static_cast<std::size_t>(tensor.bytes())));
  writer.finish();
  return text_in(file);
}

Material material() {
  return {.seeds = {file_with({}, {}), file_with({{.name = "fc.weight", .shape = {2, 3}}}, {{"format", "pt"}}),
                    file_with({{.name = "a", .dtype = DType::u8, .shape = {3}},
                               {.name = "b", .dtype = DType::f64},
                               {.name = "c", .dtype = DType::bf16, .shape = {0, 4}}},
                              {}),
                    file_with({{.name = "w@m", .dtype = DType::dynamic8, .shape = {3, 2}}}, {})},
          .words = {"\"dtype\":", "\"shape\":", "\"data_offsets\":", "\"__metadata__\":", "\"F32\"", "\"F64\"",
                    "\"BF16\"", "\"F16\"", "\"I64\"", "\"I32\"", "\"U8\"", "\"lethe.dtypes\":", "[", "]", "{", "}",
                    "[0,0]", "null", "\\n"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  const std::string file = directory.put("weights.safetensors", text_of(data, size));
  reads({Exit::Data}, [&] {
    SafetensorsReader reader(file);
    for (const TensorEntry& tensor : reader.tensors()) reader.read(tensor);
  });
}

const RegisterTarget target{{"safetensors", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::safetensors_target
