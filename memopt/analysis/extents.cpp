#include "memopt/analysis/extents.h"

#include "framework/error.h"
#include "framework/language/strides.h"

namespace lethe {

Extent Extents::of(VarId v) const {
  const Var& var = program_.vars[v];
  Extent extent = of(plan_.vars[v], span_of(var), "", var.name, var.pitch > 0 ? 1 : alignment_);
  extent.pitch = var.pitch == 0 ? 0 : var.pitch * bytes_of(var.dtype);
  extent.first = extent.begin;
  extent.row = row_bytes(var);
  return extent;
}

Extent Extents::of(Place place, std::int64_t bytes, const char* whose, const std::string& what,
                   std::int64_t alignment) const {
  check(place.buffer >= 0 && place.buffer < static_cast<int>(plan_.buffers.size()), "plan: ", whose, "'", what,
        "' has no memory");
  const std::int64_t room = plan_.buffers[place.buffer].bytes, end = place.offset + bytes;
  check(place.offset >= 0 && end <= room, "plan: ", whose, "'", what, "' ends at ", end, " of a buffer of ", room,
        " bytes");
  check(place.offset % alignment == 0, "plan: ", whose, "'", what, "' lies at ", place.offset,
        ", which is not aligned to ", alignment);
  return {place.buffer, place.offset, end};
}

}  // namespace lethe
