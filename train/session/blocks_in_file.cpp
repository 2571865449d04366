#include "train/session/blocks_in_file.h"

#include "framework/error.h"
#include "framework/language/block_formats.h"
#include "models/json_source.h"

namespace lethe {
namespace {

constexpr const char* kBlocks = "lethe.dtypes";  // of the metadata

std::int64_t block_of(const TensorEntry& tensor) { return block_format(tensor.dtype, tensor.shape).elements; }

std::int64_t count_at(const JsonNode& node) {
  if (!node.json().is_number_unsigned() || node.json().get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    node.fail(node.shown(), " is no whole number");
  return node.json().get<std::int64_t>();
}

/// What one is that the header calls so.
void read_block_entry(const JsonNode& said, TensorEntry& tensor) {
  const std::int64_t bytes = tensor.bytes();
  if (!tensor.is_of(DType::u8) || tensor.shape.size() != 1)
    said.fail("the tensor is ", type_and_shape(tensor), ", expected u8 of one axis");
  const DType dtype = with_context(said.where(), [&] { return dtype_named(said.at("dtype").text()); });
  if (!is_in_blocks(dtype)) said.fail(name_of(dtype), " are not in blocks");
  Shape shape;
  for (const JsonNode& size : said.at("shape").items()) shape.push_back(count_at(size));
  with_context(said.where(), [&] { elements(shape); });  // fails if these are too many
  const std::string complaint = complaint_about_blocks(dtype, shape);
  if (!complaint.empty()) said.fail(complaint);
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  if (const std::int64_t block = count_at(said.at("block")); block != block_of(tensor))
    said.fail("has blocks of ", block, ", this program reads ", name_of(dtype), " in blocks of ", block_of(tensor));
  if (tensor.bytes() != bytes) said.fail(type_and_shape(tensor), " are not of ", bytes, " bytes");
}

}  // namespace

TensorEntry entry_in_header(const TensorEntry& tensor) {
  if (tensor.is_foreign() || !is_in_blocks(tensor.dtype)) return tensor;
  return {.name = tensor.name, .dtype = DType::u8, .shape = {tensor.bytes()}, .begin = tensor.begin};
}

Metadata with_blocks(Metadata metadata, const std::vector<TensorEntry>& tensors) {
  Json all = Json::object();
  for (const TensorEntry& tensor : tensors)
    if (!tensor.is_foreign() && is_in_blocks(tensor.dtype))
      all[tensor.name] = {{"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}, {"block", block_of(tensor)}};
  if (!all.empty()) metadata[kBlocks] = all.dump();
  return metadata;
}

void find_blocks(Metadata& metadata, std::vector<TensorEntry>& tensors) {
  const auto text = metadata.find(kBlocks);
  if (text == metadata.end()) return;
  try {
    const JsonSource source(kBlocks, text->second);
    std::map<std::string, TensorEntry*> by_name;
    for (TensorEntry& tensor : tensors) by_name[tensor.name] = &tensor;
    for (const auto& [name, said] : source.root().members()) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) said.fail_at_key("the file has no tensor ", quote(name));
      with_context(message("tensor '", name, "'"), [&] { read_block_entry(said, *found->second); });
    }
  } catch (const Error& error) {
    throw Error(error.what(), Exit::Data);
  }
  metadata.erase(text);
}

}  // namespace lethe
