// `train count`: what optnet's countUsedMemory says of a network, before and after its optimisation.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "train/option_groups.h"
#include "train/optnet/optnet_count.h"
#include "train/optnet/torch_notes.h"
#include "train/recipe.h"
#include "train/report/streams.h"
#include "train/session/programs.h"

namespace lethe {
namespace {

using Json = nlohmann::ordered_json;

const std::string kOptnetSetting = std::string(kOptnetWord) + '=';

struct Line {
  const char* name;
  std::int64_t before, after;
};

std::vector<Line> lines_of(const OptnetCount& c) {
  return {{"outputs", c.before.outputs, c.after.outputs},
          {"gradInputs", c.before.grad_inputs, c.after.grad_inputs},
          {"buffers", c.before.buffers, c.after.buffers},
          {"params", c.before.params, c.after.params},
          {"total", c.before.total(), c.after.total()}};
}

std::string saved(const Line& line) {
  if (line.before == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%",
                100 * (1 - static_cast<double>(line.after) / static_cast<double>(line.before)));
  return text;
}

std::string as_text(const std::string& heading, const OptnetCount& count) {
  std::string text = heading + "; bytes\n";
  const auto row = [&](const std::string& name, const std::string& before, const std::string& after,
                       const std::string& saving) {
    char line[96];
    std::snprintf(line, sizeof line, "%-12s%16s%16s%10s\n", name.c_str(), before.c_str(), after.c_str(),
                  saving.c_str());
    text += line;
  };
  row("", "before", "after", "saved");
  for (const Line& line : lines_of(count))
    row(line.name, std::to_string(line.before), std::to_string(line.after), saved(line));
  if (count.ghosts > 0)
    text += message("after sharing ", count.ghosts, " bytes stay private to tensors that modules repoint themselves\n");
  if (count.counted_twice > 0)
    text += message(count.counted_twice, " bytes of gradInputs are buffers too, and counted as both\n");
  return text;
}

std::string as_json(const Options& options, const std::string& backend, const std::string& memopt,
                    const OptnetCount& count) {
  const auto bytes = [](const OptnetBytes& b) {
    return Json{{"outputs", b.outputs},
                {"gradInputs", b.grad_inputs},
                {"buffers", b.buffers},
                {"params", b.params},
                {"total", b.total()}};
  };
  return Json{{"model", options.program.network.model},
              {"batch", options.program.network.batch},
              {"dtype", name_of(options.program.network.dtype)},
              {"backend", backend},
              {"memopt", memopt},
              {"before", bytes(count.before)},
              {"after", bytes(count.after)},
              {"private", count.ghosts},
              {"counted_twice", count.counted_twice}}
             .dump(1) +
         "\n";
}

struct CountAsked {
  std::string backend = {};  // "": by dtype
  OptnetOptions optnet = {};
};

int count_memory(const CountAsked& asked, const Options& given) {
  const Options options = decided(given);
  const std::string backend_name = !asked.backend.empty()                        ? asked.backend
                                   : options.program.network.dtype == DType::f64 ? "nn"
                                                                                 : "cudnn";
  const std::string memopt = kOptnetSetting + text_of(asked.optnet);
  const TorchBackend backend = backend_name == "nn" ? TorchBackend::Nn : TorchBackend::Cudnn;
  const Network network = build_network(options.program.network, true);
  const OptnetCount count = optnet_count(network, torch_notes(options.program.network.model), backend, asked.optnet);
  const std::string heading =
      message(options.program.network.model, ", batch ", options.program.network.batch, ", ",
              name_of(options.program.network.dtype), ", ", backend_name, " modules, --memopt ", memopt);
  const std::string text =
      options.format == "json" ? as_json(options, backend_name, memopt, count) : as_text(heading, count);
  write_result("", text);
  return 0;
}

Run declare_count(OptionSet& set, Options& o) {
  const auto own = std::make_shared<CountAsked>();
  const auto read = [own](const std::string& text) {
    check(text.starts_with(kOptnetSetting), "--memopt ", text, ": count knows optnet=inference and optnet=training");
    own->optnet = parse_optnet(text.substr(kOptnetSetting.size()));
  };
  add_network(set, o);
  add_batch(set, o, "Samples (default: the network's)");
  set.in("Memory");
  set.add_read("--memopt", read, "SETTING",
               "optnet=inference (default) or optnet=training; with commas after it inplace, reuse_buffers,\n"
               "remove_grad_params or none (default: all three)");
  set.add("--backend", own->backend, "NAME",
          "Whose modules: nn (Torch's own, on the CPU) or cudnn (default: nn for f64, cudnn for f32)")
      ->check(one_of({"nn", "cudnn"}));
  add_format(set, o, {"text", "json"});
  return [own](const Options& options) { return count_memory(*own, options); };
}

const RegisterCommand count_command{
    {.word = "count",
     .help = "Prints what Torch's modules and optnet would hold for a network, by category.",
     .examples = {{"train count --model optnet/vgg_a --memopt optnet=training", "a row of optnet's second table"}},
     .declare = declare_count}};

}  // namespace
}  // namespace lethe
