#include "train/optnet/optnet.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "framework/error.h"

namespace lethe {

std::int64_t OptnetGroups::total() const { return std::accumulate(elements.begin(), elements.end(), ghosts); }

OptnetGroups group_by_last_use(const std::vector<OptnetRecord>& records) {
  std::vector<int> order(records.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return records[a].used < records[b].used; });

  OptnetGroups groups{.group = std::vector<int>(records.size(), -1)};
  std::vector<OptnetTick> last;  // use of each group's last member
  for (const int r : order) {
    const OptnetRecord& record = records[r];
    auto home = last.end();
    if (record.used != kOptnetNever && record.elements >= 2)
      home = std::find_if(last.begin(), last.end(), [&](OptnetTick used) { return used < record.defined; });
    const auto group = static_cast<std::size_t>(home - last.begin());
    if (home == last.end()) {
      last.push_back(record.used);
      groups.elements.push_back(0);
    }
    last[group] = record.used;
    groups.group[r] = static_cast<int>(group);
    if (record.kind == OptnetKind::Shared) groups.elements[group] = std::max(groups.elements[group], record.elements);
    if (record.kind == OptnetKind::Ghost) groups.ghosts += record.elements;
  }
  return groups;
}

OptnetOptions parse_optnet(const std::string& text) {
  const std::string what = std::string("`memopt` ") + kOptnetWord + '=' + shortened(text);
  std::istringstream words(text);
  std::string word;
  std::getline(words, word, ',');
  check(word == "inference" || word == "training", what, ": ", quote(word), " is neither inference nor training");
  OptnetOptions options{.training = word == "training"};
  if (words.eof()) return options;
  options.inplace = options.reuse_buffers = options.remove_grad_params = false;
  if (text == (options.training ? "training,none" : "inference,none")) return options;
  while (std::getline(words, word, ',')) {
    bool* const flag = word == "inplace"              ? &options.inplace
                       : word == "reuse_buffers"      ? &options.reuse_buffers
                       : word == "remove_grad_params" ? &options.remove_grad_params
                                                      : nullptr;
    check(flag, what, ": unknown ", quote(word), "; known: inplace, reuse_buffers, remove_grad_params; or none alone");
    check(!*flag, what, ": '", word, "' stands there twice");
    *flag = true;
  }
  check(text.back() != ',', what, ": nothing stands after the last comma");
  return options;
}

std::string text_of(const OptnetOptions& options) {
  const std::string mode = options.training ? "training" : "inference";
  if (!options.inplace && !options.reuse_buffers && !options.remove_grad_params) return mode + ",none";
  std::string text = mode;
  if (options.inplace) text += ",inplace";
  if (options.reuse_buffers) text += ",reuse_buffers";
  if (options.remove_grad_params) text += ",remove_grad_params";
  return text;
}

}  // namespace lethe
