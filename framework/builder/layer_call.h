// What the build function of a layer's record may ask and make.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "framework/language/layer.h"
#include "framework/language/sample_layout.h"

namespace lethe {

class Builder;

/// One use of a layer: its inputs, its checked settings (defaults filled in), and what it may make.
class LayerCall {
 public:
  LayerCall(Builder& builder, const std::string& path, std::vector<VarId> in, Attrs settings)
      : builder_(builder), path_(path), in_(std::move(in)), settings_(std::move(settings)) {}

  const Attrs& settings() const { return settings_; }
  int inputs() const { return static_cast<int>(in_.size()); }
  VarId in(int slot = 0) const { return in_[slot]; }
  const Var& var(VarId id) const;
  const Shape& shape(int slot = 0) const { return var(in_[slot]).shape; }
  std::int64_t batch(int slot = 0) const;  // size of the first axis; fails for a scalar
  std::int64_t channels() const;           // size of the last axis of input 0; fails for a scalar
  /// The shape of input 0, an image [N, H, W, C]; fails if it is none.
  const Shape& image() const;
  std::array<std::int64_t, 2> pair(const std::string& key) const;  // IntPair
  /// Padding {height, width} for a Pad setting; "same" is (k - 1) * dilation / 2 on both sides.
  std::array<std::int64_t, 2> pad(const std::string& key, std::array<std::int64_t, 2> kernel,
                                  std::array<std::int64_t, 2> dilation = {1, 1}) const;
  /// Index into the shape in memory for an Axis setting: "channels", "height", "width", or a number, which counts the
  /// axes of a sample, without the batch, those of an image as [C, H, W].
  std::int64_t axis(const std::string& key) const;
  /// The same for each number of an IntList setting.
  Ints axes(const std::string& key) const;
  bool is_image(VarId var) const;
  Shape sample_shape() const;  // of input 0, as files state it
  /// What a sample is whose shape the settings "shape" and "layout" state: three sizes without a "layout" are an image
  /// or plain as input 0 is, and sequences are plain; fails if that tells nothing.
  Layout layout_of(const Shape& sample) const;
  /// `var`, said to be of that layout.
  VarId lay_out(VarId var, Layout layout);
  Init init(const std::string& key, Init absent) const;

  bool training() const;
  std::int64_t seed() const;
  std::int64_t joint_parts() const;  // BuildOptions has it
  /// Whether the layer's parameter or running statistic `name` stays as it is (BuildOptions::frozen).
  bool is_frozen(const std::string& name) const;
  /// A number that is this layer's own, from its path: keys its random stream.
  std::int64_t stream_key() const;
  /// The step counter (State, i64 scalar), made on first use; counted up at the end of each training step.
  VarId step();
  DType dtype() const;  // of the network's values
  /// A parameter, as values of the network: a copy of it where these are of 16 bits, or it is frozen in another dtype.
  VarId param(const std::string& name, Shape shape, Init init, bool decay, FileLayout layout = {});
  /// One that no training changes: zeros until a file of weights says what it is.
  VarId fixed_param(const std::string& name, Shape shape, FileLayout layout = {});
  /// The parameter itself.
  VarId wide_param(const std::string& name, Shape shape, Init init, bool decay, FileLayout layout = {});
  VarId state(const std::string& name, Shape shape, DType dtype, double value);
  /// Emits an op of role Forward; gives all its outputs.
  std::vector<VarId> emit_all(const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  VarId emit(const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  /// The same of input 0, for an op that works along the last axis: along the one that an Axis setting names, if it is
  /// there, between two transposes.
  VarId emit_along(const std::string& key, const std::string& type, Attrs attrs = {});
  /// Emits an op of role Optimize that updates its first inputs in place.
  void update(const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  /// The input as a matrix [N, rest]: a view if it has more axes.
  VarId flat(int slot = 0);
  /// Emits an op for what another one of this layer takes, called path/`as`.
  VarId emit_part(const std::string& as, const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  /// The same memory under another shape, called path/`as`; one of four axes is laid out as input 0 is.
  VarId view(VarId x, Shape shape, const std::string& as);
  /// [h, w, c] of the image that a matrix was flattened from, if that can be told.
  std::optional<std::array<std::int64_t, 3>> image_of(VarId matrix) const;

 private:
  std::int64_t counted_axis(const std::string& key, std::int64_t counted) const;

  Builder& builder_;
  std::string path_;
  std::vector<VarId> in_;
  Attrs settings_;
};

/// The keys of layers with a weight: how it begins, and whose parameters are used instead of own ones.
Key weight_init_key();
Key share_key();
/// The key beside "shape" that tells an image from a plain sample: see LayerCall::layout_of.
Key layout_key();

/// Of an axis that is not there: how axes are counted, and which ones a sample has; to be put after a message.
std::string counted_axes(const Shape& sample);

}  // namespace lethe
