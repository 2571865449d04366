#include "models/weight_names.h"

#include <numeric>
#include <set>

#include "framework/builder/network_weights.h"
#include "framework/did_you_mean.h"
#include "models/complaints.h"
#include "models/document.h"
#include "models/format.h"
#include "models/settings.h"

namespace lethe {
namespace {

std::vector<std::string> texts_of(const JsonNode& node) {
  if (!node.json().is_array()) return {node.text()};
  std::vector<std::string> texts;
  for (const JsonNode& item : node.items()) texts.push_back(item.text());
  if (texts.empty()) node.fail("found [], expected at least one name");
  return texts;
}

constexpr std::int64_t kMostOfASize = std::int64_t{1} << 40;  // sums of these are no overflow

/// The sizes that a key lists; none without it.
Ints sizes_of(const JsonNode& entry, const char* key, const Bindings& vars, std::int64_t least = 1) {
  Ints sizes;
  if (!entry.has(key)) return sizes;
  for (const JsonNode& size : entry.at(key).items()) {
    sizes.push_back(whole_of(size, vars));
    if (sizes.back() < least || sizes.back() > kMostOfASize)
      size.fail("found ", sizes.back(), ", expected ", least, " to ", kMostOfASize);
  }
  return sizes;
}

Ints rows_of(const JsonNode& entry, std::size_t tensors, const Bindings& vars) {
  Ints rows = sizes_of(entry, "rows", vars);
  if (!entry.has("rows") && tensors > 1)
    entry.at("tensor").fail("several tensors make up one parameter; 'rows' has to say how many of each");
  if (entry.has("rows") && rows.size() != tensors)
    entry.at("rows").fail("has rows of ", rows.size(), " tensors, 'tensor' names ", tensors);
  return rows;
}

/// Heads of each tensor.
Ints interleaved_of(const JsonNode& entry, std::size_t tensors, const Bindings& vars) {
  Ints heads = sizes_of(entry, "interleaved", vars, 0);
  if (entry.has("interleaved") && heads.size() != tensors)
    entry.at("interleaved").fail("has heads of ", heads.size(), " tensors, 'tensor' names ", tensors);
  return heads;
}

/// Fails if a field of the name does not end.
void check_fields(std::string_view name) {
  for (std::size_t at = name.find('{'); at != std::string_view::npos; at = name.find('{', at + 1))
    read_fields(name.substr(at), "");
}

bool is_transposed(const JsonNode& entry) {
  if (!entry.has("transpose")) return false;
  const JsonNode value = entry.at("transpose");
  if (!value.json().is_boolean()) value.fail("found ", value.shown(), ", expected true or false");
  return value.json().get<bool>();
}

class LibraryReader {
 public:
  LibraryReader(const std::string& library, const JsonNode& node, const Bindings& vars, const Network& network)
      : node_(node), vars_(vars) {
    for (const ParamInfo& info : base_weights_of(network)) weights_.push_back(network.program.vars[info.var]);
    check_object(node, "names of weights", weight_names_keys());
    names_.library = library;
    if (node.has("prefix")) names_.prefix = node.at("prefix").text();
    if (node.has("lora")) names_.lora = texts_of(node.at("lora"));
  }

  WeightNames read() {
    for (const JsonNode& each : node_.at("tensors").items()) entry(each);
    std::vector<std::string> params;
    for (const Var& var : weights_)
      if (!named_.count(var.name)) params.push_back(var.name);
    if (!params.empty())
      node_.at("tensors").fail("name no tensor for the parameter ", quote(params.front()),
                               params.size() > 1 ? message(" and ", params.size() - 1, " more") : "");
    return names_;
  }

 private:
  void entry(const JsonNode& entry) {
    check_object(entry, "a tensor", weight_keys());
    if (!is_there(entry, vars_)) return;
    const std::vector<std::string> tensors = texts_of(entry.at("tensor"));
    if (!entry.has("param")) {
      for (const std::string& tensor : tensors) built(entry, "tensor", "", [&] { check_fields(tensor); });
      names_.passed_over.insert(names_.passed_over.end(), tensors.begin(), tensors.end());
      return;
    }
    const ForeignWeight pattern{.param = entry.at("param").text(),
                                .tensors = tensors,
                                .shape = sizes_of(entry, "shape", vars_),
                                .rows = rows_of(entry, tensors.size(), vars_),
                                .transposed = is_transposed(entry),
                                .interleaved = interleaved_of(entry, tensors.size(), vars_)};
    bool found = false;
    for (const Var& var : weights_)
      if (const auto fields = built(entry, "param", "", [&] { return read_fields(pattern.param, var.name); })) {
        add(entry, var, pattern, *fields);
        found = true;
      }
    if (!found) entry.at("param").fail("no parameter is called ", quote(pattern.param), suggestion(pattern.param));
  }

  void add(const JsonNode& entry, const Var& var, ForeignWeight weight, const Fields& fields) {
    weight.param = var.name;
    for (std::string& tensor : weight.tensors)
      tensor = built(entry, "tensor", "", [&] { return with_fields(tensor, fields); });
    for (const std::string& tensor : weight.tensors)
      if (!tensors_.insert(tensor).second) entry.at("tensor").fail("names ", quote(tensor), " a second time");
    const bool has_shape = !weight.shape.empty();
    if (has_shape && built(entry, "shape", "", [&] { return elements(weight.shape); }) != elements(var.shape))
      entry.at("shape").fail("is ", text_of(weight.shape), ", which ", quote(var.name), ", ", text_of(var.shape),
                             ", does not fill");
    const Shape& shape = weight.shape.empty() ? var.shape : weight.shape;
    const std::int64_t rows = std::accumulate(weight.rows.begin(), weight.rows.end(), std::int64_t{0});
    if (!weight.rows.empty() && (shape.empty() || rows != shape[0]))
      entry.at("rows").fail("are ", rows, " in all, ", quote(var.name), " is ", text_of(shape));
    for (std::size_t i = 0; i < weight.interleaved.size(); ++i) {
      const std::int64_t heads = weight.interleaved[i], of = weight.rows.empty() ? shape.at(0) : weight.rows[i];
      if (heads > 0 && of % (2 * heads) != 0)
        entry.at("interleaved").fail("are ", heads, " heads of ", of, " rows, expected an even number for each");
    }
    if (weight.transposed && shape.size() != 2)
      entry.at("transpose").fail("is for matrices, ", quote(var.name), " is ", text_of(shape));
    (named_.insert(var.name).second ? names_.weights : names_.again).push_back(std::move(weight));
  }

  std::string suggestion(const std::string& param) const {
    std::vector<std::string> names;
    for (const Var& var : weights_) names.push_back(var.name);
    return did_you_mean(param, names);
  }

  JsonNode node_;
  const Bindings& vars_;
  std::vector<Var> weights_ = {};
  std::set<std::string> named_, tensors_;
  WeightNames names_;
};

}  // namespace

std::vector<WeightNames> read_weight_names(const JsonNode& weights, const Bindings& vars, const Network& network) {
  std::vector<WeightNames> all;
  for (const auto& [library, node] : weights.members()) {
    check_identifier(node, library);
    all.push_back(LibraryReader(library, node, vars, network).read());
  }
  return all;
}

}  // namespace lethe
