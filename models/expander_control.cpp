// Loops and branches that are decided when the network runs.
#include <algorithm>

#include "framework/did_you_mean.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "models/complaints.h"
#include "models/entry.h"
#include "models/expander.h"
#include "models/settings.h"

namespace lethe {
namespace {

bool same_type(const Var& a, const Var& b) { return a.shape == b.shape && a.dtype == b.dtype; }

std::vector<std::string> names_in(const JsonNode& states) {
  std::vector<std::string> names;
  for (const auto& [name, node] : states.members()) {
    check_name(node, name);
    names.push_back(name);
  }
  if (names.empty()) states.fail("found no state, expected at least one");
  return names;
}

/// Which of the states the loop gives.
std::size_t result_of(const JsonNode& entry, const std::vector<std::string>& states) {
  if (!entry.has("result")) return 0;
  const JsonNode result = entry.at("result");
  const auto found = std::find(states.begin(), states.end(), result.text());
  if (found == states.end())
    result.fail(quote(result.text()), " is no state", did_you_mean(result.text(), states),
                "; states: ", joined(states));
  return static_cast<std::size_t>(found - states.begin());
}

std::int64_t most_trips(const JsonNode& node, const Bindings& values) {
  const std::int64_t most = whole_of(node, values);
  if (most < 1 || most > kMostTrips) node.fail("found ", most, ", expected 1 to ", kMostTrips);
  return most;
}

/// The scope of a list that a control-flow op runs: what it names is known in the list alone.
Scope inside(const Scope& scope, const std::string& prefix, VarId input) {
  Scope inner = scope;
  inner.prefix = prefix;
  inner.input = input;
  return inner;
}

}  // namespace

VarId Expander::loop(const JsonNode& entry, VarId current, Scope& scope) {
  const std::string path = paths_.claim(entry, "while", scope);
  return at_path(path, [&] {
    check_memopt(entry, loop_memopts());
    const std::vector<std::string> states = names_in(entry.at("while").at("state"));
    const std::size_t result = result_of(entry, states);
    const Vars last = built(entry, "while", path, [&] { return trips(entry, path, states, current, scope); });
    paths_.close(path + "/cond/");
    paths_.close(path + "/do/");
    for (std::size_t i = 0; i < states.size(); ++i) {
      const std::string state = message(path, '/', states[i]);
      paths_.set(state, last[i]);
      if (entry.has("name")) scope.names[message(entry.at("name").text(), '/', states[i])] = state;
    }
    return paths_.set(path, last[result]);
  });
}

Vars Expander::trips(const JsonNode& entry, const std::string& path, const std::vector<std::string>& states,
                     VarId current, const Scope& scope) {
  const JsonNode head = entry.at("while"), body = entry.at("do");
  const std::int64_t most = most_trips(head.at("max"), scope.values);
  Vars first;
  for (const std::string& state : states)
    first.push_back(initial(head.at("state").at(state), message(path, '/', state), current, scope));
  const auto scope_of = [&](const char* part, const Vars& carried) {
    Scope inner = inside(scope, path + part, current);
    for (std::size_t i = 0; i < states.size(); ++i) {
      inner.names[states[i]] = message(path, '/', states[i]);
      paths_.set(inner.names[states[i]], carried[i]);
    }
    return inner;
  };
  std::function<VarId(const Vars&)> go_on;  // null: always
  if (head.has("cond"))
    go_on = [&](const Vars& carried) { return condition(head.at("cond"), carried[0], scope_of("/cond/", carried)); };
  const auto run_body = [&](const Vars& carried) {
    Scope inner = scope_of("/do/", carried);
    chain(body.at("layers"), carried[0], inner);
    return next(body.at("next"), states, carried, inner);
  };
  const bool recompute = entry.has("memopt") && entry.at("memopt").text() == "recompute";
  return builder_.loop(first, most, go_on, run_body, path, recompute);
}

VarId Expander::branch(const JsonNode& entry, VarId current, Scope& scope) {
  const std::string path = paths_.claim(entry, "if", scope);
  return at_path(path, [&] {
    const VarId decision = condition(entry.at("if"), current, inside(scope, path + "/cond/", current));
    const auto side = [&](const char* key) -> VarId {
      if (!entry.has(key)) return current;
      Scope inner = inside(scope, message(path, '/', key, '/'), current);
      const VarId out = chain(entry.at(key), current, inner);
      paths_.close(inner.prefix);
      return out;
    };
    VarId then = kNone;
    const auto run_then = [&] { return Vars{then = side("then")}; };
    const auto run_else = [&] {
      const VarId otherwise = side("else");
      const Var &a = builder_.program().vars[then], &b = builder_.program().vars[otherwise];
      if (!same_type(a, b))
        entry.at(entry.has("else") ? "else" : "then")
            .fail("'then' gives ", text_of(a), ", 'else' ", text_of(b), entry.has("else") ? "" : " as it takes it");
      return Vars{otherwise};
    };
    const Vars out = built(entry, "if", path, [&] { return builder_.branch(decision, run_then, run_else, path); });
    return paths_.set(path, out.front());
  });
}

VarId Expander::condition(const JsonNode& list, VarId current, const Scope& scope) {
  Scope inner = scope;
  const VarId out = chain(list, current, inner);
  const Var& var = builder_.program().vars[out];
  if (var.dtype != DType::u8 || !var.shape.empty())
    list.fail("a condition gives one truth value, u8[], this one ", text_of(var));
  return out;
}

VarId Expander::initial(const JsonNode& state, const std::string& path, VarId current, const Scope& scope) {
  const Json& json = state.json();
  const bool expression = json.is_string() && state.text().rfind('=', 0) == 0;
  if (!json.is_string() && !json.is_number())
    state.fail("found ", state.shown(), ", expected a layer, @in or a number");
  if (json.is_string() && !expression) return state.text() == "@in" ? current : var_of(state, scope);
  const Attr value = value_of(state, scope.values);
  const std::vector<Var>& vars = builder_.program().vars;
  const DType dtype = builder_.options().dtype;
  const auto like = std::find_if(vars.begin(), vars.end(), [&](const Var& var) { return var.dtype == dtype; });
  if (like == vars.end())
    state.fail("a number is as the network's ", name_of(dtype), ", of which nothing is before it");
  try {
    return builder_.layer("constant", static_cast<VarId>(like - vars.begin()), {{"value", value}}, path);
  } catch (const Error& error) {
    state.fail(error.what());
  }
}

Vars Expander::next(const JsonNode& next, const std::vector<std::string>& states, const Vars& carried,
                    const Scope& scope) const {
  next.check_keys("'next'", states);
  Vars values;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!next.has(states[i])) next.fail("'next' needs '", states[i], "': each state has a value after a trip");
    const JsonNode name = next.at(states[i]);
    values.push_back(var_of(name, scope));
    const Var &before = builder_.program().vars[carried[i]], &after = builder_.program().vars[values.back()];
    if (!same_type(before, after))
      name.fail("state '", states[i], "' is ", text_of(before), ", after a trip it would be ", text_of(after));
  }
  return values;
}

VarId Expander::trip(const JsonNode& name) const {
  try {
    return builder_.trip();
  } catch (const Error&) {
    name.fail("'@trip' is the number of a loop's trip: it is known in a 'while' alone");
  }
}

}  // namespace lethe
