// `train generate`: what a network has to say behind a prompt.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "framework/error.h"
#include "train/commands.h"
#include "train/data/sequences.h"
#include "train/data/tokenizer.h"
#include "train/recipe.h"
#include "train/report/decode_plan.h"
#include "train/report/formatted.h"
#include "train/report/memory_report.h"
#include "train/report/streams.h"
#include "train/session/cached_logits.h"
#include "train/session/device.h"
#include "train/session/metered_device.h"
#include "train/session/start.h"
#include "train/settings_of_options.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

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

/// By the tokenizer that the command line names.
Language language_of_tokenizer(const std::string& directory) {
  std::unique_ptr<Tokenizer> tokenizer = open_pairs(pair_files_in(directory));
  const std::optional<std::int32_t> end = tokenizer->token_of(kEndOfText);
  return {.vocabulary = std::move(tokenizer), .end = end};
}

/// By the data that the command line or the run names.
Language language_of_data(const Options& options, const Meaning& known, const Network& network) {
  const std::unique_ptr<Samples> data = open_data(options.data, options.seed.value_or(0), network, {}, known);
  const auto& sequences = dynamic_cast<const Sequences&>(*data);
  Language language{.vocabulary = sequences.vocabulary(), .end = sequences.end_symbol()};
  check(language.vocabulary != nullptr, "--data ", data->name(), ": its symbols stand for no text");
  return language;
}

Language language_of(const Options& given, const Options& options, const std::optional<SavedRun>& run,
                     const Network& network) {
  const Meaning known = meaning_of(run);
  if (!given.generation.tokenizer.empty()) {
    Language language = language_of_tokenizer(given.generation.tokenizer);
    check_means({.alphabet = known.alphabet, .tokenizer = known.tokenizer},
                {.tokenizer = language.vocabulary->identity()}, "--tokenizer " + given.generation.tokenizer);
    check_as(Exit::Data, language.symbols() <= network.classes, "--tokenizer ", given.generation.tokenizer, ": has ",
             language.symbols(), " tokens, the network tells ", network.classes, " apart");
    return language;
  }
  if (!known.alphabet.empty() && !given.data) return {.vocabulary = characters_of(known.alphabet)};
  return language_of_data(options, known, network);
}

std::vector<std::int32_t> prompt_of(const Options& options, const Vocabulary& vocabulary, std::int64_t context) {
  std::vector<std::int32_t> symbols =
      with_context("--prompt", [&] { return vocabulary.symbols_of(options.generation.prompt); });
  check(std::ssize(symbols) <= context, "--prompt has ", symbols.size(), " symbols, the network reads ", context,
        " at most");
  return symbols;
}

/// To standard output, at once.
void show_text(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  finish_output(written ? 0 : errno);
}

/// How the network reads text: by programs with a cache if it can, else its whole window for each symbol.
class TextReading {
 public:
  TextReading(const ProgramSetting& setting, bool cached, Prepared& prepared)
      : network_(build_network(setting.network, false)), context_(context_of(network_)) {
    if (cached) programs_ = decode_programs(network_, setting.network, kReadAtOnce, &why_no_cache_);
    if (programs_)
      cached_ = plan_decode(*programs_, setting.memory, prepared);
    else
      whole_ = plan_evaluation(network_, setting.memory, prepared);
  }
  bool is_cached() const { return programs_.has_value(); }
  /// Why there is none although a cache was asked for; else empty.
  const std::string& why_no_cache() const { return why_no_cache_; }
  const Network& window() const { return network_; }
  std::int64_t context() const { return context_; }
  /// What runs for each symbol.
  const Network& runs() const { return programs_ ? programs_->next.network : network_; }
  const Planned& planned() const { return programs_ ? cached_.next : whole_; }
  const Bytes& bytes() const { return programs_ ? cached_.together.bytes : whole_.plan.bytes; }
  bool takes_on_demand() const { return planned().plan.on_demand > 0; }
  std::int64_t reserved(std::int64_t alignment) const {
    if (!programs_) return reserved_bytes({&whole_}, 0, alignment);
    std::vector<const Planned*> planned = {&cached_.next};
    if (cached_.fill) planned.push_back(&*cached_.fill);
    return reserved_bytes(planned, cached_.together.arena, alignment);
  }
  std::unique_ptr<NextLogits> begin(Prepared& prepared, Store& store) const {
    if (programs_) return std::make_unique<CachedLogits>(*programs_, cached_, prepared, store);
    return std::make_unique<WindowLogits>(network_, whole_, prepared, store);
  }

 private:
  Network network_;
  std::int64_t context_;
  std::string why_no_cache_ = {};
  std::optional<DecodePrograms> programs_;
  DecodePlans cached_ = {};
  Planned whole_ = {};
};

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

/// Shows text up to where another begins, each character as soon as it is none of that.
class TextUntil {
 public:
  explicit TextUntil(const std::string& stop) : stop_(stop) {}
  /// Whether the text goes on.
  bool add(const std::string& text) {
    held_ += text;
    const std::size_t found = stop_.empty() ? std::string::npos : held_.find(stop_);
    const bool goes_on = found == std::string::npos;
    show(goes_on ? held_.size() - begun() : found);
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
void continue_text(std::vector<std::int32_t> symbols, const Language& language, const GenerationOptions& options,
                   NextLogits& next, const Notify& note) {
  show_text(options.prompt);
  Stopwatch stopwatch;
  std::vector<double> logits = next.after(symbols);
  const std::string read = stopwatch.lap(std::ssize(symbols));
  TextUntil text(options.stop);
  std::int64_t written = 0;
  for (;;) {
    logits.resize(static_cast<std::size_t>(std::min(std::ssize(logits), language.symbols())));
    symbols.push_back(draw(logits, options.sampling, std::ssize(symbols)));
    ++written;
    if (symbols.back() == language.end && !options.ignores_end) break;
    if (!text.add(language.text_of(symbols.back())) || written == options.tokens) break;
    logits = next.after(symbols);
  }
  text.finish();
  show_text("\n");
  note("read " + read);
  note("wrote " + stopwatch.lap(written));
}

/// By the run that the weights are of, if they are of one.
Options decided_for_text(const Options& given, const std::optional<SavedRun>& run) {
  const bool known = !given.weights.empty() || (given.generation.plan && !given.model.empty());
  check(known, "--weights is missing: the directory of a run or checkpoint, or a safetensors file");
  check(!given.data || given.generation.tokenizer.empty(), "--data and --tokenizer say the same; give one of them");
  check(given.generation.plan || given.given.contains("prompt"), "--prompt is required: what is written on from");
  Options options = given.weights.empty() ? decided(given) : decided_by_run(given, run);
  options.batch = 1;
  options.generation.sampling.seed = given.seed.value_or(0);  // not that of the run
  return options;
}

int plan_text_of(const Options& options) {
  Prepared prepared(device_info(options.device));
  const TextReading reading(program_setting(options), !options.generation.no_cache, prepared);
  const Network& network = reading.window();
  write_result("", decode_plan_text(network.name, reading.context(), options.dtype, reading.is_cached(),
                                    reading.planned(), reading.bytes()));
  return 0;
}

}  // namespace

int generate(const Options& given) {
  const std::optional<SavedRun> run = run_of_weights(given.weights);
  const Options options = decided_for_text(given, run);
  if (options.generation.plan) return plan_text_of(options);
  MeteredDevice device(open_device(options.device));
  Prepared prepared(device);
  const TextReading reading(program_setting(options), !options.generation.no_cache, prepared);
  const Network& network = reading.window();
  if (given.generation.tokenizer.empty()) check_data_known(options, run);
  const Language language = language_of(given, options, run, network);
  std::vector<std::int32_t> symbols = prompt_of(options, *language.vocabulary, reading.context());
  const auto note = [&](const std::string& line) {
    if (!options.quiet) std::fprintf(stderr, "%s\n", line.c_str());
  };
  note_other_numbers(options, run, note);
  if (!reading.why_no_cache().empty())
    note(message("note: ", network.name, " reads the whole text again for each symbol: ", reading.why_no_cache()));
  note(predicted_line(reading.bytes()));
  device.reserve(reading.reserved(device.info().alignment));
  Store store(device);
  const std::unique_ptr<NextLogits> next = reading.begin(prepared, store);
  read_weights(options.weights, store, reading.runs());
  continue_text(std::move(symbols), language, options.generation, *next, note);
  note(taken_line(device.peak(), reading.bytes().total(), reading.takes_on_demand()));
  return 0;
}

}  // namespace lethe
