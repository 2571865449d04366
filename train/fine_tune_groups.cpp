// Options of who begins from what exists: what of it may be new, what of it is trained, and how fast each part learns.
#include <functional>

#include "framework/error.h"
#include "optimizer/rate_scales.h"
#include "train/lora_words.h"
#include "train/option_groups.h"
#include "train/values.h"

namespace lethe {
namespace {

/// Reads a list.
std::function<void(const std::string&)> list_into(std::string& list) {
  return [&list](const std::string& text) { list = text == kNoWords ? "" : text; };
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
  const auto complaint = [](const std::string& text) { return text == kNoWords ? "" : complaint_about_rates(text); };
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

void add_storage(OptionSet& set, Options& o) {
  NetworkSetting& network = o.program.network;
  set.in("Training");
  set.add_read(
         "--state-dtype", [&o](const std::string& name) { o.program.update.rule.states_in_8_bits = name == "8bit"; },
         "TYPE",
         "Of the optimizer's states: 8bit for momentum, nesterov, adam, adamw and lion, but of small parameters and\n"
         "tables of embeddings, or f32 (default: as parameters are computed)")
      ->check(one_of({"f32", "8bit"}))
      ->is({Fact::Kept, Fact::OfOptimizer});
  set.add_read(
         "--param-dtype", [&network](const std::string& name) { network.param_dtype = dtype_named(name); }, "TYPE",
         "Of trained parameters of two axes or more: bf16, which updates round by chance, or f32 (default)")
      ->check(one_of({"f32", "bf16"}))
      ->is({Fact::Kept});
  set.add_read(
         "--grad-dtype", [&network](const std::string& name) { network.grad_dtype = dtype_named(name); }, "TYPE",
         "Of gradients of parameters of two axes or more: bf16 or f16, as --dtype, in which backward computes them "
         "and\n"
         "PyTorch keeps them, or f32 (default)")
      ->check(one_of({"f32", "bf16", "f16"}))
      ->is({Fact::Kept});
  set.add_read("--keep-f32", list_into(network.keep_f32), "NAMES",
               "Of --state-dtype 8bit and --param-dtype bf16: these parameters and their states stay in f32, as\n"
               "'logits.*'; none: no others")
      ->is({Fact::Kept});
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
  set.add(
         "--frozen-dtype", frozen.types, "TYPE",
         "Of frozen parameters of two axes or more: bf16 or f16 halve them, int8 and q8_0 take a quarter, q4_0, q4_1,\n"
         "nf4 and nf4-dq an eighth, f32 (default: as all others); or by names, of which the first that mean a\n"
         "parameter count: 'tokens.*=q8_0,logits.*=q8_0,*=nf4-dq'")
      ->check({complaint_about_frozen_types})
      ->is({Fact::Kept});
}

void add_lora(OptionSet& set, Options& o) {
  LoraSetting& lora = o.program.network.lora;
  const auto read_words = [&lora](const std::string& text) { read_lora_words(text, lora); };
  OptionRow* const words = set.add_read(
      "--lora", read_words, "[WORDS]",
      "Trains low-rank adapters beside weights that stay as they are, as 'r=16,alpha=32,dropout=0.05,rslora', or\n"
      "some of these words (default r=8,alpha=8); none: there are none");
  words->form = OptionRow::Form::MayBeEmpty;
  words->check({complaint_about_lora_words})->is({Fact::Kept, Fact::OfNetwork});
  set.add_read(
         "--lora-targets", [&lora](const std::string& text) { lora.targets = lora_targets_in(text); }, "NAMES",
         "Layers with adapters: names or their ends, ours or a library's, as 'q_proj,v_proj', * for any characters,\n"
         "with =RANK or =RANK/ALPHA of their own; all-linear: all but the output's (default: the network's)")
      ->check({complaint_about_lora_targets})
      ->is({Fact::Kept, Fact::OfNetwork});
  set.add_read("--lora-train", list_into(lora.train), "NAMES",
               "Of --lora: trains these parameters beside the adapters, as '*.bias,logits.*'; none: the adapters alone")
      ->is({Fact::Kept, Fact::OfNetwork});
}

}  // namespace lethe
