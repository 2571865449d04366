// `train generate`: what a network has to say after a prompt.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/sequences.h"
#include "train/data/unicode.h"
#include "train/option_groups.h"
#include "train/recipe.h"
#include "train/report/memory_report.h"
#include "train/report/option_names.h"
#include "train/report/streams.h"
#include "train/session/device.h"
#include "train/session/logits.h"
#include "train/session/metered_device.h"
#include "train/session/start.h"
#include "train/session/text_reading.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

/// What is asked of the text.
struct TextAsked {
  std::string prompt = {};
  std::int64_t tokens = 200;  // symbols that follow it
  Sampling sampling = {};
  bool plan = false;         // says what it takes, and stops
  std::string stop = {};     // the text ends before this one; "": it does not
  bool ignores_end = false;  // goes on after the end of a document
  bool no_cache = false;     // runs the network over the whole window for each symbol
};

/// What symbols stand for in the data that the network was trained on.
struct Language {
  std::unique_ptr<Vocabulary> vocabulary = {};
  std::optional<std::int32_t> end = {};  // of a document

  /// Numbers below this may be drawn.
  std::int64_t symbols() const { return std::max<std::int64_t>(vocabulary->size(), end ? *end + 1 : 0); }
  /// A line of its own for the end of a document.
  std::string text_of(std::int32_t symbol) const {
    const std::string text = vocabulary->text_of(symbol);
    return symbol != end ? text : "\n" + (text.empty() ? kEndOfText : text) + "\n";
  }
};

/// By the tokenizer that the command line, the model or the run names.
Language language_of_tokenizer(const std::string& directory) {
  FolderTokenizer folder = open_folder_tokenizer(directory);
  return {.vocabulary = std::move(folder.tokenizer), .end = folder.end};
}

/// By the data that the command line or the run names.
Language language_of_data(const Options& options, const Meaning& known, const Network& network) {
  const std::unique_ptr<Samples> data = open_data(options.data, options.program.network.seed, network, {}, known);
  const auto& sequences = data_that_says<Sequences>(*data);
  Language language{.vocabulary = sequences.vocabulary(), .end = sequences.end_symbol()};
  check(language.vocabulary != nullptr, "--data ", data->name(), ": its symbols stand for no text");
  return language;
}

Language language_of(const Options& given, const Options& options, const std::optional<SavedRun>& run,
                     const Network& network) {
  const Meaning known = meaning_of(run);
  if (const std::string& folder = options.data.tokenizer; !folder.empty() && !given.data.spec) {
    Language language = language_of_tokenizer(folder);
    check_means({.alphabet = known.alphabet, .tokenizer = known.tokenizer},
                {.tokenizer = language.vocabulary->identity()}, "--tokenizer " + folder);
    check_as(Exit::Data, language.symbols() <= network.classes, "--tokenizer ", folder, ": has ", language.symbols(),
             " tokens, the network tells ", network.classes, " apart");
    return language;
  }
  if (!known.alphabet.empty() && !given.data.spec) return {.vocabulary = characters_of(known.alphabet)};
  return language_of_data(options, known, network);
}

std::vector<std::int32_t> prompt_of(const TextAsked& asked, const Vocabulary& vocabulary, std::int64_t context) {
  const std::vector<std::int32_t> text = with_context("--prompt", [&] { return vocabulary.symbols_of(asked.prompt); });
  std::vector<std::int32_t> symbols = vocabulary.frame().before;
  symbols.insert(symbols.end(), text.begin(), text.end());
  check(std::ssize(symbols) <= context, "--prompt has ", symbols.size(), " symbols, the network reads ", context,
        " at most");
  return symbols;
}

/// To standard output, at once.
void show_text(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  finish_output(written ? 0 : errno);
}

class Stopwatch {
 public:
  /// "200 symbols in 1.25 s, 160.0 a second", since the last call.
  std::string lap(std::int64_t symbols) {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> spent = now - std::exchange(begin_, now);
    return formatted("%lld symbols in %.2f s, %.1f a second", static_cast<long long>(symbols), spent.count(),
                     static_cast<double>(symbols) / spent.count());
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// How many bytes at the end of a text are the front of a character whose others have not come yet.
std::size_t cut_character(std::string_view text) {
  for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(text.size(), 3); ++bytes) {
    const auto lead = static_cast<unsigned char>(text[text.size() - bytes]);
    if ((lead & 0xc0) != 0x80) return lead >= (bytes == 1 ? 0xc2 : bytes == 2 ? 0xe0 : 0xf0) && lead < 0xf5 ? bytes : 0;
  }
  return 0;
}

/// Shows text up to where another begins, each character as soon as it is whole and none of that.
class TextUntil {
 public:
  explicit TextUntil(const std::string& stop) : stop_(stop) {}
  /// Whether the text goes on.
  bool add(const std::string& text) {
    held_ += text;
    const std::size_t found = stop_.empty() ? std::string::npos : held_.find(stop_);
    const bool goes_on = found == std::string::npos;
    show(goes_on ? held_.size() - std::max(begun(), cut_character(held_)) : found);
    if (!goes_on) held_.clear();
    return goes_on;
  }
  void finish() { show(held_.size()); }

 private:
  void show(std::size_t bytes) {
    if (bytes > 0) show_text(held_.substr(0, bytes));
    held_.erase(0, bytes);
  }
  /// How many of the last characters may be the front of what the text ends before.
  std::size_t begun() const {
    std::size_t most = std::min(held_.size(), stop_.size());
    while (most > 0 && !held_.ends_with(std::string_view(stop_).substr(0, most))) --most;
    return most;
  }

  const std::string& stop_;
  std::string held_ = {};
};

/// Prints the prompt and what follows it, symbol by symbol; then how fast that went.
void continue_text(std::vector<std::int32_t> symbols, const Language& language, const TextAsked& asked,
                   NextLogits& next, const Notify& note) {
  show_text(asked.prompt);
  Stopwatch stopwatch;
  std::vector<double> logits = next.after(symbols);
  const std::string read = stopwatch.lap(std::ssize(symbols));
  TextUntil text(asked.stop);
  std::int64_t written = 0;
  for (;;) {
    logits.resize(static_cast<std::size_t>(std::min(std::ssize(logits), language.symbols())));
    symbols.push_back(draw(logits, asked.sampling, std::ssize(symbols)));
    ++written;
    if (symbols.back() == language.end && !asked.ignores_end) break;
    std::string next_text = language.text_of(symbols.back());
    if (written == 1 && asked.prompt.empty() && language.vocabulary->adds_blank() && next_text.starts_with(' '))
      next_text.erase(0, 1);
    if (!text.add(next_text) || written == asked.tokens) break;
    logits = next.after(symbols);
  }
  text.finish();
  show_text("\n");
  note("read " + read);
  note("wrote " + stopwatch.lap(written));
}

/// By the run that the weights are of, if they are of one.
Options decided_for_text(const TextAsked& asked, const Options& given, const std::optional<SavedRun>& run) {
  const bool known = !given.checkpoints.weights.path.empty() || (asked.plan && !given.program.network.model.empty());
  check(known, "--weights is missing: the directory of a run or checkpoint, or a safetensors file");
  check(asked.plan || given.given.contains("prompt"), "--prompt is required: what is written on from");
  Options options = given.checkpoints.weights.path.empty() ? decided(given) : decided_by_run(given, run);
  options.program.network.batch = 1;
  options.program.network.packed = false;  // it goes on with one text, whatever the run learned from
  return options;
}

int plan_text_of(const TextAsked& asked, const Options& options) {
  Prepared prepared(device_info(options.device));
  const TextReading reading(options.program, !asked.no_cache, prepared);
  const Network& network = reading.window();
  write_result("", decode_plan_text(network.name, reading.context(), options.program.network.dtype, reading.is_cached(),
                                    reading.planned(), reading.bytes()));
  return 0;
}

int generate(const TextAsked& asked, const Options& given) {
  const std::optional<SavedRun> run = run_of_weights(given.checkpoints.weights.path);
  const Options options = decided_for_text(asked, given, run);
  if (asked.plan) return plan_text_of(asked, options);
  MeteredDevice device(open_device(options.device));
  Prepared prepared(device);
  const TextReading reading(options.program, !asked.no_cache, prepared);
  const Network& network = reading.window();
  if (options.data.tokenizer.empty()) check_data_known(options, run);
  const Language language = language_of(given, options, run, network);
  std::vector<std::int32_t> symbols = prompt_of(asked, *language.vocabulary, reading.context());
  const auto note = [&](const std::string& line) {
    if (!options.quiet) say(line);
  };
  note_other_numbers(options, run, note);
  if (!reading.why_no_cache().empty())
    note(message("note: ", network.name, " reads the whole text again for each symbol: ", reading.why_no_cache()));
  note(predicted_line(reading.bytes()));
  device.reserve(reading.reserved(device.info().alignment));
  Store store(device);
  const std::unique_ptr<NextLogits> next = reading.begin(prepared, store);
  read_weights(options.checkpoints.weights, store, reading.runs(), note);
  continue_text(std::move(symbols), language, asked, *next, note);
  note(taken_line(device.peak(), reading.bytes().total(), reading.takes_on_demand()));
  return 0;
}

Run declare_generate(OptionSet& set, Options& o) {
  const auto own = std::make_shared<TextAsked>();
  o.program.network.logits = true;
  add_network(set, o);
  add_weights_of_run(set, o);
  add_ignore(set, o);
  set.in("Data");
  set.add("--data", o.data.spec, "SPEC", "Data set whose characters the network knows (default: the run's)")
      ->is({Fact::OfNetwork});
  add_tokenizer(set, o);
  set.in("Text");
  set.add("--prompt", own->prompt, "TEXT", "What is written on from");
  set.add("--tokens", own->tokens, "N", "Symbols that follow it (default 200)")->check(whole_number(1));
  set.add("--stop", own->stop, "TEXT", "Ends the text before the first TEXT after the prompt");
  set.add_flag("--ignore-eos", own->ignores_end,
               "Goes on after the end token of a document; a line of its own shows where that stood");
  set.add("--temperature", own->sampling.temperature, "X",
          "Above 1 more varied, below 1 less; 0: always the likeliest symbol (default 1)")
      ->check(number_from_zero());
  set.add("--top-k", own->sampling.top_k, "K", "Draws among the K likeliest symbols (default 0: all)")
      ->check(whole_number(0));
  set.add("--top-p", own->sampling.top_p, "P",
          "Draws among the fewest of the likeliest symbols that have this probability in all (default 1)")
      ->check(portion());
  set.add("--seed", o.program.network.seed, "N", "Seed of what is drawn: the same text again (default 0)")
      ->check(whole_number(0))
      ->is({Fact::OfNetwork});
  set.in("Machine");
  set.add_flag("--no-cache", own->no_cache,
               "Runs the network over the whole text again for each symbol: slower, the same text");
  set.in("Output");
  set.add_flag("--plan", own->plan,
               "Instead: the bytes that it takes, by category, before there is a prompt, or weights if --model\n"
               "names a network; also with --device h200 and the like")
      ->excludes("--prompt")
      ->excludes("--tokens")
      ->excludes("--stop")
      ->excludes("--ignore-eos")
      ->excludes("--temperature")
      ->excludes("--top-k")
      ->excludes("--top-p");
  set.finally([&o, own] {
    o.facts.runs = !own->plan;
    own->sampling.seed = o.program.network.seed;  // not that of the run
  });
  set.add_flag("--quiet", o.quiet, "The text and errors only");
  add_machine(set, o);
  add_memopt(set, o, "level=2");
  return [own](const Options& options) { return generate(*own, options); };
}

const RegisterCommand generate_command{
    {.word = "generate",
     .help = "Writes on from a prompt, as a network that was trained on text does.",
     .examples = {{"train generate --weights runs/chars --prompt the --tokens 200",
                   "the same again with the same --seed"},
                  {"train generate --weights runs/chars --prompt the --temperature 0", "always what is likeliest"}},
     .facts = {.runs = true, .takes_run = true, .evaluates = true},
     .declare = declare_generate}};

}  // namespace
}  // namespace lethe
