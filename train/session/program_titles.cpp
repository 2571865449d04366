// How messages call a program.
#include "framework/error.h"
#include "train/session/programs.h"

namespace lethe {

std::string batch_text(const ProgramSetting& setting) {
  const std::int64_t each = setting.micro_batch, shards = setting.shards.parts, ranks = setting.shards.rank.of;
  return message(setting.network.batch, shards > 1 ? message(" in ", shards, " shards") : "",
                 ranks > 1 ? message(" on ", ranks, " ranks") : "",
                 each > 0 ? message(" in micro-batches of ", each) : "");
}

std::string title_of(const ProgramSetting& setting) {
  return message(build_network(setting.network, setting.training).name, ", ",
                 setting.training ? "training" : "evaluation", ", batch ", batch_text(setting), ", ",
                 name_of(setting.network.dtype));
}

}  // namespace lethe
