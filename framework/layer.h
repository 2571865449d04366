// A layer is what a network file names: it has settings with defaults, makes parameters, and emits one op or a few.
// The record stands in the op's own source; models/ and the C++ Builder find it by name.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/init.h"
#include "framework/program.h"

namespace lethe {

/// What values a setting takes. IntPair is n or [n, n]; Pad is "same", "valid", n or [n, n] (height, width).
enum class KeyType { Int, Number, Bool, Text, IntPair, IntList, Pad, Choice, Axis, Init };

struct Key {
  std::string name;
  KeyType type = KeyType::Int;
  std::optional<Attr> absent = {};                       // the default; none: required unless `optional`
  std::optional<double> min = {}, max = {}, below = {};  // bounds of each number in the value; `below` is exclusive
  std::string help = {};
  std::vector<std::string> choices = {};  // for Choice
  bool optional = false;                  // may be absent without a default: the layer asks has()
};

/// "at least 1", "0 to 1", "at least 0 and below 1"; "" for a key without bounds.
std::string range_of(const Key& key);

/// The most that libraries take as a size or a distance in pixels.
inline constexpr double kMostPixels = 2147483647;

class LayerCall;
using BuildLayer = VarId (*)(LayerCall&);

struct Layer {
  std::string name = {};                  // as in network files: "conv"
  std::vector<std::string> aliases = {};  // the ONNX name; the op's own type is always accepted too
  std::vector<Key> keys = {};
  int min_inputs = 1, max_inputs = 1;  // max -1: any number
  BuildLayer build = nullptr;
  std::string help = {};  // one line
};

/// How a weight stands in files, which follow PyTorch; in memory it is NHWC's: conv [O, kh, kw, I/g], fc [O, I].
struct FileLayout {
  enum Kind {
    Same,
    Conv,
    FlatImage
  } kind = Same;                         // Conv: OIHW in files; FlatImage: columns c,h,w in files, h,w,c here
  std::array<std::int64_t, 3> hwc = {};  // for FlatImage
  bool operator==(const FileLayout&) const = default;
};

/// What training needs to know of a Param or State beyond its var.
struct ParamInfo {
  VarId var = kNone;
  Init init = {};
  bool decay = false;  // weight decay applies (not to bias and norm)
  FileLayout layout = {};
};

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
  std::array<std::int64_t, 2> pair(const std::string& key) const;  // IntPair
  /// Padding {height, width} for a Pad setting; "same" is (k - 1) * dilation / 2 on both sides.
  std::array<std::int64_t, 2> pad(const std::string& key, std::array<std::int64_t, 2> kernel,
                                  std::array<std::int64_t, 2> dilation = {1, 1}) const;
  /// Index into the NHWC shape for an Axis setting: "channels", "height", "width", or counted in [C, H, W].
  std::int64_t axis(const std::string& key) const;
  Init init(const std::string& key, Init absent) const;

  bool training() const;
  std::int64_t seed() const;
  /// A number that is this layer's own, from its path: keys its random stream.
  std::int64_t stream_key() const;
  /// The step counter (State, i64 scalar), made on first use; counted up at the end of each training step.
  VarId step();

  DType dtype() const;  // of the network's values
  /// A parameter, as values of the network: where these are of bf16 or f16 a copy of the parameter, which is f32.
  VarId param(const std::string& name, Shape shape, Init init, bool decay, FileLayout layout = {});
  /// The parameter itself.
  VarId wide_param(const std::string& name, Shape shape, Init init, bool decay, FileLayout layout = {});
  VarId state(const std::string& name, Shape shape, DType dtype, double value);
  /// Emits an op of role Forward; gives all its outputs.
  std::vector<VarId> emit_all(const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  VarId emit(const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  /// Emits an op of role Optimize that updates its first inputs in place.
  void update(const std::string& type, std::vector<VarId> in, Attrs attrs = {});
  /// The input as a matrix [N, rest]: a view if it has more axes.
  VarId flat(int slot = 0);
  /// [h, w, c] of the image that a matrix was flattened from, if that can be told.
  std::optional<std::array<std::int64_t, 3>> image_of(VarId matrix) const;

 private:
  Builder& builder_;
  std::string path_;
  std::vector<VarId> in_;
  Attrs settings_;
};

}  // namespace lethe
