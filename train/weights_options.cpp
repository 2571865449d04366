#include "train/weights_options.h"

#include "train/option_groups.h"
#include "train/values.h"

namespace lethe {

void add_eval(CLI::App& app, Options& o) {
  add_weights_of_run(app, o);
  add_seed(app, o);
  add_option(app, "--top", o.top, "K", "Also counts labels that are among the K largest logits")
      ->check(whole_number(1))
      ->group("Output");
  app.add_flag("--by-class", o.by_class, "Samples and accuracy of each class")->group("Output");
  app.add_flag("--confusion", o.confusion, "How many samples of each class were taken for which class")
      ->group("Output");
  add_format(app, o, {"text", "json"});
}

void add_predict(CLI::App& app, Options& o) {
  app.add_option("file", o.files,
                 "PNG and JPEG files, or directories of them; for a network that reads text, files of a text each line")
      ->option_text("FILE|DIR...")
      ->required();
  add_weights_of_run(app, o);
  add_option(app, "--data", o.data, "SPEC",
             "Data set that says how images are normalised, or what symbols of texts stand for, and what\n"
             "classes are called (default: the run's)")
      ->group("Data");
  add_skip_bad(app, o, "Passes over up to N image files that cannot be read, with a line for each (default 0)");
  add_batch(app, o, "Images or texts at a time (default 1)");
  o.top = 5;
  add_option(app, "--top", o.top, "K", "Likeliest classes that are named of each image or text (default 5)")
      ->check(whole_number(1))
      ->group("Output");
  add_format(app, o, {"text", "json"});
  add_machine(app, o);
  add_memopt(app, o, "level=2");
}

void add_generate(CLI::App& app, Options& o) {
  add_weights_of_run(app, o);
  add_option(app, "--data", o.data, "SPEC", "Data set whose characters the network knows (default: the run's)")
      ->group("Data");
  GenerationOptions& generation = o.generation;
  add_option(app, "--tokenizer", generation.tokenizer, "DIR",
             "Instead: GPT-2's vocab.json and merges.txt in this folder, for weights from elsewhere")
      ->group("Data");
  add_option(app, "--prompt", generation.prompt, "TEXT", "What is written on from")->group("Text");
  add_option(app, "--tokens", generation.tokens, "N", "Symbols that follow it (default 200)")
      ->check(whole_number(1))
      ->group("Text");
  add_option(app, "--stop", generation.stop, "TEXT", "Ends the text before the first TEXT behind the prompt")
      ->group("Text");
  app.add_flag("--ignore-eos", generation.ignores_end,
               "Goes on behind the end token of a document; a line of its own shows where that stood")
      ->group("Text");
  add_option(app, "--temperature", generation.sampling.temperature, "X",
             "Above 1 more varied, below 1 less; 0: always the likeliest symbol (default 1)")
      ->check(number_from_zero())
      ->group("Text");
  add_option(app, "--top-k", generation.sampling.top_k, "K", "Draws among the K likeliest symbols (default 0: all)")
      ->check(whole_number(0))
      ->group("Text");
  add_option(app, "--top-p", generation.sampling.top_p, "P",
             "Draws among the fewest of the likeliest symbols that have this probability in all (default 1)")
      ->check(portion())
      ->group("Text");
  add_option(app, "--seed", o.seed, "N", "Seed of what is drawn: the same text again (default 0)")
      ->check(whole_number(0))
      ->group("Text");
  app.add_flag("--no-cache", generation.no_cache,
               "Runs the network over the whole text again for each symbol: slower, the same text")
      ->group("Machine");
  app.add_flag("--plan", generation.plan,
               "Instead: the bytes that it takes, by category, before there is a prompt, or weights if --model\n"
               "names a network; also with --device h200 and the like")
      ->excludes("--prompt")
      ->excludes("--tokens")
      ->excludes("--stop")
      ->excludes("--ignore-eos")
      ->excludes("--temperature")
      ->excludes("--top-k")
      ->excludes("--top-p")
      ->group("Output");
  app.add_flag("--quiet", o.quiet, "The text and errors only")->group("Output");
  add_machine(app, o);
  add_memopt(app, o, "level=2");
}

void add_export(CLI::App& app, Options& o) {
  add_weights_of_run(app, o);
  add_seed(app, o);
  add_option(app, "--names", o.names, "LIBRARY",
             "Under the names, and in the layout, of a library that the network file states: huggingface, timm\n"
             "(default: the network's own)")
      ->check(such_as({"huggingface", "timm"}))
      ->group("Output");
  add_option(app, "--output", o.output, "FILE", "File to write")->required()->group("Output");
}

}  // namespace lethe
