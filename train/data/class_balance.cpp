#include "train/data/class_balance.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"

namespace lethe {
namespace {

std::string class_called(const Samples& data, std::int64_t label) {
  const std::vector<std::string> names = data.classes();
  return label < std::ssize(names) ? message("class ", quote(names[static_cast<std::size_t>(label)]))
                                   : message("class ", label);
}

/// How many training labels each class has. Labels that name none of them are left to the loss.
std::vector<std::int64_t> training_labels(const Samples& data, std::int64_t classes,
                                          std::optional<std::int64_t> ignored) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes));
  data.visit_labels(Split::Train, [&](std::int64_t, std::span<const std::int32_t> labels) {
    for (const std::int32_t label : labels)
      if (label >= 0 && label < classes && label != ignored) ++counts[static_cast<std::size_t>(label)];
  });
  return counts;
}

std::vector<double> balanced_weights(const Samples& data, std::int64_t classes, std::optional<std::int64_t> ignored) {
  const std::vector<std::int64_t> counts = training_labels(data, classes, ignored);
  std::int64_t all = 0, counted = 0;  // a class that is ignored needs no weight
  for (std::int64_t label = 0; label < classes; ++label) {
    const std::int64_t count = counts[static_cast<std::size_t>(label)];
    check_as(Exit::Data, count > 0 || label == ignored, data.name(), ": ", class_called(data, label),
             " has no training sample, so there is no weight that balances it; name `class_weights` one by one");
    all += count;
    counted += count > 0;
  }
  std::vector<double> weights;
  for (const std::int64_t count : counts)
    weights.push_back(count > 0 ? static_cast<double>(all) / static_cast<double>(counted * count) : 0);
  return weights;
}

}  // namespace

ClassWeights parse_class_weights(const std::string& text) {
  if (text == "none") return {};
  if (text == "balanced") return {.balanced = true};
  ClassWeights weights;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    double value = 0;
    const auto [stop, status] = std::from_chars(text.data() + at, text.data() + end, value);
    check(status == std::errc{} && stop == text.data() + end && std::isfinite(static_cast<float>(value)) && value >= 0,
          "expected none, balanced, or numbers of at least 0 with commas between, one a class, got ", quote(text));
    weights.each.push_back(value);
    at = end + 1;
  }
  check(std::ranges::any_of(weights.each, [](double value) { return static_cast<float>(value) > 0; }),
        "all classes have a weight of 0, so that nothing counts: ", quote(text));
  return weights;
}

std::vector<double> values_of(const ClassWeights& weights, const Samples& data, std::int64_t classes,
                              std::optional<std::int64_t> ignored) {
  return weights.balanced ? balanced_weights(data, classes, ignored) : weights.each;
}

BalancedOrder::BalancedOrder(const Samples& data) {
  check(data.labels() > 0, "`sampler` balanced draws samples by their class; those of ", data.name(), " have none");
  check(data.labels() == 1, "`sampler` balanced draws samples by their class; those of ", data.name(), " have ",
        data.labels(), " labels each; `class_weights` balanced weighs labels instead");
  std::vector<std::vector<std::int32_t>> all;
  data.visit_labels(Split::Train, [&](std::int64_t index, std::span<const std::int32_t> labels) {
    const std::int32_t label = labels.front();
    check_as(Exit::Data, label >= 0, data.name(), ": sample ", index, " has the label ", label, ", which is no class");
    if (label >= std::ssize(all)) all.resize(static_cast<std::size_t>(label) + 1);
    all[static_cast<std::size_t>(label)].push_back(static_cast<std::int32_t>(index));
  });
  for (std::vector<std::int32_t>& samples : all)
    if (!samples.empty()) by_class_.push_back(std::move(samples));
}

void BalancedOrder::draw(std::uint64_t seed, std::int64_t epoch, std::vector<std::int32_t>& order) const {
  Random random(seed, hash_of("balanced"), static_cast<std::uint64_t>(epoch));
  for (std::int32_t& sample : order) {
    const std::vector<std::int32_t>& of_class = by_class_[random.below(static_cast<std::uint32_t>(by_class_.size()))];
    sample = of_class[random.below(static_cast<std::uint32_t>(of_class.size()))];
  }
}

std::int64_t BalancedOrder::held_bytes() const {
  std::int64_t bytes = 0;
  for (const std::vector<std::int32_t>& samples : by_class_)
    bytes += static_cast<std::int64_t>(samples.capacity() * sizeof(samples[0]));
  return bytes;
}

}  // namespace lethe
