#include "train/session/library_weights.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "framework/error.h"
#include "framework/text_input.h"
#include "models/json_source.h"
#include "train/data/gguf_file.h"
#include "train/session/bitsandbytes.h"
#include "train/session/gguf_reader.h"
#include "train/session/onnx_model.h"
#include "train/session/safetensors.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIndexEnding = ".index.json";

class IndexedReader final : public TensorReader {
 public:
  explicit IndexedReader(const std::string& index) : TensorReader(index) {
    std::ifstream in(index, std::ios::binary);
    check_as(Exit::Data, in.good() && fs::is_regular_file(index), index, ": cannot be opened as a file");
    const std::string text = with_context(index, [&] { return rest_of(in, Exit::Data); });
    try {
      const JsonSource source(index, text);
      open_files(source.root().at("weight_map"));
    } catch (const Error& error) {
      throw Error(error.what(), Exit::Data);
    }
  }

  std::vector<std::byte> read(const TensorEntry& tensor) override {
    const auto at = static_cast<std::size_t>(&tensor - tensors_.data());
    SafetensorsReader& file = *file_of_[at];
    return file.read(*file.find(tensor.name));
  }

  std::vector<std::string> files() const override {
    std::vector<std::string> all = {file_};
    for (const auto& [name, file] : files_) all.push_back(file->file());
    return all;
  }

 private:
  void open_files(const JsonNode& map) {
    for (const auto& [name, node] : map.members()) {
      SafetensorsReader& file = opened(name, node);
      const TensorEntry* const tensor = file.find(name);
      if (!tensor) node.fail("tensor ", quote(name), " is not in ", file.file(), where_else(name, file));
      tensors_.push_back(*tensor);
      file_of_.push_back(&file);
    }
    for (const auto& [name, file] : files_)
      for (const TensorEntry& tensor : file->tensors())
        if (!map.has(tensor.name) || map.at(tensor.name).text() != name)
          map.fail_at_key("does not say that ", file->file(), " has the tensor ", quote(tensor.name));
  }

  /// Its file, which stands beside the index.
  SafetensorsReader& opened(const std::string& tensor, const JsonNode& node) {
    const std::string& name = node.text();
    if (const auto found = files_.find(name); found != files_.end()) return *found->second;
    if (name.empty() || fs::path(name).filename() != name || name == "." || name == "..")
      node.fail(quote(name), " is no name of a file beside the index");
    const std::string path = (fs::path(file_).parent_path() / name).string();
    if (!fs::exists(path)) node.fail(path, ", in which ", quote(tensor), " is to be, is not there");
    return *(files_[name] = std::make_unique<SafetensorsReader>(path));
  }

  std::string where_else(const std::string& name, const SafetensorsReader& stated) const {
    for (const auto& [file, reader] : files_)
      if (reader.get() != &stated && reader->find(name)) return message(", but in ", file);
    return "";
  }

  std::map<std::string, std::unique_ptr<SafetensorsReader>> files_ = {};  // by name
  std::vector<SafetensorsReader*> file_of_ = {};                          // by tensor
};

}  // namespace

std::string library_weights_in(const std::string& directory) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"})
    if (const fs::path file = fs::path(directory) / name; fs::exists(file)) return file.string();
  return "";
}

std::string why_no_weights(const std::string& directory) {
  std::vector<std::string> others;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, none)) {
    const std::string ending = entry.path().extension().string();
    for (const char* other : {".safetensors", ".bin", ".pt", ".pth", ".h5", ".msgpack", ".ckpt", ".gguf", ".onnx"})
      if (ending == other) others.push_back(entry.path().filename().string());
  }
  std::ranges::sort(others);
  const std::string missing = "has no model.safetensors and no model.safetensors.index.json";
  return others.empty() ? missing
                        : message(missing, ", only ", joined(others),
                                  "; in Python, save_pretrained() of the model that reads it writes model.safetensors");
}

std::unique_ptr<TensorReader> open_weights(const std::string& file) {
  if (is_gguf(file)) return std::make_unique<GgufReader>(file);
  if (is_onnx(file)) return open_onnx(file);
  if (file.ends_with(kIndexEnding)) return with_blocks_of_bitsandbytes(std::make_unique<IndexedReader>(file));
  return with_blocks_of_bitsandbytes(std::make_unique<SafetensorsReader>(file));
}

}  // namespace lethe
