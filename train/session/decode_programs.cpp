// A network file is built again for windows as short as those of the programs.
#include "train/session/decode_programs.h"

#include <algorithm>

#include "framework/error.h"
#include "train/session/fed_data.h"
#include "train/session/next_logits.h"

namespace lethe {
namespace {

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  while (most > 1 && number % most != 0) --most;
  return most;
}

}  // namespace

std::optional<DecodePrograms> decode_programs(const Network& window, NetworkSetting setting, std::int64_t most,
                                              std::string* why_none) {
  DecodePrograms programs{.context = context_of(window)};
  const auto none = [&](const std::string& why) -> std::optional<DecodePrograms> {
    if (why_none) *why_none = why;
    return std::nullopt;
  };
  if (programs.context < 2) return none("a window of one symbol");
  programs.block = largest_divisor(programs.context, std::min(most, programs.context - 1));
  std::string why = "it looks back by more than causal attention";
  const auto of = [&](std::int64_t rows) -> std::optional<DecodeProgram> {
    setting.sets[kContextVar] = std::to_string(rows);
    try {
      return decode_program(window, build_network(setting, false), fed_inputs(window).samples, programs.block);
    } catch (const Error& error) {  // no such var, or no network of so short a window
      why = error.what();
      return std::nullopt;
    }
  };
  std::optional<DecodeProgram> next = of(1);
  if (!next) return none(why);
  programs.next = std::move(*next);
  if (programs.block > 1) programs.fill = of(programs.block);
  return programs;
}

}  // namespace lethe
