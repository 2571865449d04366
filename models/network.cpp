#include "models/network.h"

#include <algorithm>
#include <filesystem>

#include "framework/language/channel_order.h"
#include "framework/language/op_def.h"
#include "framework/name_pattern.h"
#include "framework/text_input.h"
#include "models/complaints.h"
#include "models/config_families.h"
#include "models/document.h"
#include "models/entry.h"
#include "models/expander.h"
#include "models/settings.h"
#include "models/weight_names.h"
#include "models/zoo.h"

namespace lethe {
namespace {

Shape sample_of(const JsonNode& node, const Bindings& vars) {
  Shape shape;
  for (const JsonNode& size : node.items()) {
    shape.push_back(whole_of(size, vars));
    if (shape.back() < 1) size.fail("found ", shape.back(), ", expected at least 1");
  }
  return shape;
}

/// Three sizes are those of an image unless the input says otherwise.
Layout layout_of(const JsonNode& input, const Shape& sample) {
  if (!input.has("layout")) return sample.size() == 3 ? Layout::Image : Layout::Plain;
  const JsonNode name = input.at("layout");
  if (sample.size() != 3) name.fail("'layout' is for shapes of three sizes, found ", text_of(sample));
  return built(input, "layout", "", [&] { return layout_named(name.text()); });
}

DType input_dtype(const JsonNode& input, const BuildOptions& options) {
  if (!input.has("dtype")) return options.dtype;
  const JsonNode name = input.at("dtype");
  if (std::find(input_dtypes().begin(), input_dtypes().end(), name.text()) == input_dtypes().end())
    name.fail("found dtype ", quote(name.text()), ", expected one of ", joined(input_dtypes()));
  return dtype_named(name.text());
}

/// A number, or what it is if the entry does not say.
double number_of(const JsonNode& entry, const char* key, double absent, const Bindings& vars) {
  if (!entry.has(key)) return absent;
  const Attr value = value_of(entry.at(key), vars);
  if (const auto* whole = std::get_if<std::int64_t>(&value.base())) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value.base())) return *real;
  entry.at(key).fail("found ", entry.at(key).shown(), ", expected a number");
}

/// Its type, if there is such a loss and it has no keys but its own: of one that is a layer those of the layer, too.
std::string checked_loss(const JsonNode& loss) {
  loss.members();  // an object
  if (!loss.has("op")) check_object(loss, "a loss", loss_keys());
  const std::string type = loss.at("op").text();
  if (!built(loss, "op", "", [&] { return is_layer_loss(type); })) {
    check_object(loss, "a loss", loss_keys());
    return type;
  }
  std::vector<std::string> known = names_of(layer_loss_keys());
  for (const Key& key : layer_named(type).keys)
    if (std::find(known.begin(), known.end(), key.name) == known.end()) known.push_back(key.name);
  loss.check_keys(quote(type), known);
  return type;
}

LossSettings loss_settings(const JsonNode& loss, const std::string& type, const Bindings& vars) {
  LossSettings settings{.weight = number_of(loss, "weight", 1, vars),
                        .label_smoothing = number_of(loss, "label_smoothing", 0, vars)};
  if (loss.has("ignore")) settings.ignore = whole_of(loss.at("ignore"), vars);
  if (loss.has("name")) settings.name = loss.at("name").text();
  if (is_layer_loss(type))
    settings.layer = settings_of(loss, layer_named(type), vars);
  else if (loss.has("delta"))
    settings.layer.set("delta", number_of(loss, "delta", 1, vars));
  return settings;
}

/// It may mean no weight: of another variant it may mean some.
std::string depth_pattern(const JsonNode& node) {
  std::string pattern = node.text();
  const std::size_t field = pattern.find('{');
  if (field == std::string::npos) return pattern;
  const std::size_t after = field + kBlockField.size();
  if (pattern.compare(field, kBlockField.size(), kBlockField) != 0 || pattern.find('{', after) != std::string::npos ||
      pattern.find('*') < field)
    node.fail("found ", quote(pattern), ", expected ", kBlockField, " once, before any *, and no other field");
  return pattern;
}

class NetworkReader {
 public:
  NetworkReader(const NetworkDocument& file, const BuildOptions& options)
      : document_(file.document()), vars_(file.vars()), builder_(options), expander_(document_, vars_, builder_) {}

  Network read() {
    inputs();
    layers();
    check_rest();
    losses();
    Network network = builder_.finish(outputs());
    config_families(document_);  // which is for others, but wrong for all
    if (document_.has("embedding")) network.embedding = expander_.find(document_.at("embedding"));
    if (document_.has("weights")) network.weight_names = read_weight_names(document_.at("weights"), vars_, network);
    if (document_.has("depth"))
      for (const JsonNode& pattern : document_.at("depth").items()) network.depth.push_back(depth_pattern(pattern));
    return network;
  }

 private:
  void inputs() {
    for (const auto& [key, node] : document_.at("inputs").members()) {
      const std::string& name = key;  // clang before 16 captures no structured binding
      check_identifier(node, name);
      check_object(node, "an input", input_keys());
      const Shape sample = sample_of(node.at("shape"), vars_);
      const Layout layout = layout_of(node, sample);
      const DType dtype = input_dtype(node, builder_.options());
      if (layout == Layout::Image) order_hint_ += channel_order_hint(sample);
      inputs_.push_back(
          built(node, "shape", "", [&] { return builder_.input(name, memory_shape(sample, layout), dtype, layout); }));
      expander_.declare(name, inputs_.back());
    }
    if (inputs_.empty()) document_.at("inputs").fail("found no input, expected at least one");
  }

  /// What an image with its channels last leads to says so.
  void layers() {
    try {
      last_ = expander_.build(inputs_.front());
    } catch (const SourceError& error) {
      throw SourceError(error.where, error.path, error.text + order_hint_);
    }
  }

  /// What building did not come by: unused blocks, sides of an `if`.
  void check_rest() const {
    check_layers(document_, document_.at("layers"));
    if (!document_.has("blocks")) return;
    for (const auto& [name, block] : document_.at("blocks").members()) {
      check_identifier(block, name);
      check_object(block, "a block", block_keys());
      check_layers(document_, block.at("layers"));
    }
  }

  void losses() {
    if (!document_.has("loss")) return;
    for (const JsonNode& loss : document_.at("loss").items()) {
      const std::string type = checked_loss(loss);
      if (!is_there(loss, vars_)) continue;
      const VarId prediction = loss.has("in") ? expander_.find(loss.at("in")) : last_;
      if (!loss.has("target") && inputs_.size() < 2) loss.fail("loss ", quote(type), " needs a 'target': an input");
      const VarId target = loss.has("target") ? expander_.find(loss.at("target")) : inputs_[1];
      const LossSettings settings = loss_settings(loss, type, vars_);
      built(loss, "op", settings.name, [&] { builder_.loss(type, prediction, target, settings); });
    }
  }

  std::vector<VarId> outputs() const {
    if (!document_.has("outputs")) return document_.has("loss") ? std::vector<VarId>{} : std::vector<VarId>{last_};
    std::vector<VarId> all;
    for (const JsonNode& name : document_.at("outputs").items()) all.push_back(expander_.find(name));
    return all;
  }

  const JsonNode document_;
  const Bindings vars_;
  Builder builder_;
  Expander expander_;
  std::vector<VarId> inputs_;
  VarId last_ = kNone;
  std::string order_hint_ = {};
};

}  // namespace

Network load_network(const NetworkFile& file, const BuildOptions& options, const Sets& overrides) {
  const NetworkDocument document(file, overrides);
  Network network = NetworkReader(document, options).read();
  network.name = document.name();
  return network;
}

Network load_network(const std::string& name_or_file, const BuildOptions& options, const Sets& overrides) {
  return load_network(read_network_file(name_or_file), options, overrides);
}

TrainDefaults train_defaults(const NetworkFile& file, const Sets& overrides) {
  return NetworkDocument(file, overrides).train();
}

TrainDefaults train_defaults(const std::string& name_or_file, const Sets& overrides) {
  return train_defaults(read_network_file(name_or_file), overrides);
}

NetworkFile read_network_file(const std::string& name_or_file) {
  const ZooEntry model = find_model(name_or_file);
  return {.name = std::filesystem::path(model.file).filename().string(),
          .variant = model.variant,
          .text = read_text(model.file),
          .path = model.file};
}

std::string name_in(const std::string& directory, const NetworkFile& file) {
  const std::string path = (std::filesystem::path(directory) / file.name).string();
  return file.variant.empty() ? path : path + kVariantMark + file.variant;
}

bool has_var(const NetworkFile& file, const std::string& var) { return NetworkDocument(file, {}).vars().contains(var); }

}  // namespace lethe
