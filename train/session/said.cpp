#include "train/session/said.h"

#include <vector>

namespace lethe {

Said said_by_all(Peers* peers, const Said& own) {
  if (!peers) return own;
  std::vector<Said> all(static_cast<std::size_t>(peers->rank().of));
  all[static_cast<std::size_t>(peers->rank().number)] = own;
  peers->gather(all.data(), sizeof(Said));
  Said sum;
  for (const Said& said : all) {
    sum.labels += said.labels;
    sum.correct += said.correct;
    sum.stop += said.stop;
    sum.save += said.save;
  }
  return sum;
}

}  // namespace lethe
