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
  const MemoptOptions levels = parse_memopt(text);
  setting.levels.level = levels.level;
  setting.levels.release = levels.release;
  setting.levels.in_place = levels.in_place;
  return setting;
}

}  // namespace lethe
