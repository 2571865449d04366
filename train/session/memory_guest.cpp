#include "train/session/memory_guest.h"

#include <algorithm>
#include <stdexcept>

namespace lethe {
namespace {

std::vector<MemoryGuest>& registered_guests() {
  static std::vector<MemoryGuest> guests;
  return guests;
}

}  // namespace

RegisterGuest::RegisterGuest(const MemoryGuest& guest) {
  std::vector<MemoryGuest>& all = registered_guests();
  const std::string word = guest.word;
  const auto at = std::ranges::find_if(all, [&](const MemoryGuest& other) { return word <= other.word; });
  if (at != all.end() && word == at->word) throw std::logic_error("guest '" + word + "' is registered twice");
  all.insert(at, guest);
}

const std::vector<MemoryGuest>& memory_guests() { return registered_guests(); }

std::shared_ptr<const GuestMemory> guest_memory(const std::string& setting) {
  for (const MemoryGuest& guest : memory_guests()) {
    const std::string begin = std::string(guest.word) + '=';
    if (!setting.starts_with(begin)) continue;
    GuestMemory memory = guest.read(setting.substr(begin.size()));
    memory.guest = &guest;
    return std::make_shared<const GuestMemory>(std::move(memory));
  }
  return nullptr;
}

}  // namespace lethe
