#include "train/session/settings.h"

namespace lethe {
namespace {

constexpr std::string_view kOptnet = "optnet=";

}  // namespace

bool asks_for_optnet(const std::string& text) { return text.compare(0, kOptnet.size(), kOptnet) == 0; }

MemorySetting memory_setting(const std::string& text, MemorySetting before) {
  MemorySetting setting = std::move(before);
  setting.text = text;
  setting.optnet.reset();
  if (asks_for_optnet(text)) {
    setting.optnet = parse_optnet(text.substr(kOptnet.size()));
    return setting;
  }
  MemoptOptions levels = parse_memopt(text);
  levels.pins = std::move(setting.levels.pins);
  levels.print_log = setting.levels.print_log;
  setting.levels = std::move(levels);
  return setting;
}

}  // namespace lethe
