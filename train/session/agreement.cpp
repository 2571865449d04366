#include "train/session/agreement.h"

#include <vector>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/language/op_facts.h"

namespace lethe {

void check_agreed(Peers& peers, const std::string& what, const std::string& said) {
  const Rank rank = peers.rank();
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rank.of));
  hashes[static_cast<std::size_t>(rank.number)] = hash_of(said);
  peers.gather(hashes.data(), sizeof hashes[0]);
  for (std::size_t other = 1; other < hashes.size(); ++other)
    check(hashes[other] == hashes[0], "rank ", other, " and rank 0 differ in ", what);
}

std::string exchanges_of(const Program& program) {
  std::string text;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      if (!exchanges(op)) continue;
      text += op.type;
      for (const VarId v : op.in) text += message(" ", program.vars[v].name, " ", text_of(program.vars[v]));
      text += "\n";
    }
  return text;
}

std::string fingerprint(const Samples& samples, DType dtype) {
  const std::unique_ptr<SampleReader> reader = samples.reader({.dtype = dtype});
  std::string text = samples.name();
  for (const Split split : {Split::Train, Split::Test}) {
    const std::int64_t size = samples.size(split);
    text += message(" ", size);
    if (size == 0) continue;
    for (const std::int64_t index : {std::int64_t{0}, size - 1}) {
      std::string sample(static_cast<std::size_t>(samples.sample_bytes(dtype)), '\0');
      std::vector<std::int32_t> labels(static_cast<std::size_t>(samples.labels()));
      reader->read(split, index, 0, reinterpret_cast<std::byte*>(sample.data()), labels.data());
      text += message(" ", hash_of(sample));
      for (const std::int32_t label : labels) text += message(" ", label);
    }
  }
  return text;
}

StepTotals totals_of_ranks(Peers* peers, const StepTotals& own) {
  if (!peers) return own;
  std::vector<StepTotals> all(static_cast<std::size_t>(peers->rank().of));
  all[static_cast<std::size_t>(peers->rank().number)] = own;
  peers->gather(all.data(), sizeof(StepTotals));
  StepTotals sum;
  for (const StepTotals& said : all) {
    sum.labels += said.labels;
    sum.correct += said.correct;
    sum.stop += said.stop;
    sum.save += said.save;
  }
  return sum;
}

}  // namespace lethe
