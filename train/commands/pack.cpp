// `train pack`: offsets for somebody else's buffers.
#include "memopt/pack/pack.h"

#include <chrono>
#include <cstdio>

#include "framework/error.h"
#include "train/options.h"
#include "train/report/pack_csv.h"
#include "train/report/streams.h"

namespace lethe {
namespace {

struct PackAsked {
  std::vector<std::string> files = {};  // one
  std::optional<std::int64_t> capacity = {};
  double seconds = 1;
};

std::string summary(const PackTable& table, const Packing& packing, double seconds) {
  const auto above = [&packing](std::int64_t bound) {
    return message(100.0 * static_cast<double>(packing.height - bound) / static_cast<double>(bound), " %");
  };
  std::string text = message("packed ", table.items.size(), " height ", packing.height, " lower_bound ",
                             packing.lower_bound, " at ", packing.bound_instant);
  if (packing.certified) {
    text.append(packing.height == packing.lower_bound ? " certified minimal: it equals the lower bound"
                                                      : " certified minimal: none is smaller, by exhausted search");
  } else {
    text.append(message(" distance ", above(packing.lower_bound)));
  }
  return text.append(message(" seconds ", seconds, "\n"));
}

int pack_file(const PackAsked& asked, const std::string& output) {
  const std::string& file = asked.files.front();
  const PackTable table = read_pack_csv(file);
  const auto start = std::chrono::steady_clock::now();
  const Packing packing = pack(table.items, {.capacity = asked.capacity.value_or(-1), .seconds = asked.seconds});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (asked.capacity && packing.height > *asked.capacity) {
    check_as(Exit::Budget, packing.proven <= *asked.capacity, file, ": cannot fit ", *asked.capacity,
             " bytes: no packing takes less than ", packing.proven);
    fail_as(Exit::Budget, file, ": no packing within ", *asked.capacity, " bytes found; the smallest takes ",
            packing.height, "; more --time may help");
  }
  std::fputs(summary(table, packing, seconds).c_str(), stderr);
  write_result(output, pack_csv(table, packing.offsets));
  return 0;
}

Run declare_pack(OptionSet& set, Options& o) {
  const auto own = std::make_shared<PackAsked>();
  set.add_positional("file", own->files, "FILE",
                     "CSV with the columns id,lower,upper,size: bytes in the time [lower, upper)", false)
      ->required();
  set.in("Packing");
  set.add("--capacity", own->capacity, "N", "Bytes of the arena: the first packing within them will do")
      ->check(whole_number(0));
  set.add("--time", own->seconds, "S", "About as many seconds to search for a smaller arena (default 1)")
      ->check(number_from_zero());
  set.add("--out", o.output, "FILE", "Writes id,lower,upper,size,offset there (default: standard output)");
  return [own](const Options& options) { return pack_file(*own, options.output); };
}

const RegisterCommand pack_command{
    {.word = "pack",
     .help = "Finds offsets in one arena for buffers with given lives and sizes.",
     .examples = {{"train pack buffers.csv --capacity 1048576 --out placed.csv", "the first packing that fits"}},
     .declare = declare_pack}};

}  // namespace
}  // namespace lethe
