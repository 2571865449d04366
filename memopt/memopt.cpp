#include "memopt/memopt.h"

#include "framework/error.h"

namespace lethe {

MemoptOptions parse_memopt(const std::string& text) {
  check(text == "none", "--memopt ", text,
        ": this version knows 'none' alone; reuse, release, in-place and the exact arena come later");
  return {};
}

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions&) {
  Plan plan = plan_none(program, prepared);
  return {std::move(program), std::move(plan)};
}

}  // namespace lethe
