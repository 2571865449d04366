// Arrays as the tensors of a file of weights, and vars as arrays.
#pragma once
#include <string>
#include <vector>

#include "framework/builder/network.h"
#include "train/python/array_view.h"
#include "train/session/tensor_reader.h"

namespace lethe {

/// A weight or a prediction as files have it.
struct WeightArray {
  std::string name;
  DType dtype;
  Shape shape;
  std::vector<std::byte> values;
};
/// Rows of a var of the network that a batch of so many has, in memory order, as files have them.
WeightArray as_in_files(WeightArray rows, const Network& network, VarId var, std::int64_t batch);

/// Called after their names; what counts batches of PyTorch's batch norm is left out, since nothing reads it here.
class ArrayTensors final : public TensorReader {
 public:
  explicit ArrayTensors(std::vector<ArrayView> arrays);
  std::vector<std::byte> read(const TensorEntry& tensor) override;

 private:
  std::vector<ArrayView> arrays_;
};

}  // namespace lethe
