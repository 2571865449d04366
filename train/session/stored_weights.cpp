#include "train/session/stored_weights.h"

#include <algorithm>

#include "framework/builder/network_weights.h"
#include "framework/error.h"
#include "train/session/bitsandbytes.h"
#include "train/session/number_blocks.h"

namespace lethe {

std::vector<StoredTensor> stored_weights(const Network& network, const std::set<std::string>& but) {
  std::vector<StoredTensor> weights;
  for (const ParamInfo& info : weights_of(network)) {
    const Var& var = network.program.vars[info.var];
    if (!but.contains(var.name)) weights.push_back({.var = var, .layout = info.layout, .names = {var.name}});
  }
  return weights;
}

StoredTensor stored_as(const ForeignWeight& weight, const std::vector<StoredTensor>& own) {
  StoredTensor stored =
      *std::find_if(own.begin(), own.end(), [&](const StoredTensor& s) { return s.var.name == weight.param; });
  stored.names = weight.tensors;
  stored.shape = weight.shape;
  stored.rows = weight.rows;
  stored.transposed = weight.transposed;
  stored.interleaved = weight.interleaved;
  return stored;
}

std::uint32_t save_tensors(const std::string& file, const Store& store, std::vector<StoredTensor> all,
                           const Metadata& metadata, std::optional<DType> floats) {
  const auto in_file = [&](const StoredTensor& each) {
    return floats && is_float(each.var.dtype) ? *floats : each.var.dtype;
  };
  const auto alignment = [&](const StoredTensor& each) {
    return is_in_blocks(in_file(each)) ? 1 : bytes_of(in_file(each));
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const StoredTensor& a, const StoredTensor& b) { return alignment(a) > alignment(b); });
  std::vector<TensorEntry> tensors;
  for (const StoredTensor& each : all)
    for (TensorEntry& tensor : tensors_of(each)) {
      tensor.dtype = in_file(each);
      tensors.push_back(std::move(tensor));
    }
  if (file.empty()) {
    for (const StoredTensor& each : all) store.read_whole(each.var);
    return 0;
  }
  SafetensorsWriter writer(file, tensors, metadata);
  for (const StoredTensor& each : all)
    for (std::vector<std::byte>& tensor : to_file(each, store.read_whole(each.var)))
      writer.write(with_context(quote(each.var.name),
                                [&] { return converted(std::move(tensor), each.var.dtype, in_file(each)); }));
  return writer.finish();
}

std::uint32_t save_quantized(const std::string& file, const Store& store, const std::vector<StoredTensor>& all,
                             const Metadata& metadata, const QuantizedWeights& quantized) {
  std::vector<NamedTensor> tensors;
  for (const StoredTensor& each : all) {
    std::vector<TensorEntry> entries = tensors_of(each);
    std::vector<std::vector<std::byte>> values = to_file(each, store.read_whole(each.var));
    const bool in_blocks = quantized.names.contains(each.var.name);
    check(!in_blocks || !each.transposed, "`quantize`: the file has ", quote(each.var.name), " transposed, which no ",
          name_of(quantized.dtype), " is for");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!in_blocks) {
        tensors.push_back({std::move(entries[i]), std::move(values[i])});
        continue;
      }
      TensorEntry& entry = entries[i];
      values[i] = converted(std::move(values[i]), entry.dtype, quantized.dtype, entry.shape);
      entry.dtype = quantized.dtype;
      std::ranges::move(bitsandbytes_tensors(entry, values[i]), std::back_inserter(tensors));
    }
  }
  const auto width = [](const NamedTensor& tensor) {
    return tensor.entry.is_foreign() ? 1 : bytes_of(tensor.entry.dtype);
  };
  std::ranges::stable_sort(tensors, std::greater(), width);  // keeps every tensor aligned
  std::vector<TensorEntry> entries;
  for (const NamedTensor& tensor : tensors) entries.push_back(tensor.entry);
  SafetensorsWriter writer(file, entries, metadata);
  for (const NamedTensor& tensor : tensors) writer.write(tensor.data);
  return writer.finish();
}

}  // namespace lethe
