#include "train/option_groups.h"

#include <cstdint>

#include "framework/error.h"
#include "models/json_source.h"
#include "optimizer/optimizer.h"
#include "train/option_table.h"
#include "train/quantities.h"
#include "train/session/device.h"
#include "train/values.h"

namespace lethe {
namespace {

constexpr std::int64_t kMostThreads = 1024;  // far more ends in a crash of OpenMP, not in a message

}  // namespace

void add_network(CLI::App& app, Options& o) {
  add_option(app, "--model", o.model, "NAME|FILE", "Network: a name of the zoo or a JSON file")->group("Network");
  add_option(app, "--set", o.set, "K=V", "Sets a var of the network file; may be repeated")
      ->check(setting())
      ->take_all()
      ->allow_extra_args(false)
      ->delimiter(',')
      ->group("Network");
  app.add_option_function<std::string>(
         "--dtype", [&o](const std::string& name) { o.dtype = dtype_named(name); },
         o.command == Command::Export
             ? "Numbers in the file: f32, f64, bf16 or f16, rounded where they have to be (default: the parameters' "
               "own)"
             : "Numbers: f32, f64; bf16 or f16 with parameters and statistics in f32 (default f32)")
      ->option_text("TYPE")
      ->check(one_of({"f32", "f64", "bf16", "f16"}))
      ->group("Network");
}

namespace {

/// A number of samples or symbols, or "auto" where it is known how to find one.
CLI::Option* add_samples(CLI::App& app, const char* name, const std::string& help, std::optional<std::int64_t>& number,
                         bool& largest, bool knows_auto) {
  const auto check_number = [=, is_number = whole_number(1)](const std::string& text) {
    std::string copy = text;
    return knows_auto && text == "auto" ? "" : is_number(copy);
  };
  const auto read = [&](const std::string& text) {
    largest = text == "auto";
    number.reset();
    if (!largest) number = std::stoll(text);
  };
  return app.add_option_function<std::string>(name, read, help)->take_last()->check(check_number)->group("Data");
}

bool knows_auto(const Options& o) { return o.command == Command::Train || o.command == Command::Plan; }

}  // namespace

void add_batch(CLI::App& app, Options& o, const char* help) {
  const char* const found = knows_auto(o) ? "; auto: the largest that the memory has room for" : "";
  add_samples(app, "--batch", message(help, found), o.batch, o.largest_batch, knows_auto(o))->option_text("N");
}

void add_micro_batch(CLI::App& app, Options& o) {
  add_samples(app, "--micro-batch",
              message("Samples that go through the network at once (default: the batch); a step sums the\ngradients of "
                      "all of them. Batch norm takes its statistics of these",
                      knows_auto(o) ? "; auto: the most that fit" : ""),
              o.micro_batch, o.largest_micro_batch, knows_auto(o))
      ->option_text("M");
}

void add_context(CLI::App& app, Options& o) {
  add_samples(app, "--context",
              message("Symbols that a network of sequences reads at once: --set ", kContextVar,
                      "=N (default: as its file\nsays); auto: the most that the memory has room for"),
              o.context, o.largest_context, true)
      ->option_text("N");
}

void add_skip_bad(CLI::App& app, Options& o, const std::string& help) {
  add_option(app, "--skip-bad", o.skip_bad, "N", help)->check(whole_number(0, INT32_MAX))->group("Data");
}

void add_data(CLI::App& app, Options& o) {
  add_option(app, "--data", o.data, "SPEC",
             "mnist:DIR, cifar10:DIR, cifar100:DIR, imagefolder:DIR, shapes; shape-masks; text:FILE, tokens:DIR,\n"
             "sentences, copy; tsv:PATH, subjects; synthetic (default: shapes, shape-masks, sentences or subjects,\n"
             "made to the network's size); after files ,val=X holds that share of them out for tests")
      ->group("Data");
  add_skip_bad(app, o,
               "Leaves out up to N image files that cannot be read; each is tried at the beginning (default 0)");
  add_batch(app, o, "Samples a step (default: the network's)");
}

void add_weights(CLI::App& app, Options& o) {
  add_option(app, "--weights", o.weights, "FILE|DIR", "Starts from these weights; of a checkpoint directory the best")
      ->group("Checkpoints");
}

void add_weights_of_run(CLI::App& app, Options& o) {
  add_option(app, "--weights", o.weights, "RUN|FILE",
             "Weights of a run's directory (its best), of a checkpoint's directory, or of a file; a run says\n"
             "its network, data, numbers, batch and seed, so that these need not be given")
      ->group("Checkpoints");
}

void add_seed(CLI::App& app, Options& o) {
  add_option(app, "--seed", o.seed, "N", "Seed of initial weights, data order and dropout (default 0)")
      ->check(whole_number(0))
      ->group("Training");
}

void add_optimizer(CLI::App& app, Options& o) {
  add_option(app, "--lr", o.lr, "X", "Learning rate (default: the network's)")
      ->check(positive_number())
      ->group("Training");
  add_option(app, "--schedule", o.schedule, "SPEC",
             "Course of the learning rate: constant, cosine, poly, one-cycle, step@30ex0.1, exp@1ex0.95,\n"
             "multistep@80e,120ex0.1; after any but one-cycle a warm-up: +warmup@500 (default: the network's)")
      ->group("Training");
  add_update_rule(app, o);
}

void add_update_rule(CLI::App& app, Options& o) {
  add_option(app, "--optimizer", o.optimizer, "NAME",
             "sgd, momentum, nesterov, adam, adamw or rmsprop (default: the network's)")
      ->check(such_as(optimizer_names()))
      ->group("Training");
  add_option(app, "--momentum", o.momentum, "X", "Momentum (default: the network's)")
      ->check(number_from_zero())
      ->group("Training");
  add_option(app, "--beta1", o.beta1, "X", "Of adam and adamw: what the mean of gradients keeps (default 0.9)")
      ->check(fraction())
      ->group("Training");
  add_option(app, "--beta2", o.beta2, "X", "Of adam and adamw: what the mean of their squares keeps (default 0.999)")
      ->check(fraction())
      ->group("Training");
  add_option(app, "--eps", o.eps, "X", "Of adam, adamw and rmsprop: what is added to a root (default 1e-8)")
      ->check(number_from_zero())
      ->group("Training");
  add_option(app, "--weight-decay", o.weight_decay, "X", "Weight decay, not on bias and norm (default: the network's)")
      ->check(number_from_zero())
      ->group("Training");
  app.add_flag("--decay-all", o.decay_all, "Weight decay on bias and norm too")->group("Training");
  add_option(app, "--decay", o.decay, "NAMES",
             "Weight decay on these parameters too: names with commas between, * for any characters")
      ->group("Training");
  add_option(app, "--no-decay", o.no_decay, "NAMES", "No weight decay on these parameters, as 'tokens.*,positions.*'")
      ->group("Training");
  add_option(app, "--loss-scale", o.loss_scale, "X",
             "Of --dtype f16: what the loss is scaled by at first (default 65536); it halves and doubles by itself")
      ->check(positive_number())
      ->group("Training");
  add_option(app, "--clip-norm", o.clip_norm, "X",
             "Scales gradients down to this global norm; 0: no limit (default: the network's)")
      ->check(number_from_zero())
      ->group("Training");
}

void add_threads(CLI::App& app, Options& o) {
  add_option(app, "--threads", o.device.threads, "N", "Worker threads (default 0: one a processor)")
      ->check(whole_number(0, kMostThreads))
      ->group("Machine");
}

void add_device_name(CLI::App& app, Options& o) {
  std::string names = "cpu, cuda, cuda:1... (default " + o.device.name + ")";
  if (!runs(o.command))
    names += ";\nor a GPU that is not there: " + joined(described_gpus()) +
             ",\nor a JSON file that describes one; ,memory=SIZE after it: with so much memory";
  std::vector<std::string> words = {"cpu", "cuda"};
  if (!runs(o.command))
    for (const std::string& gpu : described_gpus()) words.push_back(gpu);
  app.add_option_function<std::string>(
         "--device", [&o](const std::string& text) { read_device(text, o.device); }, names)
      ->option_text("NAME")
      ->take_last()
      ->check(such_as(words))
      ->group("Machine");
}

void add_machine(CLI::App& app, Options& o) {
  add_device_name(app, o);
  app.add_flag("--tf32", o.device.tf32, "On a GPU: convolutions and products may round f32 factors to TF32")
      ->group("Machine");
  app.add_flag("--fast-conv", o.device.fast_conv,
               "On a GPU: convolutions may round more: Winograd's algorithm, FFT, factors and sums in less than f32")
      ->group("Machine");
  app.add_flag("--deterministic", o.device.deterministic,
               "On a GPU: the same bits in every run (the CPU gives them anyway)")
      ->group("Machine");
  if (runs(o.command))
    app.add_flag("--eager", o.device.eager, "On a GPU: runs steps launch by launch, not as a recorded graph")
        ->group("Machine");
  app.add_option_function<std::string>(
         "--workspace-limit",
         [&o](const std::string& text) { o.device.workspace_limit = parse_bytes(text, "--workspace-limit"); },
         "On a GPU: scratch memory that one convolution may take (default 1GiB)")
      ->option_text("SIZE")
      ->take_last()
      ->group("Machine");
  app.add_flag(
         "--no-winograd", o.device.no_winograd,
         "On a CPU: no convolutions by Winograd's algorithm, which is faster for 3x3 and 5x5 kernels of stride 1,\n"
         "but rounds up to three times as much and takes more scratch memory")
      ->group("Machine");
  app.add_flag("--fast-f32", o.device.fast_f32,
               "On a CPU with AMX: f32 convolutions as three of bf16, which round more")
      ->group("Machine");
  if (o.command != Command::Tables)
    add_option(
        app, "--autotune", o.autotune, "FILE",
        "Takes for each convolution the algorithm (on a GPU cuDNN's engine) that is fastest here, which is tried once\n"
        "and kept in FILE (default: by rule)")
        ->group("Machine");
  add_threads(app, o);
}

void add_pins(CLI::App& app, Options& o) {
  add_option(app, "--skip-vars", o.memopt.levels.pins.skip_vars, "A,B", "Variables that keep memory of their own")
      ->take_all()
      ->allow_extra_args(false)
      ->delimiter(',')
      ->group("Memory");
  app.add_flag("--skip-grads", o.memopt.levels.pins.skip_grads,
               "So does each parameter gradient given to an optimizer op")
      ->group("Memory");
}

CLI::Option* add_memopt_text(CLI::App& app, Options& o, const std::string& help) {
  const auto read = [&o](const std::string& text) {
    check(o.command != Command::Count || asks_for_optnet(text), "--memopt ", text,
          ": count knows optnet=inference and optnet=training");
    o.memopt = memory_setting(text, o.memopt);
  };
  return app.add_option_function<std::string>("--memopt", read, help)->option_text("SETTING")->take_last();
}

void add_memopt(CLI::App& app, Options& o, const char* standard) {
  o.memopt = memory_setting(standard);
  std::string help =
      "none: a buffer for each variable; level=0: those of dead variables of the same shape;\n"
      "level=1: of any dead one that is large enough; each with ,release (given back within\n"
      "the step) and ,inplace; level=2: one exact arena, and norms and activations computed again where\n"
      "that is nearly free; level=3: all that a budget or an overhead asks for computed again";
  if (o.command == Command::Train || o.command == Command::Eval)
    help += "; optnet=training (eval: optnet=inference):\nthe modules and sharing behind optnet's tables";
  add_memopt_text(app, o, help + " (default " + standard + ")")->group("Memory");
  add_pins(app, o);
}

void add_budget(CLI::App& app, Options& o) {
  app.add_option_function<std::string>(
         "--memory-budget",
         [&o](const std::string& text) {
           o.memopt.levels.budget = parse_bytes(text, "--memory-budget");
           check(o.memopt.levels.budget > 0, "--memory-budget: nothing runs in ", text, " bytes");
         },
         "All that the device is asked for: 800MiB, 2GiB, 1500000000. Unless --memopt says another\nlevel, as little "
         "as it takes is computed again (level=3); exits with 3 if nothing fits")
      ->option_text("SIZE")
      ->group("Memory");
  app.add_option_function<std::string>(
         "--overhead", [&o](const std::string& text) { o.memopt.levels.overhead = parse_share(text, "--overhead"); },
         "Of level=3: what computing again may take of a step, such as 5% (default: as much as\na forward pass)")
      ->option_text("SHARE")
      ->take_last()
      ->group("Memory");
  add_option(
      app, "--costs", o.costs, "FILE",
      "Of level=3: weighs ops by what their kernels take here, which is measured once and kept in\nFILE (default: "
      "by their operations and bytes)")
      ->group("Memory");
}

void add_print_log(CLI::App& app, Options& o) {
  app.add_flag("--print-log", o.memopt.levels.print_log, "Prints who takes whose memory, and why others do not")
      ->group("Memory");
}

CLI::Option* add_interval(CLI::App& app, const char* name, std::optional<Interval>& value, const std::string& help) {
  const auto read = [&value, name](const std::string& text) { value = parse_interval(text, name); };
  return app.add_option_function<std::string>(name, read, help)->option_text("N|Ne");
}

void add_format(CLI::App& app, Options& o, std::vector<std::string> forms) {
  std::string help;
  for (const std::string& form : forms) help += help.empty() ? form + " (default)" : ", " + form;
  add_option(app, "--format", o.format, "FORM", help)->check(one_of(std::move(forms)))->group("Output");
}

}  // namespace lethe
