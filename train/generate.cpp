// `train generate`: what a network has to say behind a prompt.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "framework/error.h"
#include "train/commands.h"
#include "train/data/sequences.h"
#include "train/recipe.h"
#include "train/report/decode_plan.h"
#include "train/report/formatted.h"
#include "train/report/memory_report.h"
#include "train/report/streams.h"
#include "train/session/cached_logits.h"
#include "train/session/device.h"
#include "train/session/metered_device.h"
#include "train/session/start.h"
#include "train/session/weights.h"
#include "train/settings_of_options.h"

namespace lethe {
namespace {

/// That of the data which the network was trained on.
std::unique_ptr<Vocabulary> vocabulary_of(const Options& options, const Network& network) {
  const std::unique_ptr<Samples> data = open_data(options.data, options.seed.value_or(0), network);
  std::unique_ptr<Vocabulary> vocabulary = dynamic_cast<const Sequences&>(*data).vocabulary();
  check(vocabulary != nullptr, "--data ", data->name(), ": its symbols stand for no text");
  return vocabulary;
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

/// Prints the prompt and what follows it, symbol by symbol.
void continue_text(std::vector<std::int32_t> symbols, const Vocabulary& vocabulary, const GenerationOptions& options,
                   NextLogits& next) {
  show_text(options.prompt);
  for (std::int64_t i = 0; i < options.tokens; ++i) {
    std::vector<double> logits = next.after(symbols);
    logits.resize(static_cast<std::size_t>(std::min(std::ssize(logits), vocabulary.size())));
    symbols.push_back(draw(logits, options.sampling, std::ssize(symbols)));
    show_text(vocabulary.text_of(symbols.back()));
  }
  show_text("\n");
}

/// What says which symbol follows, and where every byte of it will live.
struct Generator {
  Network network = {};
  std::optional<DecodeProgram> decoder = {};  // none: the network runs over its whole window
  Planned planned = {};
  const Network& runs() const { return decoder ? decoder->network : network; }
};

Generator generator_of(const ProgramSetting& setting, Prepared& prepared, bool no_cache) {
  Generator made{.network = build_network(setting.network, false)};
  if (!no_cache) made.decoder = decode_program(made.network, setting.network);
  made.planned = plan_evaluation(made.runs(), setting.memory, prepared);
  return made;
}

/// By the run that the weights are of, if they are of one.
Options decided_for_text(const Options& given) {
  const bool known = !given.weights.empty() || (given.generation.plan && !given.model.empty());
  check(known, "--weights is missing: the directory of a run or checkpoint, or a safetensors file");
  check(given.generation.plan || given.given.contains("prompt"), "--prompt is required: what is written on from");
  Options options = given.weights.empty() ? decided(given) : decided_by_run(given, run_of_weights(given.weights));
  options.batch = 1;
  options.generation.sampling.seed = given.seed.value_or(0);  // not that of the run
  return options;
}

int plan_text_of(const Options& options) {
  Prepared prepared(device_info(options.device));
  const Generator generator = generator_of(program_setting(options), prepared, options.generation.no_cache);
  const std::int64_t context = context_of(generator.network);
  write_result("", decode_plan_text(generator.network.name, context, options.dtype, generator.decoder.has_value(),
                                    generator.planned));
  return 0;
}

}  // namespace

int generate(const Options& given) {
  const Options options = decided_for_text(given);
  if (options.generation.plan) return plan_text_of(options);
  MeteredDevice device(open_device(options.device));
  Prepared prepared(device);
  const Generator generator = generator_of(program_setting(options), prepared, options.generation.no_cache);
  const Network& network = generator.network;
  const Planned& planned = generator.planned;
  const std::int64_t context = context_of(network);
  const std::unique_ptr<Vocabulary> vocabulary = vocabulary_of(options, network);
  std::vector<std::int32_t> symbols = prompt_of(options, *vocabulary, context);
  const auto note = [&](const std::string& line) {
    if (!options.quiet) std::fprintf(stderr, "%s\n", line.c_str());
  };
  if (!generator.decoder && !options.generation.no_cache)
    note(message("note: ", network.name,
                 " looks back by more than causal attention: it reads the whole text again for ", "each symbol"));
  note(predicted_line(planned.plan.bytes));
  device.reserve(reserved_bytes({&planned}, 0, device.info().alignment));
  Store store(device);
  std::unique_ptr<NextLogits> next;
  if (generator.decoder)
    next = std::make_unique<CachedLogits>(*generator.decoder, planned, prepared, store, context);
  else
    next = std::make_unique<WindowLogits>(network, planned, prepared, store);
  load_weights(weights_file(options.weights), store, generator.runs());
  const auto begin = std::chrono::steady_clock::now();
  continue_text(std::move(symbols), *vocabulary, options.generation, *next);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  note(formatted("%lld symbols in %.2f s, %.1f a second", static_cast<long long>(options.generation.tokens),
                 spent.count(), static_cast<double>(options.generation.tokens) / spent.count()));
  note(taken_line(device.peak(), planned.plan.bytes.total(), planned.plan.on_demand > 0));
  return 0;
}

}  // namespace lethe
