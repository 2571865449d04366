// What is known of an ONNX model while its nodes become layers one after another.
#pragma once

#include "onnx/constants.h"
#include "onnx/layer_list.h"

namespace lethe::onnx {

class ImportState : public LayerList {
 public:
  ImportState(ReadModel model, Constants constants, const ImportSetting& setting);

  /// The value of an input of a node; fails, naming the node, for a constant or one that nothing makes.
  const View& value(const ReadNode& node, std::size_t input) const;
  const View* maybe_value(const ReadNode& node, std::size_t input) const;
  bool has_value(const std::string& name) const { return values_.contains(name); }
  const View& made(const std::string& name) const { return values_.at(name); }
  Shape shape(const View& view) const { return shape_of(view, batch_); }
  /// As samples have it, for messages.
  std::string text(const View& view) const;
  std::int64_t batch() const { return batch_; }
  /// batch() where the file leaves it open, else 0.
  std::int64_t open_batch() const;
  /// Whether the first axes of inputs are the batch.
  bool in_samples() const { return in_samples_; }

  /// A constant input; none if it is absent or no constant.
  const ReadTensor* constant(const ReadNode& node, std::size_t input) const;
  /// A constant input that may be absent; fails for one that is there and no constant.
  const ReadTensor* optional_constant(const ReadNode& node, std::size_t input) const;
  /// One that must be there, for `what`.
  const ReadTensor& needed(const ReadNode& node, std::size_t input, const char* what) const;
  /// Whole numbers that are an input, or before some opset an attribute.
  Ints integers(const ReadNode& node, std::size_t input, const char* attribute, const Ints& absent = {}) const;
  const ReadNode* only_reader(const std::string& name) const;
  const std::vector<const ReadNode*>& readers(const std::string& name) const;
  /// Whether a node or an output of the model takes it.
  bool is_read(const std::string& name) const { return readers_.contains(name) || is_output(name); }

  /// A layer whose sample has the model's axes in their order. Fails unless the batch is the first one.
  std::string plain(const ReadNode& node, const View& view);
  /// A layer that gives the model's [N,C,H,W] as images.
  std::string image(const ReadNode& node, const View& view);
  /// The view of a layer whose last axis in memory is all of the model's `axis`, and nothing else.
  View along(const View& view, std::size_t axis);

  /// The node's output is this, or a constant.
  void give(const ReadNode& node, const View& view) { values_[node.outputs.at(0)] = view; }
  void give_named(const std::string& output, const View& view) { values_[output] = view; }
  /// Of a layer that gives for each element of the view one.
  void give_like(const ReadNode& node, Json entry, const View& view, Type type = Type::f32);
  void give_image(const ReadNode& node, Json entry, const std::string& in, const Shape& chw);
  void give_plain(const ReadNode& node, Json entry, const std::vector<std::string>& in, const Shape& sample);
  /// The view of a plain layer, with the batch if values have it.
  View of_plain(const std::string& layer, const Shape& sample) const;

  /// The name that the layer of a node gets: that of its weight, or of its output, in letters that names may have.
  std::string name_of(const ReadNode& node);
  /// The weight of a layer, and of which tensor of the file it is made, if of one alone.
  void add_weight(const std::string& name, Shape shape, std::vector<float> values, const std::string& of = "",
                  bool transposed = false);
  /// A constant as a tensor of the network: learned if it is a weight of the file. `sample`: stated, without the batch.
  /// `copies`: one for each sample, where a layer does not broadcast.
  std::string parameter(const std::string& name, const std::string& of, const Stated& as, std::vector<float> values,
                        bool copies = false);
  /// Nodes that another has taken with it.
  void take(const ReadNode& node) { taken_.insert(&node); }
  bool is_taken(const ReadNode& node) const { return taken_.contains(&node); }

  const ReadModel model;  // without its tensors
  Constants constants;

 private:
  void add_input(const ValueInfo& input, const ImportSetting& setting);
  bool is_output(const std::string& name) const;

  bool in_samples_;
  std::int64_t batch_;  // samples: what the file says, or a number of which no other axis is a multiple
  std::map<std::string, View> values_;
  std::map<std::string, std::vector<const ReadNode*>> readers_;
  std::set<const ReadNode*> taken_;
};

}  // namespace lethe::onnx
