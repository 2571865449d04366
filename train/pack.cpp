// `train pack`: offsets for somebody else's buffers.
#include "memopt/pack/pack.h"

#include <chrono>
#include <cstdio>

#include "framework/error.h"
#include "train/commands.h"
#include "train/report/pack_csv.h"
#include "train/report/streams.h"

namespace lethe {
namespace {

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

}  // namespace

int pack_file(const Options& options) {
  const PackTable table = read_pack_csv(options.file);
  const auto start = std::chrono::steady_clock::now();
  const Packing packing = pack(table.items, {.capacity = options.capacity.value_or(-1), .seconds = options.seconds});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.capacity && packing.height > *options.capacity) {
    check_as(Exit::Budget, packing.proven <= *options.capacity, options.file, ": cannot fit ", *options.capacity,
             " bytes: no packing takes less than ", packing.proven);
    fail_as(Exit::Budget, options.file, ": no packing within ", *options.capacity, " bytes found; the smallest takes ",
            packing.height, "; more --time may help");
  }
  std::fputs(summary(table, packing, seconds).c_str(), stderr);
  write_result(options.output, pack_csv(table, packing.offsets));
  return 0;
}

}  // namespace lethe
