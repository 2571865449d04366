#include "train/session/stored_weights.h"

#include <algorithm>

#include "framework/builder/network_weights.h"
#include "framework/error.h"

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

}  // namespace lethe
