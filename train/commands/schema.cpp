// `train schema`: what network files may say.
#include "models/network.h"
#include "train/options.h"
#include "train/report/streams.h"
#include "train/report/summary.h"

namespace lethe {
namespace {

Run declare_schema(OptionSet& set, Options&) {
  const auto layers = std::make_shared<std::optional<std::string>>();  // a layer, "" for all
  set.add_maybe("--layers", *layers, "[NAME]",
                "Instead: layers with their keys, what these take, their defaults and bounds; NAME: that one alone")
      ->check(such_as(layer_names()));
  return [layers](const Options&) {
    write_result("", *layers ? layer_list(**layers) : network_schema());
    return 0;
  };
}

const RegisterCommand schema_command{
    {.word = "schema",
     .help = "Prints the JSON Schema of network files, or their layers.",
     .examples = {{"train schema > net.schema.json", "for an editor that checks while one writes"},
                  {"train schema --layers conv", "the keys of a layer"}},
     .declare = declare_schema}};

}  // namespace
}  // namespace lethe
