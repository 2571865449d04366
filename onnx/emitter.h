// An ONNX graph as it grows, op by op of a program. A var is one value of the graph, under its own name: an image with
// its axes as they are stated, [N, C, H, W], all others as they stand in memory. What an op needs of a value in another
// order of axes is a Transpose beside it.
#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "framework/builder/network.h"
#include "onnx/model.h"

namespace lethe::onnx {

using Names = std::vector<std::string>;

/// What a model is made of. The networks are the same but for their batches, `batch` and another, which says what axes
/// depend on it.
struct ExportSource {
  const Network& network;
  const Network& other_batch;
  std::int64_t batch;
  Type type;  // of all numbers that are floats
  std::int64_t opset;
  std::function<std::vector<std::byte>(const Var&)> read;  // a parameter as it stands in memory, floats in the type
  std::function<std::vector<std::byte>(const std::vector<double>&)> rounded;  // in the type
};

class Emitter {
 public:
  explicit Emitter(const ExportSource& source) : source_(source) { model_.opset = source.opset; }

  const Var& var(VarId id) const { return source_.network.program.vars[id]; }
  const Shape& shape(VarId id) const { return var(id).shape; }
  std::int64_t opset() const { return source_.opset; }
  Type type_of(VarId id) const;
  bool is_image(VarId id) const;
  /// Which axis of the value an axis of the var in memory is.
  std::int64_t axis(VarId id, std::int64_t in_memory) const;

  /// The value of a var, and the same with its axes as they are in memory.
  std::string value(VarId id);
  std::string in_memory_order(VarId id);
  /// The same with another order of axes: axis i is axis perm[i] of the var in memory.
  std::string permuted(VarId id, const Ints& perm);
  /// A weight whose columns belong to the rows `flat` of an image: its columns have the order that these rows have in
  /// the model.
  std::string columns_of_image(VarId weight, VarId flat);
  /// The rows of a flat image, and what is made of them element by element, are in the order of channels, height,
  /// width.
  void set_channels_first(const std::vector<VarId>& flat) { channels_first_.insert(flat.begin(), flat.end()); }
  const Network& network() const { return source_.network; }
  /// The value of `id` with its axes in the order of those of `other`, as many: an image's, or as they are in memory.
  std::string in_axes_of(VarId other, VarId id);

  bool depends_on_batch(VarId id) const { return shape(id) != source_.other_batch.program.vars[id].shape; }
  /// How many samples there are, i64 [1].
  std::string batch_size();

  /// Constants: floats in the model's type, one or of a shape; whole numbers.
  std::string number(double value) { return numbers({}, {value}); }
  std::string numbers(const Ints& shape, const std::vector<double>& values);
  std::string integers(const Ints& values);
  /// A whole number in the type of the var `id`.
  std::string integer_like(VarId id, std::int64_t value);
  /// The shape of a var in memory, for Reshape: -1 where it depends on the batch. Fails if more than one axis does.
  std::string shape_in_memory(VarId id);

  /// A node of one output, which has a name of its own.
  std::string node(const std::string& type, const Names& inputs, const Attributes& attributes = {});
  /// The node that gives a var's value; and one that gives it with its axes as in memory.
  void give(VarId id, const std::string& type, const Names& inputs, const Attributes& attributes = {});
  void give_in_memory_order(VarId id, const std::string& type, const Names& inputs, const Attributes& attributes = {});
  /// The var is another value under its own name.
  void give_value(VarId id, const std::string& value) { give(id, "Identity", {value}); }

  void add_input(VarId id);
  void add_output(VarId id);
  /// With what is known of the values between.
  Model finish();

 private:
  std::vector<Extent> extents_of(VarId id) const;
  ValueInfo info_of(VarId id) const { return {var(id).name, type_of(id), extents_of(id)}; }
  std::string parameter(VarId id, const Ints& perm);
  std::string constant(Type type, const Ints& shape, std::vector<std::byte> bytes);

  ExportSource source_;
  Model model_;
  std::vector<VarId> given_;
  std::map<VarId, std::string> in_memory_;
  std::set<VarId> channels_first_;
  std::map<VarId, Ints> parameters_;  // the order of their axes in the model
  std::map<std::tuple<Type, Ints, std::vector<std::byte>>, std::string> constants_;
  std::string batch_size_;
  int made_ = 0;  // names
};

}  // namespace lethe::onnx
