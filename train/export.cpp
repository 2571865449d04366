// `train export` and `train schema`: what others read.
#include <cstdio>

#include "kernels/cpu_device.h"
#include "train/commands.h"
#include "train/programs.h"
#include "train/recipe.h"
#include "train/start.h"
#include "train/weights.h"

namespace lethe {

int export_weights(const Options& given) {
  const Options options = decided_by_run(given, run_of_weights(given.weights));
  const Network network = build_network(options, false);
  const std::unique_ptr<Device> device = open_cpu(1);
  Store store(*device);
  fill_store({}, options, network, store);
  save_weights(options.output, store, network);
  return 0;
}

int print_schema(const Options&) {
  const std::string schema = network_schema();
  return std::fwrite(schema.data(), 1, schema.size(), stdout) == schema.size() ? 0 : 1;
}

}  // namespace lethe
