#include "models/expander.h"

#include <algorithm>

#include "framework/language/op_def.h"
#include "models/complaints.h"
#include "models/document.h"
#include "models/entry.h"
#include "models/settings.h"

namespace lethe {
namespace {

// A bound far above any network, so that a wrong number ends in a line and not in a full machine.
constexpr std::int64_t kMostRepeats = 10000;
constexpr int kMostNested = 100;  // of entries in entries; each takes a part of the stack

std::int64_t count_of(const JsonNode& node, const Bindings& values) {
  const std::int64_t count = whole_of(node, values);
  if (count < 0 || count > kMostRepeats) node.fail("found ", count, ", expected 0 to ", kMostRepeats);
  return count;
}

/// What counts the trips of an entry, as its "as" says.
const std::string& index_of(const JsonNode& entry) {
  const JsonNode as = entry.at("as");
  check_identifier(as, as.text());
  return as.text();
}

}  // namespace

void Expander::declare(const std::string& name, VarId var) {
  top_.names[name] = name;
  paths_.set(name, var);
}

VarId Expander::build(VarId input) {
  top_.values = vars_;
  top_.input = input;
  return chain(document_.at("layers"), input, top_);
}

VarId Expander::chain(const JsonNode& list, VarId current, Scope& scope) {
  for (const JsonNode& item : list.items()) current = entry(item, current, scope);
  return current;
}

VarId Expander::entry(const JsonNode& entry, VarId current, Scope& scope) {
  if (++depth_ > kMostNested) entry.fail("entries are nested deeper than ", kMostNested, ", blocks counted");
  const std::string here = scope.prefix.empty() ? "" : scope.prefix.substr(0, scope.prefix.size() - 1);
  return at_path(here, [&] {
    const EntryKind kind = kind_of(entry);
    if (kind == EntryKind::Op) {
      current = op(entry, current, scope);
    } else {
      if (entry.has("in")) current = var_of(entry.at("in"), scope);
      if (kind == EntryKind::Block) current = block(entry, current, scope);
      if (kind == EntryKind::Repeat) current = repeat(entry, current, scope);
      if (kind == EntryKind::Branches) current = branches(entry, current, scope);
      if (kind == EntryKind::If) current = choice(entry, current, scope);
      if (kind == EntryKind::While) current = loop(entry, current, scope);
    }
    if (entry.has("name")) {
      const std::string& name = entry.at("name").text();
      scope.names[name] = scope.prefix + name;
      paths_.set(scope.prefix + name, current);
    }
    --depth_;
    return current;
  });
}

VarId Expander::op(const JsonNode& entry, VarId current, Scope& scope) {
  const Layer& layer = layer_of(entry);
  const std::string path = paths_.claim(entry, layer.name, scope);
  return at_path(path, [&] {
    check_op_keys(entry, layer);
    check_memopt(entry, op_memopts());
    std::vector<VarId> inputs;
    if (layer.max_inputs != 0 || entry.has("in")) inputs = inputs_of(entry, current, scope);
    Attrs settings = settings_of(entry, layer, scope.values);
    if (settings.has("share")) settings.set("share", paths_.path_of(entry.at("share"), scope));
    const VarId out = built(entry, "op", path, [&] { return builder_.layer(layer.name, inputs, settings, path); });
    return paths_.set(path, out);
  });
}

VarId Expander::block(const JsonNode& entry, VarId current, Scope& scope) {
  const JsonNode name = entry.at("block");
  const JsonNode block = block_of(document_, entry);
  const bool cycle = std::find(active_.begin(), active_.end(), name.text()) != active_.end();
  active_.push_back(name.text());
  if (cycle) {
    std::string way;
    for (auto at = std::find(active_.begin(), active_.end(), name.text()); at != active_.end(); ++at)
      way.append(way.empty() ? "" : " -> ").append(*at);
    name.fail("block ", quote(name.text()), " uses itself: ", way);
  }
  const std::string path = paths_.claim(entry, name.text(), scope);
  const std::string* const index = entry.has("as") ? &index_of(entry) : nullptr;
  const std::int64_t times = entry.has("times") ? count_of(entry.at("times"), scope.values) : 1;
  for (std::int64_t trip = 0; trip < times; ++trip) {
    Scope inner;
    inner.prefix = entry.has("times") ? message(path, '/', trip, '/') : path + '/';
    Bindings outer = scope.values;
    if (index) outer.insert_or_assign(*index, Attr(trip));
    inner.values = at_path(path, [&] { return arguments(entry, block, outer, trip == 0, trip == times - 1); });
    inner.input = current;
    current = chain(block.at("layers"), current, inner);
  }
  active_.pop_back();
  return paths_.set(path, current);
}

Bindings Expander::arguments(const JsonNode& entry, const JsonNode& block, const Bindings& values, bool first,
                             bool last) const {
  const std::string& name = entry.at("block").text();
  std::vector<std::string> known;
  if (block.has("params"))
    for (const auto& [key, absent] : block.at("params").members()) known.push_back(key);
  Bindings given;
  const auto take = [&](const char* source, bool applies) {
    if (!applies || !entry.has(source)) return;
    entry.at(source).check_keys("block " + quote(name), known);
    for (const auto& [key, node] : entry.at(source).members()) given.insert_or_assign(key, value_of(node, values));
  };
  take("with", true);
  take("first", first);
  take("last", last);

  Bindings all = vars_;
  if (block.has("params"))
    for (const auto& [key, absent] : block.at("params").members()) {
      if (const auto found = given.find(key); found != given.end()) {
        all.insert_or_assign(key, found->second);
      } else {
        if (absent.json().is_null())
          entry.at("block").fail("block ", quote(name), " needs ", quote(key), "; params: ", joined(known));
        all.insert_or_assign(key, value_of(absent, all));
      }
    }
  return all;
}

VarId Expander::repeat(const JsonNode& entry, VarId current, Scope& scope) {
  const std::string path = paths_.claim(entry, "repeat", scope);
  const std::string index = entry.has("as") ? index_of(entry) : "i";
  const JsonNode over = entry.at("repeat");
  std::vector<Bindings> trips;
  if (over.json().is_array()) {
    for (const JsonNode& item : over.items()) {
      Bindings trip;
      if (item.json().is_object())
        for (const auto& [key, node] : item.members()) trip.insert_or_assign(key, value_of(node, scope.values));
      else
        trip.insert_or_assign(index, value_of(item, scope.values));
      trips.push_back(std::move(trip));
    }
  } else {
    const std::int64_t count = count_of(over, scope.values);
    for (std::int64_t i = 0; i < count; ++i) trips.push_back({{index, Attr(i)}});
  }
  for (std::size_t i = 0; i < trips.size(); ++i) {
    Scope inner = scope;
    inner.prefix = message(path, '/', i, '/');
    for (const auto& [key, value] : trips[i]) inner.values.insert_or_assign(key, value);
    current = chain(entry.at("layers"), current, inner);
    scope.names = std::move(inner.names);
  }
  return paths_.set(path, current);
}

VarId Expander::branches(const JsonNode& entry, VarId current, Scope& scope) {
  const bool joined = !join_of(entry).layer.empty();
  const std::string path = paths_.claim(entry, entry.at("join").text(), scope);
  const std::string prefix = entry.has("name") ? path + '/' : scope.prefix;
  std::vector<VarId> outputs;
  for (const JsonNode& branch : entry.at("branches").items()) {
    Scope inner = scope;
    inner.prefix = message(prefix, 'b', outputs.size(), '/');
    outputs.push_back(chain(branch, current, inner));
    if (!joined) scope.names = std::move(inner.names);
  }
  if (outputs.empty()) entry.at("branches").fail("found no branch, expected at least one");
  return paths_.set(path, at_path(path, [&] { return join(entry, path, outputs); }));
}

VarId Expander::join(const JsonNode& entry, const std::string& path, const std::vector<VarId>& outputs) {
  const std::string& layer = join_of(entry).layer;
  if (layer.empty()) return outputs.back();
  if (outputs.size() == 1) return outputs.front();
  const auto with_shapes = [&] {
    std::string shapes;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      shapes += message(i ? ", " : "; branches give ", text_of(builder_.sample_shape(outputs[i])), " (b", i, ')');
    return shapes;
  };
  return built(entry, "join", path, [&] {
    try {
      return builder_.layer(layer, outputs, {}, path);
    } catch (const Error& error) {
      throw Error(error.what() + with_shapes(), error.code);
    }
  });
}

VarId Expander::choice(const JsonNode& entry, VarId current, Scope& scope) {
  const JsonNode condition = entry.at("if");
  if (condition.json().is_array()) return branch(entry, current, scope);
  if (!condition.json().is_string())
    condition.fail("found ", condition.shown(), ", expected an \"=expression\" or a list of layers");
  if (entry.has("name")) paths_.claim(entry, "", scope);
  if (whole_of(condition, scope.values) != 0) return chain(entry.at("then"), current, scope);
  return entry.has("else") ? chain(entry.at("else"), current, scope) : current;
}

std::vector<VarId> Expander::inputs_of(const JsonNode& entry, VarId current, const Scope& scope) const {
  if (!entry.has("in")) return {current};
  const JsonNode in = entry.at("in");
  if (!in.json().is_array()) return {var_of(in, scope)};
  std::vector<VarId> inputs;
  for (const JsonNode& name : in.items()) inputs.push_back(var_of(name, scope));
  return inputs;
}

VarId Expander::var_of(const JsonNode& name, const Scope& scope) const {
  return name.text() == "@trip" ? trip(name) : paths_.var_of(name, scope);
}

}  // namespace lethe
