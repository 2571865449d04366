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
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/builder/layer_call.h"
#include "framework/builder/loss.h"
#include "framework/builder/network.h"
#include "framework/builder/settings.h"

namespace lethe {

using Vars = std::vector<VarId>;

class Builder {
 public:
  explicit Builder(BuildOptions options) : options_(options) {}

  /// A fed var of shape [batch, shape...]. Floats take the network's dtype unless another is named. Three sizes are
  /// those of an image, [H, W, C], unless the layout says that they are plain.
  VarId input(const std::string& name, Shape shape);
  VarId input(const std::string& name, Shape shape, DType dtype, Layout layout = Layout::Image);
  /// Adds a layer by its record. `path` names its vars and parameters ("stage1/0/conv1"); without one: type and count.
  /// Throws SettingError for an unknown, missing or wrong setting, Error for inputs that do not fit.
  VarId layer(const std::string& type, std::vector<VarId> in, Attrs settings = {}, std::string path = "");
  VarId layer(const std::string& type, VarId in, Attrs settings = {}, std::string path = "") {
    return layer(type, std::vector<VarId>{in}, std::move(settings), std::move(path));
  }
  /// Runs `body` while `condition` gives 1 (u8 scalar), at most `max_trips` times. Both are called once, here, with the
  /// carried vars, and add layers to a block of their own; `body` gives what they become. Without a condition there are
  /// `max_trips` trips, which are 1 to kMostTrips. Gives the carried vars after the last trip. With `recompute`
  /// backward keeps what is carried alone and runs the body again. Parameters made inside are shared by all trips.
  Vars loop(const Vars& initial, std::int64_t max_trips, const std::function<VarId(const Vars&)>& condition,
            const std::function<Vars(const Vars&)>& body, std::string path = "", bool recompute = false);
  /// Runs one of the two, as `condition` (u8 scalar) says; both give values of the same shapes and dtypes.
  Vars branch(VarId condition, const std::function<Vars()>& then, const std::function<Vars()>& otherwise,
              std::string path = "");
  /// i64 scalar: the number of the trip, from 0, of the innermost loop that is being built. Fails outside of one.
  VarId trip() const;

  /// Adds a loss: cross_entropy on logits or nll on log-probabilities (integer labels), mse, l1, bce (on logits), or
  /// the layer linear_cross_entropy. The network's loss is the weighted sum of all, as a mean over samples and
  /// elements; of one shape where some `ignore`.
  void loss(const std::string& type, VarId prediction, VarId target, const LossSettings& settings = {});
  /// The network, verified, with `outputs` (default: what the first loss reads, else the last layer).
  Network finish(std::vector<VarId> outputs = {});

  const Program& program() const { return network_.program; }
  const BuildOptions& options() const { return options_; }
  const Shape& shape(VarId var) const { return network_.program.vars[var].shape; }
  bool is_image(VarId var) const { return lethe::is_image(network_, var); }
  Shape sample_shape(VarId var) const { return lethe::sample_shape(network_, var); }
  std::int64_t parameters() const;  // elements of all Params

 private:
  friend class LayerCall;
  VarId add_param(Kind kind, const std::string& name, Shape shape, DType dtype, ParamInfo info);
  /// Its op, which gives the loss first and which labels are the largest logit last.
  Op layer_loss(const std::string& type, VarId x, VarId label, const LossSettings& settings, const std::string& name);
  struct Counted {
    VarId label = kNone, share = kNone;  // those that do not count are -1; of each in the mean, kNone if all are alike
  };
  Counted counted_labels(const std::string& type, VarId prediction, VarId target, std::optional<std::int64_t> ignore,
                         const LossSettings& settings, const std::string& name);
  VarId class_weights(DType dtype, std::int64_t classes);              // made for the first loss of labels
  VarId copy_of(VarId param);                                          // in the network's dtype, made where layers go
  VarId adapted(VarId y, std::size_t first, const std::string& path);  // y with adapters of what ops from there read
  VarId step_counter();
  /// Appends an op of role Forward; its outputs are images unless its inputs are plain.
  Vars append(const std::string& type, Vars in, Attrs attrs, const std::string& name);
  /// The layout of such inputs as have one; fails if they have not the same.
  std::optional<Layout> common_layout(const Vars& vars, const std::string& type) const;
  void carry_layout(VarId from, VarId to, const std::string& path);  // fails if `to` has another
  BlockId open_block();
  /// What `build` gives, with layers going to `block`; as temps of the block with memory of their own.
  Vars in_block(BlockId block, const std::string& path, const std::function<Vars()>& build);
  std::string path_or(std::string path, const std::string& type);

  BuildOptions options_;
  Network network_;
  std::map<std::string, int> counts_;
  std::map<std::pair<BlockId, VarId>, VarId> copies_;  // by block and parameter
  BlockId block_ = 0;                                  // where layers go
  std::vector<VarId> trips_;                           // counters of the loops around it, outermost first
  VarId step_ = kNone;
  VarId last_ = kNone;
};

}  // namespace lethe
