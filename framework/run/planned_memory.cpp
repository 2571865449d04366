#include "framework/run/planned_memory.h"

#include "framework/error.h"
#include "framework/language/views.h"

namespace lethe {

PlannedMemory::PlannedMemory(const Program& program, const Plan& plan, Store& store, Buffer* arena)
    : device_(store.device()), places_(plan.vars), planned_(plan.buffers) {
  store.add(program);
  buffers_.resize(planned_.size());
  bases_.resize(planned_.size());
  for (std::size_t b = 0; b < planned_.size(); ++b) {
    any_on_demand_ = any_on_demand_ || planned_[b].on_demand;
    if (planned_[b].on_demand) continue;
    const bool given = b == 0 && arena;
    check_as(Exit::Internal, !given || arena->bytes() >= planned_[b].bytes, "an arena of ", arena ? arena->bytes() : 0,
             " bytes was given for a plan of ", planned_[b].bytes);
    if (!given) take_buffer(b);
    if (given) bases_[b] = arena->data();
  }
  in_store_.resize(program.vars.size());
  const std::vector<View> views = views_of(program);
  for (std::size_t v = 0; v < program.vars.size(); ++v)
    if (const Var& root = program.vars[views[v].root]; is_persistable(root.kind))
      in_store_[v] = static_cast<std::byte*>(store.data(root.name)) + views[v].offset;
}

void* PlannedMemory::address(Place place) const {
  void* const base = place.buffer < 0 ? nullptr : bases_[place.buffer];
  return base ? static_cast<std::byte*>(base) + place.offset : nullptr;
}

void PlannedMemory::take_buffer(std::size_t b) {
  with_context("values of the program", [&] { buffers_[b] = Buffer(device_, planned_[b].bytes); });
  bases_[b] = buffers_[b].data();
}

void PlannedMemory::take(VarId var) {
  const int b = places_[var].buffer;
  if (b < 0 || bases_[b]) return;
  take_buffer(static_cast<std::size_t>(b));
}

void PlannedMemory::give_back(VarId var) {
  const int b = places_[var].buffer;
  buffers_[b] = Buffer();
  bases_[b] = nullptr;
}

}  // namespace lethe
