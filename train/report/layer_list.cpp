#include "train/report/layer_list.h"

#include "framework/builder/settings.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

std::string inputs_of(const Layer& layer) {
  if (layer.max_inputs < 0) return message(layer.min_inputs, " or more inputs");
  if (layer.max_inputs > layer.min_inputs) return message(layer.min_inputs, " to ", layer.max_inputs, " inputs");
  return message(layer.max_inputs, layer.max_inputs == 1 ? " input" : " inputs");
}

std::string default_of(const Key& key) {
  if (!key.absent) return key.optional ? "none" : "required";
  if (key.type == KeyType::Bool) return *key.absent == Attr(0) ? "false" : "true";
  const auto* text = std::get_if<std::string>(&key.absent->base());
  return text ? *text : text_of(*key.absent);
}

std::string described(const Layer& layer) {
  const std::vector<std::string> names = names_of(layer);
  std::string text = layer.name;
  if (names.size() > 1) text += " (" + joined({names.begin() + 1, names.end()}) + ")";
  text += ": " + layer.help + "; " + inputs_of(layer) + "\n";
  TextRows rows;
  for (const Key& key : layer.keys)
    rows.push_back({key.name, values_of(key), default_of(key), range_of(key), key.help});
  return rows.empty() ? text : text + text_table(rows, rows.front().size(), "  ");
}

}  // namespace

std::string layer_list(const std::string& name) {
  if (!name.empty()) return described(layer_named(name));
  std::string text;
  for (const Layer* layer : all_layers()) text.append(text.empty() ? "" : "\n").append(described(*layer));
  return text;
}

std::vector<std::string> layer_names() {
  std::vector<std::string> names;
  for (const Layer* layer : all_layers()) names.push_back(layer->name);
  return names;
}

}  // namespace lethe
