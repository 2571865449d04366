#include "onnx/layer_list.h"

#include <cctype>

#include "framework/error.h"

namespace lethe::onnx {
namespace {

/// In letters that names of layers may have: slashes are of blocks.
std::string in_letters(std::string name) {
  for (char& c : name)
    if (c == '/')
      c = '.';
    else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.')
      c = '_';
  name = name.substr(0, 90);
  while (!name.empty() && name.front() == '.') name.erase(0, 1);
  return name.empty() ? "layer" : name;
}

}  // namespace

std::string LayerList::free_name(const std::string& name) {
  const std::string wanted = in_letters(name);
  std::string made = wanted;
  for (int& number = numbers_.try_emplace(wanted, 2).first->second; !names_.insert(made).second; ++number)
    made = message(wanted, ".", number);
  return made;
}

void LayerList::add_input(const std::string& name, Json said, Stated as) {
  result.network["inputs"][name] = std::move(said);
  stated_[name] = std::move(as);
}

std::string LayerList::add(const std::string& name, Json entry, const std::vector<std::string>& in, Stated as) {
  Json layer = {{"op", entry["op"]}};
  if (in.size() == 1) layer["in"] = in[0];
  if (in.size() > 1) layer["in"] = in;
  for (const auto& [key, value] : entry.items())
    if (key != "op" && key != "name") layer[key] = value;
  std::int64_t count = 1;
  for (const std::int64_t size : as.shape) {
    check_as(Exit::Data, size >= 1 && size <= kMostOfAnAxis && count <= kMostNumbersOfASample / size, "would be ",
             text_of(as.shape), " a sample");
    count *= size;
  }
  const std::string made = entry.contains("name") ? entry["name"].get<std::string>() : free_name(name);
  layer["name"] = made;
  if (entry["op"] == Json("scale") && entry.contains("a") && !entry.contains("b"))
    scaled_[made] = {in.at(0), entry["a"].get<double>()};
  result.network["layers"].push_back(layer);
  result.shapes[made] = as.shape;
  stated_[made] = std::move(as);
  return made;
}

std::optional<std::pair<std::string, double>> LayerList::scale_of(const std::string& layer) const {
  const auto found = scaled_.find(layer);
  return found == scaled_.end() ? std::nullopt : std::optional(found->second);
}

std::string LayerList::restated(const View& view, const Stated& as) {
  const Stated& now = stated(view.layer);
  if (now.shape == as.shape && now.is_image == as.is_image) return view.layer;
  std::string& same = same_[message(view.layer, as.is_image ? " image " : " plain ", text_of(as.shape))];
  if (!same.empty()) return same;
  Json entry = {{"op", "reshape"}, {"shape", as.shape}};
  if (as.shape.size() == 3) entry["layout"] = as.is_image ? "image" : "plain";
  same = add(view.layer + ".as", entry, {view.layer}, {as.shape, as.is_image, now.type});
  return same;
}

View LayerList::in_order(const View& view, const Ints& order) {
  if (is_in_order(order)) return view;
  std::string& turned = same_[message(view.layer, " by ", text_of(view.memory), text_of(order))];
  if (turned.empty()) {
    Shape shape;
    for (const std::int64_t axis : order) shape.push_back(view.memory[static_cast<std::size_t>(axis)]);
    const Type type = stated(view.layer).type;
    turned = add(view.layer + ".turned", {{"op", "transpose"}, {"perm", order}}, {restated(view, {view.memory})},
                 {shape, false, type});
  }
  return reordered(view, order, turned);
}

std::string LayerList::image_or_none(const View& view) const {
  const Stated& now = stated(view.layer);
  if (!now.is_image || view.axes.size() != 4) return "";
  const View seen = simplified(view), expected = simplified(image_view(view.layer, now.shape));
  return seen.memory == expected.memory && seen.axes == expected.axes ? view.layer : "";
}

}  // namespace lethe::onnx
