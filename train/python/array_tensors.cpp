#include "train/python/array_tensors.h"

#include <algorithm>
#include <utility>

#include "train/session/stored_tensor.h"

namespace lethe {
namespace {

constexpr std::string_view kBatchesCounted = "num_batches_tracked";

/// What weights can be of; others can only be passed over.
TensorEntry entry_of(const ArrayView& array) {
  TensorEntry entry{.name = array.name, .shape = array.shape};
  switch (array.element) {
    case Element::f32:
      entry.dtype = DType::f32;
      break;
    case Element::f64:
      entry.dtype = DType::f64;
      break;
    case Element::f16:
      entry.dtype = DType::f16;
      break;
    case Element::bf16:
      entry.dtype = DType::bf16;
      break;
    case Element::i32:
      entry.dtype = DType::i32;
      break;
    case Element::i64:
      entry.dtype = DType::i64;
      break;
    default:
      entry.foreign_dtype = "small whole numbers";
      entry.foreign_bytes = elements(array.shape) * bytes_of(array.element);
  }
  return entry;
}

}  // namespace

WeightArray as_in_files(WeightArray rows, const Network& network, VarId var, std::int64_t batch) {
  const Shape& shape = network.program.vars[var].shape;
  const std::int64_t count = rows.shape[0];
  rows.shape.insert(rows.shape.end(), shape.begin() + 1, shape.end());
  if (shape[0] != batch) rows.shape.insert(rows.shape.begin() + 1, shape[0] / batch);  // rows of a sample
  if (!is_image(network, var)) return rows;
  StoredTensor image;
  image.var.shape = rows.shape;
  image.var.dtype = rows.dtype;
  image.layout.kind = FileLayout::Conv;
  image.names = {rows.name};
  rows.values = std::move(to_file(image, std::move(rows.values)).front());
  rows.shape = {count, shape[3], shape[1], shape[2]};
  return rows;
}

ArrayTensors::ArrayTensors(std::vector<ArrayView> arrays) : TensorReader("the state"), arrays_(std::move(arrays)) {
  std::erase_if(arrays_, [](const ArrayView& array) { return array.name.ends_with(kBatchesCounted); });
  for (const ArrayView& array : arrays_) tensors_.push_back(entry_of(array));
}

std::vector<std::byte> ArrayTensors::read(const TensorEntry& tensor) {
  return packed(*std::ranges::find(arrays_, tensor.name, &ArrayView::name));
}

}  // namespace lethe
