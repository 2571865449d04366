#include "train/session/run_state.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <type_traits>

#include "framework/error.h"
#include "framework/init.h"
#include "framework/text.h"
#include "framework/text_input.h"
#include "models/json_source.h"
#include "train/session/atomic_file.h"

namespace lethe {
namespace {

constexpr const char* kFile = "/state.json";
constexpr std::int64_t kVersion = 1;

/// Calls visit(key, field) for every field that a state must have; with what follows the one list of what state.json
/// holds.
template <class State, class Visit>
void for_each_field(State& s, const Visit& visit) {
  visit("network", s.network);
  visit("program", s.program);
  visit("epoch", s.epoch);
  visit("batch_in_epoch", s.batch_in_epoch);
  visit("step", s.step);
  visit("seed", s.seed);
  visit("batch", s.batch);
  visit("learning_rate", s.learning_rate);
  visit("schedule", s.schedule);
  visit("optimizer", s.optimizer);
  visit("data", s.data);
  visit("best_accuracy", s.best_accuracy);
  visit("best_step", s.best_step);
  visit("options", s.options);
}

/// Likewise for what the state of an older run may lack.
template <class State, class Visit>
void for_each_later_field(State& s, const Visit& visit) {
  visit("evaluations_since_best", s.evaluations_since_best);
  visit("classes", s.classes);
  visit("mean", s.mean);
  visit("deviation", s.deviation);
}

/// What reads images divides by the deviations.
void check_normalisation(const std::string& file, const RunState& state) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const auto is_positive = [](double value) { return std::isfinite(value) && value > 0; };
  check_as(Exit::Data, std::ranges::all_of(state.mean, is_finite), file, ": 'mean' has a number that is not finite");
  check_as(Exit::Data, std::ranges::all_of(state.deviation, is_positive), file,
           ": 'deviation' has a number that is not finite and above 0");
}

/// Whether a value becomes a Value as it stands; the library would round 1.5 and wrap -1.
template <class Value>
bool is_kept_by(const Json& json) {
  if constexpr (std::is_unsigned_v<Value>) return json.is_number_unsigned();
  if constexpr (std::is_integral_v<Value>) return json.is_number_integer();
  return true;
}

template <class Value>
void read_field(const JsonNode& state, const char* key, Value& value) {
  const JsonNode found = state.at(key);
  const auto wrong = [&] { found.fail("'", key, "' is ", found.shown(), ", which is not of the right type"); };
  if (!is_kept_by<Value>(found.json())) wrong();
  try {
    found.json().get_to(value);
  } catch (const Json::exception&) {
    wrong();
  }
}

}  // namespace

std::string program_id(const Program& forward) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash_of(to_text(forward)));
  return text;
}

void check_same_network(const RunState& state, const std::string& directory, const std::string& name,
                        const std::string& id) {
  check(state.network == name, "'", directory, "' holds a run of network '", state.network, "', not of '", name, "'");
  check(state.program == id, "'", directory, "' holds a run of another '", name,
        "': its layers, batch, dtype or seed differ from what is asked for");
}

void write_state(const std::string& checkpoint, const RunState& state) {
  Json json = {{"version", kVersion}};
  const auto write = [&](const char* key, const auto& value) { json[key] = value; };
  for_each_field(state, write);
  for_each_later_field(state, write);
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  AtomicFile out(checkpoint + kFile);
  out.write(text.data(), static_cast<std::int64_t>(text.size()));
  out.commit();
}

RunState read_state(const std::string& checkpoint) {
  const std::string file = checkpoint + kFile;
  std::ifstream in(file, std::ios::binary);
  check_as(Exit::Data, in.good(), file, ": cannot be opened");
  const std::string text = with_context(file, [&] { return rest_of(in, Exit::Data); });
  try {
    const JsonSource source(file, text);
    std::int64_t version = 0;
    read_field(source.root(), "version", version);
    check_as(Exit::Data, version == kVersion, file, ": is of version ", version, ", this program reads version ",
             kVersion);
    RunState state;
    for_each_field(state, [&](const char* key, auto& value) { read_field(source.root(), key, value); });
    for_each_later_field(state, [&](const char* key, auto& value) {
      if (source.root().json().contains(key)) read_field(source.root(), key, value);
    });
    check_normalisation(file, state);
    return state;
  } catch (const SourceError& error) {
    throw Error(error.what(), Exit::Data);
  }
}

}  // namespace lethe
