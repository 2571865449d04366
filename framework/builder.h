// Builds the forward part of a network, layer by layer: what a network file says, said in C++. models/ calls it for
// files, so both have the same power.
//
//   Builder net({.batch = 128});
//   VarId x = net.input("image", {28, 28, 1});
//   x = net.layer("conv", x, {{"out", 6}, {"k", 5}, {"pad", 2}});
//   x = net.layer("fc", net.layer("relu", x), {{"out", 10}}, "logits");
//   net.loss("cross_entropy", x, net.input("label", {}, DType::i32));
//   Network network = net.finish();
#pragma once
#include <map>
#include <string>
#include <vector>

#include "framework/error.h"
#include "framework/layer.h"
#include "framework/program.h"

namespace lethe {

struct BuildOptions {
  std::int64_t batch = 1;
  DType dtype = DType::f32;
  bool training = true;   // false: batch norm reads running statistics, dropout is nothing
  std::int64_t seed = 0;  // of dropout; parameters take theirs at initialisation
};

/// A forward Program and what training needs to know of it.
struct Network {
  std::string name;
  Program program;
  std::vector<VarId> inputs;   // fed: in the order they were declared
  std::vector<VarId> outputs;  // what the network is for, in the order that its file or finish() names
  VarId prediction = kNone;    // what the first loss reads: logits, log-probabilities or values; kNone without a loss
  VarId loss = kNone;          // scalar: the weighted sum of the losses' means; kNone without a loss
  VarId sample_loss = kNone;   // [N]: its share of each sample
  VarId correct = kNone;       // u8 [N]: 1 where the label is the largest logit; kNone without labels
  VarId target = kNone;        // the input that holds labels or targets
  std::vector<ParamInfo> params;  // Params and States in order of creation
};

/// A setting that is wrong; `key` says which, so that a reader of files can point at it.
struct SettingError : Error {
  SettingError(std::string key, const std::string& text) : Error(text), key(std::move(key)) {}
  std::string key;
};

class Builder {
 public:
  explicit Builder(BuildOptions options) : options_(options) {}

  /// A fed var of shape [batch, shape...]; images [H, W, C]. Floats take the network's dtype unless another is named.
  VarId input(const std::string& name, Shape shape);
  VarId input(const std::string& name, Shape shape, DType dtype);
  /// Adds a layer by its record. `path` names its vars and parameters ("stage1/0/conv1"); without one: type and count.
  /// Throws SettingError for an unknown, missing or wrong setting, Error for inputs that do not fit.
  VarId layer(const std::string& type, std::vector<VarId> in, Attrs settings = {}, std::string path = "");
  VarId layer(const std::string& type, VarId in, Attrs settings = {}, std::string path = "") {
    return layer(type, std::vector<VarId>{in}, std::move(settings), std::move(path));
  }
  /// Adds a loss: cross_entropy on logits or nll on log-probabilities (integer labels), mse, l1, bce (on logits). The
  /// network's loss is the weighted sum of all, as a mean over samples and elements.
  void loss(const std::string& type, VarId prediction, VarId target, double weight = 1, double label_smoothing = 0);
  /// The network, with `outputs` (default: what the first loss reads, else the last layer).
  Network finish(std::vector<VarId> outputs = {});

  const Program& program() const { return network_.program; }
  const BuildOptions& options() const { return options_; }
  const Shape& shape(VarId var) const { return network_.program.vars[var].shape; }
  std::int64_t parameters() const;  // elements of all Params

 private:
  friend class LayerCall;
  VarId add_param(Kind kind, const std::string& name, Shape shape, DType dtype, ParamInfo info);
  VarId step_counter();

  BuildOptions options_;
  Network network_;
  std::map<std::string, int> counts_;
  VarId step_ = kNone;
  VarId last_ = kNone;
};

/// The record that `type` names (layer name, alias or op type); fails with a suggestion.
const Layer& layer_named(const std::string& type);
/// All records, sorted by name.
std::vector<const Layer*> all_layers();
/// All that Builder::loss knows, sorted.
std::vector<std::string> loss_names();
/// `settings` checked against the record, defaults filled in. Throws SettingError.
Attrs checked_settings(const Layer& layer, const Attrs& settings);

}  // namespace lethe
