#include "train/model_folder.h"

#include <filesystem>

#include "framework/error.h"
#include "framework/name_pattern.h"
#include "models/config.h"
#include "models/expression.h"
#include "train/data/data_spec.h"
#include "train/data/folder_tokenizer.h"
#include "train/folder_meaning.h"
#include "train/gguf_model.h"
#include "train/session/checkpoint.h"
#include "train/session/fed_data.h"
#include "train/session/library_weights.h"
#include "train/session/onnx_model.h"
#include "train/session/programs.h"
#include "train/session/start.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderMark = "hf:", kFileMark = "gguf:";
constexpr const char* kNoWeights = "none";

bool is_file(const std::string& value) { return value.starts_with(kFileMark); }
bool is_folder(const std::string& value) { return value.starts_with(kFolderMark) || is_file(value); }

/// Where it is. Fails unless it is there.
std::string place_of(const std::string& folder, const char* option) {
  std::string place = folder.substr((is_file(folder) ? kFileMark : kFolderMark).size());
  if (is_file(folder))
    check_as(Exit::Data, fs::is_regular_file(place), option, ' ', folder,
             ": no such file; gguf: takes a GGUF file on this machine");
  else
    check_as(Exit::Data, fs::is_directory(place), option, ' ', folder,
             ": no such directory; hf: takes a folder on this machine with a model's config.json and "
             "model.safetensors");
  return place;
}

ConfiguredNetwork network_at(const std::string& folder, const std::string& place) {
  return is_file(folder) ? read_gguf_model(place) : read_config((fs::path(place) / "config.json").string());
}

/// A GGUF file is its own; "" if there is none.
std::string weights_at(const std::string& place) { return fs::is_directory(place) ? library_weights_in(place) : place; }

std::string as_list(const Sets& sets) {
  std::string list;
  for (const auto& [name, value] : sets) list.append(list.empty() ? "" : ",").append(name).append("=").append(value);
  return list;
}

/// What `--set` or `--context` says of the var; "" if nothing.
std::string asked_of(const std::string& var, const OptionValues& values) {
  std::string asked = var == kContextVar ? value_in(values, "context") : "";
  for (const std::string& item : patterns_in(value_in(values, "set")))
    if (const std::size_t equals = item.find('='); item.substr(0, equals) == var) asked = item.substr(equals + 1);
  return asked;
}

void check_bounds(const ConfiguredNetwork& network, const OptionValues& values, const std::string& folder) {
  for (const ConfigBound& bound : network.bounds) {
    const std::string asked = asked_of(bound.var, values);
    const std::optional<std::int64_t> number = whole_number(parse_value(asked));
    check(!number || *number <= bound.most, bound.var, " of ", asked, " is more than ", quote(bound.key), " of ",
          folder, " allows, ", bound.most);
  }
}

/// The vars that the folder says, without those of tables of positions that are as long as the window, as they are by
/// default: generation builds the network for shorter windows, whose tables follow.
Sets sets_of(const ConfiguredNetwork& network, const OptionValues& values) {
  Sets sets = network.sets;
  for (const ConfigBound& bound : network.bounds) {
    const std::string asked = asked_of(bound.var, values);
    if (whole_number(parse_value(asked.empty() ? sets[bound.var] : asked)) == bound.most) sets.erase(bound.table);
  }
  if (values.contains("context")) sets.erase(kContextVar);
  return sets;
}

/// Whether `--resume auto` finds nothing to go on with, so that the run begins with weights.
bool begins(const OptionValues& values) {
  return value_in(values, "resume") == "auto" && find_latest(value_in(values, "save")).empty();
}

/// Trained weights take the tokens that they were trained with: fails where texts would be read by characters, which
/// each text numbers in its own way, and where numbers would be others, since symbol 0 of a text with one label is
/// padding. A run knows its symbols.
void check_tokens(const NetworkSetting& of, const OptionValues& values, const std::string& folder) {
  const std::string weights = value_in(values, "weights");
  if (weights.empty() || weights == kNoWeights || run_of_weights(weights)) return;
  const std::string text = value_in(values, "data");
  const DataSpec data(text);
  std::string tokenizer = data.options.contains("tokenizer") ? data.tokenizer() : value_in(values, "tokenizer");
  check_as(Exit::Data, !tokenizer.empty() || !wants_tokenizer(data), why_no_tokenizer(place_of(folder, "--model")),
           "; --tokenizer DIR names one, without which ", text, " is read by characters");
  if (tokenizer.empty()) return;
  const Network network = build_network(of, false);
  if (!is_fed_by_data(network) || !takes_texts(network)) return;
  const std::unique_ptr<Tokenizer> its = open_folder_tokenizer(tokenizer).tokenizer;
  check_as(Exit::Data, its->pads(), folder, ": its weights take BERT's word pieces, of which token 0 is padding; ",
           tokenizer, " makes ", its->identity());
}

/// Of commands that take weights: whether this one does without.
bool only_plans(const Command& command, const OptionValues& values) {
  return std::string_view(command.word) == "show" || values.contains("plan");
}

std::string note_of(const std::string& folder, const ConfiguredNetwork& network, const OptionValues& values) {
  std::string note = message(folder, ": ", network.model, " with ", value_in(values, "set"));
  for (const ConfigBound& bound : network.bounds)
    if (whole_number(parse_value(asked_of(bound.var, values))) != bound.most)
      note += message("; --set ", bound.var, "=N up to ", bound.most, " is possible");
  return note;
}

}  // namespace

std::string value_in(const OptionValues& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

OptionValues with_folder(const OptionSet& set, OptionValues values, Options& options) {
  const Command& command = *options.command;
  if (const std::string weights = value_in(values, "weights"); is_folder(weights)) {
    const std::string place = place_of(weights, "--weights");
    values["weights"] = weights_at(place);
    check_as(Exit::Data, !values["weights"].empty(), weights, ": ", why_no_weights(place));
    if (set.find("--model")) values.emplace("model", weights);
  }
  const std::string folder = value_in(values, "model");
  if (set.find("--model") && is_folder(folder)) {
    const std::string place = place_of(folder, "--model");
    const ConfiguredNetwork network = network_at(folder, place);
    check_bounds(network, values, folder);
    OptionValues of_folder = {{"model", network.model}, {"set", as_list(sets_of(network, values))}};
    if (begins(values))
      values.erase("resume");
    else if (value_in(values, "resume") == "auto")
      for (const char* const of_beginning : {"weights", "fresh", "ignore"}) values.erase(of_beginning);
    if (set.find("--weights") && !values.contains("weights") && !values.contains("resume")) {
      const std::string file = weights_at(place);
      check_as(Exit::Data, !file.empty() || only_plans(command, values), folder, ": ", why_no_weights(place),
               "; --weights FILE takes others", command.facts.takes_run ? "" : ", --weights none begins with none");
      if (!file.empty()) of_folder["weights"] = file;
    }
    if (has_folder_tokenizer(place)) of_folder["tokenizer"] = place;
    if (!is_file(folder)) options.of_folder = meaning_in(place, network.classes);
    values.erase("model");
    lay_under(command, values, of_folder);
    check_tokens({.model = network.model, .sets = network.sets}, values, folder);
    options.notes.push_back(note_of(folder, network, values));
    for (const ConfigBound& bound : network.bounds)
      if (bound.var == kContextVar) options.most_context = bound.most;
  }
  // A model of others has its weights in it.
  if (set.find("--model") && is_onnx(folder) && set.find("--weights")) {
    if (begins(values)) values.erase("resume");
    if (!values.contains("resume")) values.emplace("weights", folder);
  }
  if (value_in(values, "weights") == kNoWeights) values.erase("weights");
  return values;
}

}  // namespace lethe
