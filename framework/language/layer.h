// A layer is what a network file names: it has settings with defaults, makes parameters, and emits one op or a few.
// The record stands in the source of its op, or in one of its own; models/ and the C++ Builder find it by name.
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/language/init.h"
#include "framework/language/program.h"

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

/// Of a layer that has no op of its own and emits those of others; fills a table before main.
struct RegisterLayer {
  explicit RegisterLayer(Layer layer);
};
const std::deque<Layer>& layers_without_op();

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

}  // namespace lethe
