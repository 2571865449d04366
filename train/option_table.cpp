#include "train/option_table.h"

#include <cstdint>

#include "train/command_table.h"
#include "train/option_groups.h"
#include "train/quantities.h"
#include "train/report/bench_report.h"
#include "train/report/text_table.h"
#include "train/session/lr_sweep.h"
#include "train/tool_options.h"
#include "train/values.h"
#include "train/weights_options.h"

namespace lethe {
namespace {

void add_augment(CLI::App& app, Options& o) {
  add_option(app, "--augment", o.augment, "LIST",
             "none, or with commas: pad-crop, flip, cutout, random-crop (default: the network's)")
      ->group("Data");
}

void add_training(CLI::App& app, Options& o) {
  add_augment(app, o);
  add_option(app, "--epochs", o.epochs, "E", "Passes over the data (default: the network's)")
      ->check(whole_number(1))
      ->group("Training");
  add_option(app, "--steps", o.steps, "S", "Steps, instead of epochs")
      ->check(whole_number(1))
      ->excludes("--epochs")
      ->group("Training");
  add_option(app, "--patience", o.patience, "N",
             "Stops when N evaluations in a row bring no better accuracy (default: the network's, else 0: never)")
      ->check(whole_number(0))
      ->group("Training");
  add_optimizer(app, o);
  add_seed(app, o);
}

void add_checkpoints(CLI::App& app, Options& o) {
  add_option(app, "--save", o.save, "DIR", "Writes checkpoints there: the newest and the best by evaluation")
      ->group("Checkpoints");
  add_interval(app, "--save-every", o.save_every, "Every N steps, or N epochs with an e behind (default 1e)")
      ->group("Checkpoints");
  add_option(app, "--keep", o.keep, "N", "Newest checkpoints kept, beside the best (default 2)")
      ->check(whole_number(1, INT32_MAX))
      ->group("Checkpoints");
  app.add_option_function<std::string>(
         "--checkpoint", [&o](const std::string& form) { o.ranks.sharded = form == "sharded"; },
         "whole: one rank writes all of it (default); sharded: each rank a file with its share of every tensor")
      ->option_text("FORM")
      ->take_last()
      ->check(one_of({"whole", "sharded"}))
      ->group("Checkpoints");
  add_option(app, "--resume", o.resume, "DIR|auto",
             "Goes on, bit for bit, where a run stopped, with its settings; auto: if --save has one")
      ->group("Checkpoints");
  add_weights(app, o);
  app.get_option("--weights")->excludes("--resume");
}

void add_reports(CLI::App& app, Options& o) {
  add_interval(app, "--eval-every", o.eval_every, "Evaluates every N steps or Ne epochs; 0 never (default 1e)")
      ->group("Reports");
  add_option(app, "--log-every", o.log_every, "N", "Steps between records (default 0: about one a second)")
      ->check(whole_number(0, INT32_MAX))
      ->group("Reports");
  add_option(app, "--metrics", o.metrics, "FILE",
             "Writes records as CSV; a resumed run goes on in it (default with --save: DIR/metrics.csv)")
      ->group("Reports");
  add_option(app, "--log-json", o.log_json, "FILE", "The same records as JSON lines")->group("Reports");
  add_option(app, "--tensorboard", o.tensorboard, "DIR", "The same records as an event file for TensorBoard")
      ->group("Reports");
  app.add_flag("--quiet", o.quiet, "No progress; results and errors only")->group("Reports");
}

void add_lr_find(CLI::App& app, Options& o) {
  add_augment(app, o);
  o.steps = 100;
  add_option(app, "--min-lr", o.min_lr, "X", "Learning rate of the first step (default 1e-7)")
      ->check(positive_number())
      ->group("Sweep");
  add_option(app, "--max-lr", o.max_lr, "X", "Learning rate of the last step (default 10)")
      ->check(positive_number())
      ->group("Sweep");
  add_option(app, "--steps", o.steps, "N", "Steps, each with a rate that is larger by the same factor (default 100)")
      ->check(whole_number(kFewestSweptSteps))
      ->group("Sweep");
  add_update_rule(app, o);
  add_seed(app, o);
  add_weights(app, o);
  add_format(app, o, {"text", "json"});
  add_option(app, "--out", o.output, "FILE", "Also writes the picture there, a page for a browser: lr.html")
      ->group("Output");
}

void add_show(CLI::App& app, Options& o) {
  add_weights_of_run(app, o);
  add_batch(app, o, "Samples a step (default: as few as the network can be trained with)");
  add_micro_batch(app, o);
  add_optimizer(app, o);
  add_machine(app, o);
  add_memopt(app, o, "none");
  add_option(
      app, "--format", o.format, "FORM",
      "text: a table of layers (default); program, json or dot:\nthe training program with its backward and update ops")
      ->check(one_of({"text", "program", "json", "dot"}))
      ->group("Output");
  app.add_flag("--eval", o.inference, "The program of evaluation instead")->group("Output");
}

void add_plan(CLI::App& app, Options& o) {
  add_batch(app, o, "Samples a step (default: the network's)");
  add_micro_batch(app, o);
  add_context(app, o);
  add_ranks(app, o);
  add_optimizer(app, o);
  app.add_flag("--eval", o.inference, "Plans evaluation instead of training")->group("Data");
  add_interval(app, "--eval-every", o.eval_every, "0: training alone; else evaluation between its steps too (default)")
      ->excludes("--eval")
      ->group("Data");
  add_machine(app, o);
  add_memopt(app, o, "level=2");
  add_print_log(app, o);
  add_budget(app, o);
  app.add_flag("--json", o.json, "The figures as JSON")->group("Output");
  app.add_flag("--sweep", o.sweep, "What level=3 takes at each price, instead of the plan of one setting")
      ->excludes("--eval")
      ->excludes("--memopt")
      ->excludes("--memory-budget")
      ->excludes("--overhead")
      ->group("Output");
  add_option(app, "--out", o.output, "FILE",
             "With --sweep or --ranks A..B: also writes the picture of that there, as SVG")
      ->group("Output");
  add_option(app, "--csv", o.csv, "FILE", "Writes what the arena packs, as train pack reads it (level=2)")
      ->group("Output");
  app.add_flag("--roofline", o.roofline,
               "Instead: launches, operations and bytes of a step by op, and the least time they take on that GPU")
      ->excludes("--sweep")
      ->excludes("--csv")
      ->group("Output");
}

void add_bench(CLI::App& app, Options& o) {
  add_data(app, o);
  add_micro_batch(app, o);
  add_optimizer(app, o);
  add_seed(app, o);
  add_machine(app, o);
  add_pins(app, o);
  o.steps = 12;
  add_option(app, "--steps", o.steps, "S", "Steps a process (default 12)")
      ->check(whole_number(kWarmUpSteps + 1))
      ->group("Bench");
  add_option(app, "--settings", o.settings, "LIST",
             "Settings of --memopt, with semicolons between them; behind one also other options,\nas in "
             "\"level=2;level=3 --memory-budget 2GiB\" (default \"" +
                 o.settings + "\")")
      ->group("Bench");
  app.add_flag("--sweep", o.sweep, "Instead: level=3 at several prices, from none on, and level=2")
      ->excludes("--settings")
      ->group("Bench");
  app.add_flag("--profile", o.profile, "Instead: where the time of a step goes, by op and by whose code runs it")
      ->excludes("--settings")
      ->excludes("--sweep")
      ->group("Bench");
  add_option(app, "--rounds", o.rounds, "N", "Processes a setting, in turns (default 3)")
      ->check(whole_number(1))
      ->group("Bench");
  app.add_flag("--count", o.count,
               "Instead: launches and bytes moved of a step at level=2, by op, on a GPU that need not be there")
      ->excludes("--settings")
      ->excludes("--sweep")
      ->excludes("--profile")
      ->excludes("--steps")
      ->excludes("--rounds")
      ->group("Bench");
  add_format(app, o, {"text", "md", "csv", "json"});
}

void add_picture(CLI::App& app, Options& o) {
  add_batch(app, o, "Samples a step (default: the network's)");
  add_micro_batch(app, o);
  add_optimizer(app, o);
  app.add_flag("--eval", o.inference, "Of evaluation instead of training")->group("Data");
  add_machine(app, o);
}

void add_graph(CLI::App& app, Options& o) {
  add_picture(app, o);
  add_memopt(app, o, "level=2");
  add_option(app, "--out", o.output, "FILE", "Writes the picture there (default: standard output)")->group("Output");
}

void add_timeline(CLI::App& app, Options& o) {
  add_picture(app, o);
  add_option(app, "--out", o.output, "FILE", "Writes the page there, such as timeline.html")
      ->required()
      ->group("Output");
}

void add_options(CLI::App& app, Options& o) {
  if (o.command == Command::Schema) return add_schema(app, o);
  if (o.command == Command::Pack) return add_pack(app, o);
  if (o.command == Command::Tokenize) return add_tokenize(app, o);
  if (o.command == Command::Tables) return add_tables(app, o);
  if (o.command == Command::Device) return add_device(app, o);
  if (o.command == Command::Completion) return add_completion(app, o);
  if (!has_network(o.command)) return;
  add_network(app, o);
  if (o.command == Command::Train || o.command == Command::Eval || o.command == Command::LrFind)
    add_data(app, o), add_machine(app, o), add_memopt(app, o, "level=2"), add_print_log(app, o);
  if (o.command == Command::Train)
    add_micro_batch(app, o), add_ranks(app, o), add_budget(app, o), add_training(app, o), add_checkpoints(app, o),
        add_reports(app, o);
  if (o.command == Command::Eval) add_eval(app, o);
  if (o.command == Command::Predict) add_predict(app, o);
  if (o.command == Command::Generate) add_generate(app, o);
  if (o.command == Command::LrFind) add_lr_find(app, o);
  if (o.command == Command::Show) add_show(app, o);
  if (o.command == Command::Plan) add_plan(app, o);
  if (o.command == Command::Bench) add_bench(app, o);
  if (o.command == Command::Graph) add_graph(app, o);
  if (o.command == Command::Timeline) add_timeline(app, o);
  if (o.command == Command::Export) add_export(app, o);
  if (o.command == Command::Count) add_count(app, o);
}

std::string description_of(const CommandInfo& info) {
  TextRows rows;
  for (const Example& example : info.examples) rows.push_back({example.line, std::string("# ") + example.what});
  return std::string(info.help) + "\n\n" + text_table(rows, 2, "  ");
}

std::string commands_help() {
  TextRows rows;
  for (const CommandInfo& info : command_table())
    if (*info.word) rows.push_back({info.word, info.help});
  return "Commands (each has its own --help):\n" + text_table(rows, 2, "  ");
}

}  // namespace

bool has_network(Command command) {
  using enum Command;
  for (const Command other : {Schema, Pack, Tokenize, Tables, Device, Completion, Man})
    if (command == other) return false;
  return true;
}

bool runs(Command command) {
  using enum Command;
  for (const Command other : {Train, Eval, Predict, Generate, LrFind, Bench, Tables})
    if (command == other) return true;
  return false;
}

void set_up(CLI::App& app, Options& o) {
  const CommandInfo& info = info_of(o.command);
  app.name(call_of(info));
  app.description(description_of(info));
  app.get_formatter()->column_width(26);
  app.set_version_flag("--version", "lethe " LETHE_VERSION);
  if (o.command == Command::Train) app.footer(commands_help());
  add_options(app, o);
}

}  // namespace lethe
