#include "train/tool_options.h"

#include "train/option_groups.h"
#include "train/report/layer_list.h"
#include "train/values.h"

namespace lethe {

void add_schema(CLI::App& app, Options& o) {
  add_option(app, "--layers", o.layers, "[NAME]",
             "Instead: layers with their keys, what these take, their defaults and bounds; NAME: that one alone")
      ->expected(0, 1)
      ->check(such_as(layer_names()));
}

void add_pack(CLI::App& app, Options& o) {
  add_option(app, "file", o.file, "FILE", "CSV with the columns id,lower,upper,size: bytes in the time [lower, upper)")
      ->required();
  add_option(app, "--capacity", o.capacity, "N", "Bytes of the arena: the first packing within them will do")
      ->check(whole_number(0))
      ->group("Packing");
  add_option(app, "--time", o.seconds, "S", "About as many seconds to search for a smaller arena (default 1)")
      ->check(number_from_zero())
      ->group("Packing");
  add_option(app, "--out", o.output, "FILE", "Writes id,lower,upper,size,offset there (default: standard output)")
      ->group("Packing");
}

void add_tokenize(CLI::App& app, Options& o) {
  app.add_option("file", o.files, "Text files; each is a document, or with --separator several")
      ->option_text("FILE...")
      ->required();
  add_option(app, "--out", o.output, "DIR", "Directory to make: shards of tokens, and what tells them apart")
      ->required();
  add_option(app, "--tokenizer", o.tokens.tokenizer, "DIR|bytes|chars",
             "bytes (default), chars: the characters that occur; DIR: GPT-2's, by vocab.json and merges.txt there\n"
             "(or encoder.json and vocab.bpe)");
  add_option(app, "--end-token", o.tokens.end_token, "TOKEN",
             "Stands behind each document: a token of GPT-2's files (default: <|endoftext|>, if it is there);\n"
             "of bytes and chars one more, whatever it is called (default: none)");
  add_option(app, "--separator", o.tokens.separator, "TEXT",
             "What stands between the documents of a file; is left out");
  add_option(app, "--val", o.tokens.validation, "PERCENT",
             "The last so many percent of the text are for tests (default 10)")
      ->check(number_from_zero());
  add_option(app, "--shard-tokens", o.tokens.shard_tokens, "N", "Most tokens of a file (default 100,000,000)")
      ->check(whole_number(1));
  app.add_flag("--quiet", o.quiet, "No progress; results and errors only");
}

void add_count(CLI::App& app, Options& o) {
  add_batch(app, o, "Samples (default: the network's)");
  o.memopt = memory_setting("optnet=inference");
  add_memopt_text(app, o,
                  "optnet=inference (default) or optnet=training; with commas behind it inplace, reuse_buffers,\n"
                  "remove_grad_params or none (default: all three)")
      ->group("Memory");
  add_option(app, "--backend", o.backend, "NAME",
             "Whose modules: nn (Torch's own, on the CPU) or cudnn (default: nn for f64, cudnn for f32)")
      ->check(one_of({"nn", "cudnn"}))
      ->group("Memory");
  add_format(app, o, {"text", "json"});
}

void add_tables(CLI::App& app, Options& o) {
  add_option(app, "--table", o.table, "N", "Only table 1, 2 or 3")->check(one_of({"1", "2", "3"}))->group("Tables");
  add_option(app, "--net", o.net, "NAME", "Only alexnet, vgg-A, googlenet or resnet110")
      ->check(one_of({"alexnet", "vgg-A", "googlenet", "resnet110"}))
      ->group("Tables");
  app.add_flag("--measure", o.measure, "Runs every network, before and after, and prints what the device handed out")
      ->group("Tables");
  add_machine(app, o);
  app.add_flag("--quiet", o.quiet, "No word on which network is being run")->group("Output");
  add_format(app, o, {"text", "md", "csv", "json"});
}

void add_device(CLI::App& app, Options& o) {
  o.device.name = "cuda";
  auto* const dump = app.add_flag("--dump", o.dump, "Writes a GPU's description, for train plan on another machine");
  dump->group("Output");
  add_device_name(app, o);
  app.get_option("--device")->needs(dump);
  add_option(app, "--out", o.output, "FILE", "Writes it there (default: standard output)")
      ->needs(dump)
      ->group("Output");
}

void add_completion(CLI::App& app, Options& o) {
  add_option(app, "shell", o.shell, "SHELL", "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
}

}  // namespace lethe
