// The layers of a network file as they are added one after another.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "onnx/importer.h"
#include "onnx/view.h"

namespace lethe::onnx {

using Json = nlohmann::ordered_json;

/// How a layer's value is stated in a network file: a sample's shape, of an image [C, H, W], and what its numbers are.
struct Stated {
  Shape shape;
  bool is_image = false;
  Type type = Type::f32;  // f32 for the network's dtype; i32 or boolean

  /// The axes in memory, slowest first.
  Shape memory() const { return is_image ? Shape{shape[1], shape[2], shape[0]} : shape; }
};

constexpr std::int64_t kMostOfAnAxis = std::int64_t{1} << 31, kMostNumbersOfASample = std::int64_t{1} << 40;

class LayerList {
 public:
  const Stated& stated(const std::string& layer) const { return stated_.at(layer); }

  /// Adds a layer, whose keys are `entry`, and gives its name. Without an entry "name" that is `name`, or like it.
  std::string add(const std::string& name, Json entry, const std::vector<std::string>& in, Stated as);
  /// The view's layer, with the same memory stated otherwise.
  std::string restated(const View& view, const Stated& as);
  /// The view with its memory axes in another order: as it is, or of a transpose.
  View in_order(const View& view, const Ints& order);
  /// The view's own layer, if it gives the model's [N,C,H,W] as images; else "".
  std::string image_or_none(const View& view) const;
  /// The layer that a layer is a multiple of, and the factor.
  std::optional<std::pair<std::string, double>> scale_of(const std::string& layer) const;

  Imported result;

 protected:
  void add_input(const std::string& name, Json said, Stated as);
  /// In letters that names of layers may have, and that no other layer has.
  std::string free_name(const std::string& name);

 private:
  std::map<std::string, Stated> stated_;
  std::map<std::string, std::pair<std::string, double>> scaled_;
  std::map<std::string, std::string> same_;  // layers that state or order another otherwise, by how
  std::set<std::string> names_;
  std::map<std::string, int> numbers_;  // the next that a name gets which is taken
};

}  // namespace lethe::onnx
