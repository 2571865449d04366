#include "train/session/settings.h"

#include "train/session/memory_guest.h"

namespace lethe {

MemorySetting memory_setting(const std::string& text, MemorySetting before) {
  MemorySetting setting = std::move(before);
  setting.text = text;
  setting.guest = guest_memory(text);
  if (setting.guest) return setting;
  const MemoptOptions levels = parse_memopt(text);
  setting.levels.level = levels.level;
  setting.levels.release = levels.release;
  setting.levels.in_place = levels.in_place;
  return setting;
}

}  // namespace lethe
