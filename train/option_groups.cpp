#include "train/option_groups.h"

#include <cstdint>

#include "framework/error.h"
#include "models/json_source.h"
#include "optimizer/optimizer.h"
#include "train/values.h"

namespace lethe {
namespace {

using enum Fact;

constexpr const char* kInterval = "N|Ne";
constexpr const char* kAllParameters = "*";  // as a name to decay

}  // namespace

void add_network(OptionSet& set, Options& o, const char* dtype_help) {
  const auto read_set = [&o](const std::string& text) {
    const std::size_t equals = text.find('=');
    o.program.network.sets[text.substr(0, equals)] = text.substr(equals + 1);
  };
  set.in("Network");
  set.add("--model", o.program.network.model, "NAME|FILE",
          "Network: a name of the zoo, a JSON file, hf:DIR, a folder of Hugging Face, or gguf:FILE")
      ->is({Kept, OfNetwork});
  set.add_list("--set", read_set, "K=V", "Sets a var of the network file; may be repeated")
      ->check(setting())
      ->is({Kept, OfNetwork});
  set.add_read(
         "--dtype", [&o](const std::string& name) { o.program.network.dtype = dtype_named(name); }, "TYPE", dtype_help)
      ->check(one_of({"f32", "f64", "bf16", "f16"}))
      ->is({Kept, OfNetwork});
  add_lora(set, o);
}

namespace {

/// A number of samples or symbols, or "auto" where it is known how to find one.
OptionRow* add_samples(OptionSet& set, const char* name, const char* text, const std::string& help,
                       std::int64_t& number, bool* largest) {
  const auto complaint = [=, is_number = whole_number(1).complaint](const std::string& value) {
    return largest && value == "auto" ? "" : is_number(value);
  };
  const auto read = [&number, largest](const std::string& value) {
    if (value == "auto")
      *largest = true;
    else
      number = std::stoll(value);
  };
  set.in("Data");
  return set.add_read(name, read, text, help)->check({complaint});
}

}  // namespace

void add_batch(OptionSet& set, Options& o, const char* help, Largest largest) {
  const bool knows = largest == Largest::CanBeFound;
  const char* const found = knows ? "; auto: the largest that the memory has room for" : "";
  add_samples(set, "--batch", "N", message(help, found), o.program.network.batch, knows ? &o.largest.batch : nullptr)
      ->is({Kept, OfNetwork});
}

void add_micro_batch(OptionSet& set, Options& o, Largest largest) {
  const bool knows = largest == Largest::CanBeFound;
  const std::string help = message(
      "Samples that go through the network at once (default: the batch); a step sums the\ngradients of all of them. "
      "Batch "
      "norm takes its statistics of these",
      knows ? "; auto: the most that fit" : "");
  add_samples(set, "--micro-batch", "M", help, o.program.micro_batch, knows ? &o.largest.micro_batch : nullptr)
      ->is({Kept});
  add_accumulate(set, o);
}

void add_context(OptionSet& set, Options& o) {
  add_samples(set, "--context", "N",
              message("Symbols that a network of sequences reads at once: --set ", kContextVar,
                      "=N (default: as its file\nsays); auto: the most that the memory has room for"),
              o.context, &o.largest.context);
}

OptionRow* add_skip_bad(OptionSet& set, std::int64_t& most, const char* help) {
  set.in("Data");
  return set.add("--skip-bad", most, "N", help)->check(whole_number(0, INT32_MAX));
}

void add_tokenizer(OptionSet& set, Options& o) {
  set.in("Data");
  set.add("--tokenizer", o.data.tokenizer, "DIR",
          "Folder whose tokenizer makes tokens of texts that are no tokens yet: tokenizer.json, tokenizer.model,\n"
          "vocab.txt, or GPT-2's vocab.json and merges.txt (default: the run's)")
      ->is({Kept, OfNetwork});
}

void add_data(OptionSet& set, Options& o, Largest largest) {
  set.in("Data");
  set.add("--data", o.data.spec, "SPEC",
          "mnist:DIR, cifar10:DIR, cifar100:DIR, imagefolder:DIR, shapes; masks:IMAGES,MASKS, shape-masks;\n"
          "text:FILE, jsonl:FILE, tokens:DIR, sentences, copy; tsv:PATH, subjects; csv:FILE,target=NAME,\n"
          "npy:NAME=FILE, numbers; synthetic (default: shapes, shape-masks, sentences, subjects or numbers, made to\n"
          "the network's size); after files ,val=X holds that share of them out for tests, and after masks\n"
          ",ignore=N says which value does not count")
      ->is({Kept, OfNetwork});
  add_tokenizer(set, o);
  add_skip_bad(set, o.skip_bad,
               "Leaves out up to N image files that cannot be read; each is tried at the beginning (default 0)")
      ->is({PartOfData});
  add_batch(set, o, kBatchHelp, largest);
}

OptionRow* add_weights(OptionSet& set, Options& o) {
  set.in("Checkpoints");
  return set.add("--weights", o.checkpoints.weights.path, "FILE|DIR",
                 "Starts from these weights; of a checkpoint directory the best; none: from no weights of hf:DIR");
}

void add_weights_of_run(OptionSet& set, Options& o) {
  set.in("Checkpoints");
  set.add("--weights", o.checkpoints.weights.path, "RUN|FILE",
          "Weights of a run's directory (its best), of a checkpoint's directory, or of a file; a run says\n"
          "its network, data, numbers, batch and seed, so that these need not be given");
  add_adapter(set, o);
}

void add_seed(OptionSet& set, Options& o) {
  set.in("Training");
  set.add("--seed", o.program.network.seed, "N", "Seed of initial weights, data order and dropout (default 0)")
      ->check(whole_number(0))
      ->is({Kept, OfNetwork});
}

void add_optimizer(OptionSet& set, Options& o) {
  set.in("Training");
  set.add("--lr", o.course.lr, "X", "Learning rate (default: the network's)")
      ->check(positive_number())
      ->is({Kept, OfOptimizer});
  set.add("--schedule", o.course.schedule_text, "SPEC",
          "Course of the learning rate: constant, cosine, poly, one-cycle, step@30ex0.1, exp@1ex0.95,\n"
          "multistep@80e,120ex0.1; after any but one-cycle a warm-up: +warmup@500 (default: the network's)")
      ->is({Kept, OfOptimizer});
  add_update_rule(set, o);
  add_averages(set, o);
}

/// Rows are read in their order: the name brings its rule, and each of the others changes that.
void add_update_rule(OptionSet& set, Options& o) {
  UpdateSetting& update = o.program.update;
  OptimizerSettings& rule = update.rule;
  const auto read_name = [&update](const std::string& name) {
    update.rule = optimizer_named(name);
    update.name = name;
  };
  set.in("Training");
  set.add_read("--optimizer", read_name, "NAME",
               "sgd, momentum, nesterov, adam, adamw, rmsprop, lion or adafactor (default: the network's)")
      ->check(such_as(optimizer_names()))
      ->is({Kept});
  set.add("--momentum", rule.momentum, "X", "Momentum (default: the network's)")
      ->check(number_from_zero())
      ->is({Kept, OfOptimizer});
  set.add("--beta1", rule.beta1, "X", "Of adam, adamw and lion: what the mean of gradients keeps (default 0.9)")
      ->check(fraction())
      ->is({Kept, OfOptimizer});
  set.add("--beta2", rule.beta2, "X",
          "Of adam and adamw: what the mean of their squares keeps (default 0.999); of lion: what the mean\n"
          "of gradients keeps for the next step (default 0.99)")
      ->check(fraction())
      ->is({Kept, OfOptimizer});
  set.add("--eps", rule.eps, "X", "Of adam, adamw and rmsprop: what is added to a root (default 1e-8)")
      ->check(number_from_zero())
      ->is({Kept, OfOptimizer});
  set.add("--weight-decay", rule.weight_decay, "X", "Weight decay, not on bias and norm (default: the network's)")
      ->check(number_from_zero())
      ->is({Kept, OfOptimizer});
  const auto decay_all = [&rule](bool on) { rule.decay = on ? kAllParameters : ""; };
  set.add_flag_read("--decay-all", decay_all, "Weight decay on bias and norm too")->is({Kept, OfOptimizer});
  const auto read_decay = [&rule](const std::string& names) {
    if (rule.decay != kAllParameters) rule.decay = names;
  };
  set.add_read("--decay", read_decay, "NAMES",
               "Weight decay on these parameters too: names with commas between, * for any characters")
      ->is({Kept, OfOptimizer});
  set.add("--no-decay", rule.no_decay, "NAMES", "No weight decay on these parameters, as 'tokens.*,positions.*'")
      ->is({Kept, OfOptimizer});
  add_own_rates(set, o);
  set.add("--loss-scale", update.loss_scale, "X",
          "Of --dtype f16: what the loss is scaled by at first (default 65536); it halves and doubles by itself")
      ->check(positive_number())
      ->is({Kept});
  set.add("--clip-norm", rule.clip_norm, "X",
          "Scales gradients down to this global norm; 0: no limit (default: the network's)")
      ->check(number_from_zero())
      ->is({Kept});
  set.add("--clip-passes", o.program.memory.levels.clip_passes, "N",
          "2: backward runs twice, first for the norm of all gradients and then for the updates, so that none\n"
          "stands until the last is there; same results (default 1; at level=3 2 where a budget needs it)")
      ->check(one_of({"1", "2"}));
  add_storage(set, o);
  add_frozen(set, o);
  add_class_weights(set, o);
}

void add_course(OptionSet& set, Options& o) {
  add_augment(set, o);
  set.in("Training");
  set.add("--epochs", o.course.epochs, "E", "Passes over the data (default: the network's)")
      ->check(whole_number(1))
      ->is({Kept});
  set.add("--steps", o.course.steps, "S", "Steps, instead of epochs")
      ->check(whole_number(1))
      ->is({Kept})
      ->excludes("--epochs");
  set.add("--patience", o.course.patience, "N",
          "Stops when N evaluations in a row bring nothing better (default: the network's, else 0: never)")
      ->check(whole_number(0))
      ->is({Kept});
  add_optimizer(set, o);
  add_seed(set, o);
}

void add_checkpoints(OptionSet& set, Options& o) {
  set.in("Checkpoints");
  set.add("--save", o.checkpoints.save, "DIR", "Writes checkpoints there: the newest and the best by evaluation");
  const auto read_interval = [&o](const std::string& text) {
    o.course.save_every = parse_interval(text, "--save-every");
  };
  set.add_read("--save-every", read_interval, kInterval, "Every N steps, or N epochs with an e after it (default 1e)")
      ->is({Kept});
  set.add("--keep", o.checkpoints.keep, "N", "Newest checkpoints kept, beside the best (default 2)")
      ->check(whole_number(1, INT32_MAX))
      ->is({Kept});
  const auto read_form = [&o](const std::string& form) { o.checkpoints.sharded = form == "sharded"; };
  set.add_read("--checkpoint", read_form, "FORM",
               "whole: one rank writes all of it (default); sharded: each rank a file with its share of every tensor")
      ->check(one_of({"whole", "sharded"}))
      ->is({Kept});
  const auto read_frozen = [&o](const std::string& word) { o.checkpoints.weights.save_frozen = word == "yes"; };
  set.add_read(
         "--save-frozen", read_frozen, "WORD",
         "yes: checkpoints hold frozen weights; no: they name the file of --weights and its SHA-256, and whoever\n"
         "reads them needs it (default: yes; with --lora no, where a file has them that is no checkpoint of a run)")
      ->check(one_of({"yes", "no"}))
      ->is({Kept});
  set.add("--resume", o.checkpoints.resume, "DIR|auto",
          "Goes on, bit for bit, where a run stopped, with its settings; auto: if --save has one");
  add_weights(set, o)->excludes("--resume");
  add_fresh(set, o)->excludes("--resume");
  add_ignore(set, o)->excludes("--resume");
  add_adapter(set, o)->excludes("--resume");
  set.finally([&o] {
    check(o.checkpoints.resume != "auto" || !o.checkpoints.save.empty(),
          "--resume auto needs --save DIR, where it looks for a checkpoint");
    check(!o.given.contains("save-every") || !o.checkpoints.save.empty() || !o.checkpoints.resume.empty(),
          "--save-every needs --save DIR");
  });
}

/// What `train graph` and `train timeline` draw.
void add_pictured(OptionSet& set, Options& o) {
  add_batch(set, o);
  add_micro_batch(set, o);
  add_optimizer(set, o);
  set.in("Data");
  add_evaluation(set, o, "Of evaluation instead of training");
  add_machine(set, o);
}

OptionRow* add_eval_every(OptionSet& set, Options& o, const char* help) {
  const auto read = [&o](const std::string& text) {
    o.course.eval_every = parse_interval(text, "--eval-every");
    o.program.evaluated = o.course.eval_every.count > 0;
  };
  return set.add_read("--eval-every", read, kInterval, help)->is({Kept});
}

void add_evaluation(OptionSet& set, Options& o, const char* help) {
  set.add_flag_read(
      "--eval", [&o](bool on) { o.program.training = !on; }, help);
}

void add_setup(OptionSet& set, Options& o, Largest largest) {
  add_network(set, o);
  add_data(set, o, largest);
  add_machine(set, o);
  add_memopt(set, o, "level=2");
  add_print_log(set, o);
}

void add_format(OptionSet& set, Options& o, std::vector<std::string> forms) {
  std::string help;
  for (const std::string& form : forms) help += help.empty() ? form + " (default)" : ", " + form;
  set.in("Output");
  o.format = forms.front();
  set.add("--format", o.format, "FORM", help)->check(one_of(std::move(forms)));
}

}  // namespace lethe
