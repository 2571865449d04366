#include "train/session/gguf_weights.h"

#include <algorithm>

#include "framework/error.h"
#include "train/session/gguf_writer.h"
#include "train/session/number_blocks.h"
#include "train/session/stored_weights.h"

namespace lethe {
namespace {

/// The file's dtype of a tensor.
DType gguf_dtype(const TensorEntry& tensor, std::optional<DType> matrices) {
  return tensor.shape.size() < 2 ? DType::f32 : matrices.value_or(tensor.dtype);
}

}  // namespace

std::uint32_t save_gguf(const std::string& file, const Store& store, const Network& network, const std::string& library,
                        const std::vector<GgufEntry>& keys, std::optional<DType> matrices) {
  const auto names = std::ranges::find(network.weight_names, library, &WeightNames::library);
  check(names != network.weight_names.end(), network.name, ": its \"weights\" name none of ", quote(library));
  const std::vector<StoredTensor> own = stored_weights(network);
  std::vector<StoredTensor> all;
  std::vector<TensorEntry> tensors;
  for (const ForeignWeight& weight : names->weights) {
    all.push_back(stored_as(weight, own));
    for (TensorEntry& tensor : tensors_of(all.back())) {
      tensor.dtype = gguf_dtype(tensor, matrices);
      tensors.push_back(std::move(tensor));
    }
  }
  GgufWriter writer(file, keys, tensors);
  auto next = tensors.begin();
  for (const StoredTensor& each : all)
    for (std::vector<std::byte>& tensor : to_file(each, store.read_whole(each.var)))
      writer.write(with_context(quote(each.var.name), [&] {
        const TensorEntry& entry = *next++;
        return converted(std::move(tensor), each.var.dtype, entry.dtype, entry.shape);
      }));
  return writer.finish();
}

}  // namespace lethe
