#include "train/session/memory_guest.h"

namespace lethe {
namespace {

std::vector<MemoryGuest>& registered_guests() {
  static std::vector<MemoryGuest> guests;
  return guests;
}

}  // namespace

RegisterGuest::RegisterGuest(const MemoryGuest& guest) { registered_guests().push_back(guest); }

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
