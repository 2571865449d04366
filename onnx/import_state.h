// What is known of an ONNX model while its nodes become layers one after another.
#pragma once
#include <optional>
#include <set>

#include "onnx/importer.h"

namespace lethe::onnx {

using Json = nlohmann::ordered_json;

/// A layer's result: its shape without the batch, images [C, H, W]. `ones`: axes of size 1 that it has in the model
/// after these, as a global pool leaves them.
struct LayerValue {
  std::string layer;
  Shape shape;
  int ones = 0;
};

class ImportState {
 public:
  explicit ImportState(ReadModel model);

  /// The value of an input of a node; fails, naming the node, for a constant or one that nothing makes.
  const LayerValue& value(const ReadNode& node, std::size_t input) const;
  bool has_value(const std::string& name) const { return values_.contains(name); }
  /// The value of a name that has one.
  const LayerValue& made(const std::string& name) const { return values_.at(name); }
  /// The same with the axes of size 1 that it has in the model, as an image.
  LayerValue image(const ReadNode& node, std::size_t input);
  /// A constant input; none if it is absent or no constant.
  const ReadTensor* constant(const ReadNode& node, std::size_t input) const;
  /// A constant input that may be absent; fails for one that is there and no constant.
  const ReadTensor* optional_constant(const ReadNode& node, std::size_t input) const;
  /// One that must be there, for `what`.
  const ReadTensor& needed(const ReadNode& node, std::size_t input, const char* what) const;
  /// The one node that reads this value; null if there is none, or more, or it is an output.
  const ReadNode* only_reader(const std::string& name) const;

  /// Whether a value of rows of an image, in any order, is read by products with weights alone, or by what keeps the
  /// order.
  bool is_for_products(const std::string& name, int depth = 0) const;
  /// Whether a shape to reshape to begins with the batch.
  bool begins_with_batch(const Ints& shape) const;

  /// Adds a layer, whose keys are `entry`, under a name of its own, and says that it gives the node's output.
  void give(const ReadNode& node, Json entry, const std::vector<LayerValue>& in, Shape shape, int ones = 0);
  /// A layer beside that of the node.
  LayerValue add(const std::string& name, Json entry, const std::vector<LayerValue>& in, Shape shape);
  /// The node's output is a value, or a constant, that is there.
  void pass(const ReadNode& node, const LayerValue& value) { values_[node.outputs.at(0)] = value; }
  void fold(const ReadNode& node, ReadTensor tensor);
  /// Nodes that another has taken with it.
  void take(const ReadNode& node) { taken_.insert(&node); }
  bool is_taken(const ReadNode& node) const { return taken_.contains(&node); }

  /// The name that the layer of a node gets: that of its weight, or of its output, in letters that names may have.
  std::string name_of(const ReadNode& node);
  void add_weight(const std::string& name, Shape shape, std::vector<float> values);

  const ReadModel model;  // without its tensors
  Imported result;

 private:
  std::string unique(std::string name);
  bool is_output(const std::string& name) const;

  std::map<std::string, LayerValue> values_;
  std::map<std::string, ReadTensor> constants_;
  std::map<std::string, std::vector<const ReadNode*>> readers_;
  std::set<const ReadNode*> taken_;
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // the next that a name gets which is taken
  std::int64_t folded_ = 0;             // bytes of constants that the file does not have
};

using ImportOp = void (*)(ImportState&, const ReadNode&);
using ImportTable = std::map<std::string, ImportOp>;
void add_image_imports(ImportTable& table);
void add_matrix_imports(ImportTable& table);
void add_elementwise_imports(ImportTable& table);
void add_constant_imports(ImportTable& table);
/// Whether the node is of constants alone, and is one now.
bool fold_constants(ImportState& state, const ReadNode& node);
/// Whether a Slice takes every so many pixels of an image, and is a layer now, with the Pad that adds channels of zeros
/// after it: the shortcut of residual networks without parameters.
bool import_thinning(ImportState& state, const ReadNode& node);

}  // namespace lethe::onnx
