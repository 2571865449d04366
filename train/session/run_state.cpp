#include "train/session/run_state.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <type_traits>

#include "framework/error.h"
#include "framework/formatted.h"
#include "framework/language/init.h"
#include "framework/language/text.h"
#include "framework/text_input.h"
#include "models/json_source.h"
#include "optimizer/older_schedule.h"
#include "train/data/checksum.h"
#include "train/session/atomic_file.h"

namespace lethe {
namespace {

constexpr const char* kFile = "/state.json";
constexpr const char* kChecksum = "checksum";  // of state.json itself
constexpr std::int64_t kVersion = 1;
constexpr const char* kScheduleForm = "schedule_form";  // 2; missing where +warmup still was what *warmup is now

std::string text_of_state(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

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
  visit("best_accuracy", s.best_score);  // as older runs, which knew no other, call it
  visit("best_step", s.best_step);
  visit("options", s.options);
}

/// Likewise for what the state of an older run may lack.
template <class State, class Visit>
void for_each_later_field(State& s, const Visit& visit) {
  visit("evaluations_since_best", s.evaluations_since_best);
  visit("classes", s.meaning.classes);
  visit("mean", s.meaning.mean);
  visit("deviation", s.meaning.deviation);
  visit("alphabet", s.meaning.alphabet);
  visit("tokenizer", s.meaning.tokenizer);
  visit("columns", s.meaning.columns);
  visit("targets", s.meaning.targets);
  visit("frozen", s.frozen);
  visit("elsewhere", s.elsewhere);
  visit("network_file", s.file.name);
  visit("variant", s.file.variant);
  visit("checksums", s.checksums);
}

/// And of weights that are elsewhere, and of a column.
template <class Part>
concept IsPart = std::is_same_v<std::remove_const_t<Part>, WeightsElsewhere> ||
    std::is_same_v<std::remove_const_t<Part>, TableColumn>;
template <IsPart Part, class Visit>
void for_each_part(Part& part, const Visit& visit) {
  if constexpr (std::is_same_v<std::remove_const_t<Part>, TableColumn>) {
    visit("name", part.name);
    visit("mean", part.mean);
    visit("deviation", part.deviation);
    visit("categories", part.categories);
  } else {
    visit("files", part.files);
    visit("sha256", part.sha256);
    visit("ignore", part.ignore);
    visit("weights", part.weights);
  }
}

/// Text as it is if it is UTF-8, else the list of its bytes, since JSON has no other way to keep these apart.
Json json_of(const std::string& text) {
  const Json json = text;
  try {
    json.dump();
    return json;
  } catch (const Json::type_error&) {
    return std::vector<std::uint8_t>(text.begin(), text.end());
  }
}
Json json_of(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(json_of(text));
  return json;
}
Json json_of(const std::map<std::string, std::string>& texts) {
  Json json = Json::object();
  for (const auto& [key, text] : texts) json[key] = json_of(text);
  return json;
}
template <class Value>
Json json_of(const Value& value) {
  return value;
}
template <IsPart Part>
Json json_of(const std::vector<Part>& parts) {
  Json json = Json::array();
  for (const Part& each : parts) {
    Json& part = json.emplace_back();
    for_each_part(each, [&](const char* key, const auto& value) { part[key] = json_of(value); });
  }
  return json;
}

/// CRC-32 of a state in its written form without its own checksum.
std::uint32_t checksum_of_state(Json json) {
  json.erase(kChecksum);
  return checksum_of(text_of_state(json));
}

/// Readers of images divide by the deviations, and symbols are bytes' places.
void check_meaning(const std::string& file, const Meaning& meaning) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const auto is_positive = [](double value) { return std::isfinite(value) && value > 0; };
  check_as(Exit::Data, std::ranges::all_of(meaning.mean, is_finite), file, ": 'mean' has a number that is not finite");
  check_as(Exit::Data, std::ranges::all_of(meaning.deviation, is_positive), file,
           ": 'deviation' has a number that is not finite and above 0");
  for (const auto* columns : {&meaning.columns, &meaning.targets})
    for (const TableColumn& column : *columns)
      check_as(Exit::Data,
               is_finite(column.mean) && is_positive(column.deviation) && std::ranges::is_sorted(column.categories),
               file, ": column ", quote(shortened(column.name)),
               " has a mean, a deviation or categories that are none");
  check_as(Exit::Data,
           std::set<char>(meaning.alphabet.begin(), meaning.alphabet.end()).size() == meaning.alphabet.size(), file,
           ": 'alphabet' has a byte twice");
}

/// Reads a value that becomes a Value as it stands; the library would round 1.5 and wrap -1.
template <class Value>
void read_value(const JsonNode& node, Value& value) {
  const Json& json = node.json();
  if constexpr (std::is_unsigned_v<Value>)
    check(json.is_number_unsigned() && json.get<std::uint64_t>() <= std::numeric_limits<Value>::max(),
          "is no such number");
  else if constexpr (std::is_integral_v<Value>)
    check(json.is_number_integer() && (!json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX),
          "is no such number");
  json.get_to(value);
}
void read_value(const JsonNode& node, std::string& text) {
  if (!node.json().is_array()) return void(node.json().get_to(text));
  text.clear();
  for (const JsonNode& item : node.items()) {
    std::uint8_t byte = 0;
    read_value(item, byte);
    text.push_back(static_cast<char>(byte));
  }
}
template <class Value>
void read_value(const JsonNode& node, std::map<std::string, Value>& values) {
  values.clear();
  for (const auto& [key, item] : node.members()) read_value(item, values[key]);
}
template <IsPart Part>
void read_value(const JsonNode& node, Part& part);
template <class Value>
void read_value(const JsonNode& node, std::vector<Value>& values) {
  values.clear();
  for (const JsonNode& item : node.items()) read_value(item, values.emplace_back());
}
template <IsPart Part>
void read_value(const JsonNode& node, Part& part) {
  for_each_part(part, [&](const char* key, auto& value) { read_value(node.at(key), value); });
}

template <class Value>
void read_field(const JsonNode& state, const char* key, Value& value) {
  const JsonNode found = state.at(key);
  try {
    read_value(found, value);
  } catch (const std::exception&) {
    found.fail("'", key, "' is ", found.shown(), ", which is not of the right type");
  }
}

/// The network file that a checkpoint holds; a name with a directory in it would lead out of the checkpoint.
std::string held_file(const std::string& checkpoint, const std::string& name) {
  check_as(Exit::Data, std::filesystem::path(name).filename() == name, checkpoint, kFile, ": the network file ",
           quote(name), " is no name of a file");
  return message(checkpoint, '/', kNetworkFolder, '/', name);
}

}  // namespace

std::string program_id(const Program& forward) { return formatted("%016" PRIx64, hash_of(to_text(forward))); }

void check_same_network(const RunState& state, const std::string& directory, const std::string& name,
                        const std::string& id) {
  check(state.network == name, "'", directory, "' holds a run of network '", state.network, "', not of '", name, "'");
  check(state.program == id, "'", directory, "' holds a run of another '", name,
        "': its layers, batch, dtype or seed differ from what is asked for");
}

std::string network_in(const std::string& checkpoint, const RunState& state) {
  return state.file.name.empty() ? "" : name_in(message(checkpoint, '/', kNetworkFolder), state.file);
}

void check_unchanged(const std::string& checkpoint, const RunState& state, const std::string& name) {
  const auto expected = state.checksums.find(name);
  if (expected == state.checksums.end()) return;
  const std::string file = message(checkpoint, '/', name);
  check_as(Exit::Data, checksum_of_file(file) == expected->second, file, ": is not what ", checkpoint, kFile,
           " says: it is damaged, or of another checkpoint");
}

void write_state(const std::string& checkpoint, const RunState& state) {
  RunState complete = state;
  if (!state.file.name.empty()) {
    const std::string file = held_file(checkpoint, state.file.name);
    std::filesystem::create_directory(std::filesystem::path(file).parent_path());
    replace_file(file, state.file.text);
    complete.checksums[message(kNetworkFolder, '/', state.file.name)] = checksum_of(state.file.text);
  }
  Json json = {{"version", kVersion}, {kScheduleForm, 2}};
  const auto add = [&](const char* key, const auto& value) { json[key] = json_of(value); };
  for_each_field(complete, add);
  for_each_later_field(complete, add);
  json[kChecksum] = checksum_of_state(json);
  replace_file(checkpoint + kFile, text_of_state(json));
}

RunState read_state(const std::string& checkpoint) {
  const std::string file = checkpoint + kFile;
  std::ifstream in(file, std::ios::binary);
  check_as(Exit::Data, in.good(), file, ": cannot be opened");
  const std::string text = with_context(file, [&] { return rest_of(in, Exit::Data); });
  RunState state;
  try {
    const JsonSource source(file, text);
    const JsonNode root = source.root();
    std::int64_t version = 0;
    read_field(root, "version", version);
    check_as(Exit::Data, version == kVersion, file, ": is of version ", version, ", this program reads version ",
             kVersion);
    for_each_field(state, [&](const char* key, auto& value) { read_field(root, key, value); });
    for_each_later_field(state, [&](const char* key, auto& value) {
      if (root.json().contains(key)) read_field(root, key, value);
    });
    if (!root.has(kScheduleForm)) {  // the run goes on with the rates that it began with
      state.schedule = in_older_sense(state.schedule);
      if (const auto kept = state.options.find("schedule"); kept != state.options.end())
        kept->second = in_older_sense(kept->second);
    }
    check_meaning(file, state.meaning);
    check_as(Exit::Data, !root.has(kChecksum) || root.at(kChecksum).json() == checksum_of_state(root.json()), file,
             ": is not what its checksum says: it is damaged, or was edited");
  } catch (const SourceError& error) {
    throw Error(error.what(), Exit::Data);
  }
  if (state.file.name.empty()) return state;
  check_unchanged(checkpoint, state, message(kNetworkFolder, '/', state.file.name));
  try {
    state.file.text = read_text(held_file(checkpoint, state.file.name));
  } catch (const Error& error) {
    throw Error(error.what(), Exit::Data);
  }
  return state;
}

}  // namespace lethe
