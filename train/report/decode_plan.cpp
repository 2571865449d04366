#include "train/report/decode_plan.h"

#include "framework/error.h"
#include "memopt/memory_map.h"
#include "train/report/memory_report.h"
#include "train/report/text_table.h"

namespace lethe {

std::string decode_plan_text(const std::string& network, std::int64_t context, DType dtype, bool cached,
                             const Planned& planned, const Bytes& bytes) {
  const std::string by = cached ? message("with a cache of ", context, " symbols")
                                : message("reading ", context, " symbols again for each");
  const Peak peak = peak_of(planned);
  const std::int64_t cache = cached ? planned.plan.bytes.states : 0;  // then nothing else lasts from symbol to symbol
  TextRows rows = {{"", "MiB"}};
  for (std::size_t c = 0; c < kCategories; ++c) {
    const bool is_stored = c == static_cast<std::size_t>(Category::Params);
    const std::int64_t held = peak.bytes[c] - (is_stored ? cache : 0);
    if (held > 0) rows.push_back({std::string(name_of(static_cast<Category>(c))), mib(held)});
    if (is_stored && cache > 0) rows.push_back({"cache", mib(cache)});
  }
  if (peak.idle > 0) rows.push_back({"held, not in use", mib(peak.idle)});
  const std::int64_t of_prompt = bytes.total() - planned.plan.bytes.total();
  if (of_prompt > 0) rows.push_back({"to read a prompt", mib(of_prompt)});
  rows.push_back({"total", mib(peak.total() + of_prompt)});
  return message(network, ": text, ", by, ", ", name_of(dtype), "\n\n", text_table(rows, 1), "\n",
                 predicted_line(bytes), "\n");
}

}  // namespace lethe
