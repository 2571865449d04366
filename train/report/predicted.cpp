#include "train/report/predicted.h"

#include <cstdio>

#include "train/report/memory_report.h"
#include "train/report/option_names.h"

namespace lethe {

void print_log(const Planned& planned) {
  for (const std::string& line : planned.log) std::puts(with_options(line).c_str());
}

void print_predicted(const std::string& memopt, const Plans& plans, Progress& progress) {
  for (const Planned* planned : {&plans.training, &plans.evaluation}) {
    print_log(*planned);
    for (const std::string& note : planned->notes) progress.note(note);
  }
  std::printf("%s\n%s\n", setting_line(memopt, plans.none, plans.bytes.total()).c_str(),
              predicted_line(plans.bytes, plans.at_most).c_str());
  if (plans.training.recomputed) std::puts(recomputed_line(*plans.training.recomputed).c_str());
  if (plans.training.arena) std::puts(arena_line(*plans.training.arena).c_str());
  std::fflush(stdout);
}

}  // namespace lethe
