// Options of who begins from what exists: what of it may be new, what of it is trained, and how fast each part learns.
#include <functional>
#include <map>
#include <set>

#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/name_pattern.h"
#include "optimizer/rate_scales.h"
#include "train/option_groups.h"
#include "train/values.h"

namespace lethe {
namespace {

constexpr std::int64_t kRank = 8, kMostRank = 1 << 20;
constexpr const char* kTakenBack = "none";  // as a list: nothing, whatever a network's file or a run says

/// Reads a list.
std::function<void(const std::string&)> list_into(std::string& list) {
  return [&list](const std::string& text) { list = text == kTakenBack ? "" : text; };
}

/// A word of a list with what stands after its first `mark`, "" without one.
std::pair<std::string, std::string> halves(const std::string& word, char mark) {
  const std::size_t at = word.find(mark);
  return at == std::string::npos ? std::pair(word, std::string()) : std::pair(word.substr(0, at), word.substr(at + 1));
}

/// "r=16,alpha=32,rslora".
std::string complaint_about_lora(const std::string& text) {
  static const std::map<std::string, ValueCheck> known = {{"r", whole_number(1, kMostRank)},
                                                          {"alpha", positive_number()},
                                                          {"dropout", fraction()},
                                                          {"rslora", one_of({""})}};
  if (text == kTakenBack) return "";
  const std::vector<std::string> words = patterns_in(text);
  if (words.empty()) return message(quote(text), " says nothing: expected r=8, alpha=8, dropout=0, rslora");
  std::set<std::string> said;
  for (const std::string& word : words) {
    const auto [name, value] = halves(word, '=');
    const auto found = known.find(name);
    if (found == known.end())
      return message(quote(word), " is unknown", did_you_mean(name, {"r", "alpha", "dropout", "rslora"}),
                     "; expected r=8, alpha=8, dropout=0, rslora");
    if (!said.insert(name).second) return message("says ", name, " twice");
    if (word.ends_with('=') || (name == "rslora" && word != name)) return message(quote(word), ": a value is amiss");
    if (const std::string complaint = found->second.complaint(value); !complaint.empty())
      return message(name, ": ", complaint);
  }
  return "";
}

void read_lora(const std::string& text, LoraSetting& lora) {
  lora = {.rank = text == kTakenBack ? 0 : kRank, .targets = lora.targets, .train = lora.train};
  for (const std::string& word : patterns_in(text == kTakenBack ? "" : text)) {
    const auto [name, value] = halves(word, '=');
    if (name == "r") lora.rank = std::stoll(value);
    if (name == "alpha") lora.alpha = std::stod(value);
    if (name == "dropout") lora.dropout = std::stod(value);
    if (name == "rslora") lora.rslora = true;
  }
}

/// "q_proj,v_proj=32/64".
std::string complaint_about_targets(const std::string& text) {
  if (patterns_in(text).empty()) return message(quote(text), " names no layer");
  for (const std::string& word : patterns_in(text)) {
    const auto [name, own] = halves(word, '=');
    const auto [rank, alpha] = halves(own, '/');
    std::string complaint = name.empty() ? "there is no name before =" : "";
    if (complaint.empty() && word != name) complaint = whole_number(1, kMostRank).complaint(rank);
    if (complaint.empty() && own != rank) complaint = positive_number().complaint(alpha);
    if (!complaint.empty())
      return message(quote(word), ": ", complaint, "; expected NAME, NAME=RANK or NAME=RANK/ALPHA");
  }
  return "";
}

std::vector<LoraTarget> targets_in(const std::string& text) {
  std::vector<LoraTarget> targets;
  for (const std::string& word : patterns_in(text)) {
    const auto [name, own] = halves(word, '=');
    const auto [rank, alpha] = halves(own, '/');
    targets.push_back({.pattern = name});
    if (!rank.empty()) targets.back().rank = std::stoll(rank);
    if (!alpha.empty()) targets.back().alpha = std::stod(alpha);
  }
  return targets;
}

}  // namespace

OptionRow* add_fresh(OptionSet& set, Options& o) {
  set.in("Checkpoints");
  return set
      .add("--fresh", o.checkpoints.weights.fresh, "NAMES",
           "Of --weights: these may be missing there or of another shape, and are made anew then by the seed:\n"
           "names with commas between, * for any characters, as 'logits.*'; the network's, or the file's own")
      ->needs("--weights");
}

OptionRow* add_ignore(OptionSet& set, Options& o) {
  set.in("Checkpoints");
  return set
      .add("--ignore", o.checkpoints.weights.ignore, "NAMES",
           "Of --weights: tensors of the file that are taken as if they were not there, as 'head.*'")
      ->needs("--weights");
}

OptionRow* add_adapter(OptionSet& set, Options& o) {
  set.in("Checkpoints");
  return set
      .add(
          "--adapter", o.checkpoints.weights.adapter, "DIR",
          "Low-rank adapters beside --weights, a folder as Hugging Face's PEFT saves them: adapter_config.json, which\n"
          "says --lora and its targets, and adapter_model.safetensors")
      ->needs("--weights");
}

void add_own_rates(OptionSet& set, Options& o) {
  const auto complaint = [](const std::string& text) { return text == kTakenBack ? "" : complaint_about_rates(text); };
  set.in("Training");
  set.add_read("--lr-of", list_into(o.program.update.rates.of), "RATES",
               "Learning rates of their own, as 'head.*=10x,norm.*=3e-4': times that of the others, or a rate that\n"
               "follows the schedule too; * stands for any characters, and the last that means a parameter counts;\n"
               "none: all have the same")
      ->check({complaint})
      ->is({Fact::Kept, Fact::OfOptimizer});
  set.add("--layer-decay", o.program.update.rates.layer_decay, "X",
          "Each layer has X times the learning rate of the layer above it, the head all of it (default 1)")
      ->check(portion())
      ->is({Fact::Kept, Fact::OfOptimizer});
}

void add_frozen(OptionSet& set, Options& o) {
  FrozenSetting& frozen = o.program.network.frozen;
  set.in("Training");
  set.add_read("--freeze", list_into(frozen.freeze), "NAMES",
               "Leaves these parameters as they are: names, ours or a library's, with commas between, * for any\n"
               "characters, as 'tokens.*,block*'; none: trains all")
      ->is({Fact::Kept})
      ->excludes("--lora")
      ->excludes("--lora-train");
  set.add_read("--train-only", list_into(frozen.train_only), "NAMES",
               "Trains these parameters and leaves all others; none: trains all")
      ->is({Fact::Kept})
      ->excludes("--freeze")
      ->excludes("--lora")
      ->excludes("--lora-train");
  set.add_read(
         "--frozen-dtype", [&frozen](const std::string& name) { frozen.dtype = dtype_named(name); }, "TYPE",
         "Of frozen parameters of two axes or more: bf16 or f16 halve them, f32 (default: as all others)")
      ->check(one_of({"f32", "bf16", "f16"}))
      ->is({Fact::Kept});
}

void add_lora(OptionSet& set, Options& o) {
  LoraSetting& lora = o.program.network.lora;
  const auto read_words = [&lora](const std::string& text) { read_lora(text, lora); };
  OptionRow* const words = set.add_read(
      "--lora", read_words, "[WORDS]",
      "Trains low-rank adapters beside weights that stay as they are, as 'r=16,alpha=32,dropout=0.05,rslora', or\n"
      "some of these words (default r=8,alpha=8); none: there are none");
  words->form = OptionRow::Form::MayBeEmpty;
  words->check({complaint_about_lora})->is({Fact::Kept, Fact::OfNetwork});
  set.add_read(
         "--lora-targets", [&lora](const std::string& text) { lora.targets = targets_in(text); }, "NAMES",
         "Layers with adapters: names or their ends, ours or a library's, as 'q_proj,v_proj', * for any characters,\n"
         "with =RANK or =RANK/ALPHA of their own; all-linear: all but the output's (default: the network's)")
      ->check({complaint_about_targets})
      ->is({Fact::Kept, Fact::OfNetwork});
  set.add_read("--lora-train", list_into(lora.train), "NAMES",
               "Of --lora: trains these parameters beside the adapters, as '*.bias,logits.*'; none: the adapters alone")
      ->is({Fact::Kept, Fact::OfNetwork});
}

}  // namespace lethe
