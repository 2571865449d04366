#include "train/session/logits.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "kernels/dtypes.h"

namespace lethe {
namespace {

bool has_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

}  // namespace

std::vector<double> fetch_numbers(const Executor& executor, const Program& program, VarId id) {
  const Var& var = program.vars[id];
  return for_float(var.dtype, [&](auto zero) {
    std::vector<decltype(zero)> values(static_cast<std::size_t>(elements(var.shape)));
    executor.fetch(id, values.data(), bytes_of(var));
    return std::vector<double>(values.begin(), values.end());
  });
}

std::vector<double> softmax(std::span<const double> logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  for (const double logit : logits) shares.push_back(std::exp(logit - most));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::int64_t rank_of(std::int64_t label, std::span<const double> logits) {
  const std::int64_t classes = std::ssize(logits);
  if (label < 0 || label >= classes || has_nan(logits)) return classes;
  std::int64_t before = 0;
  const double own = logits[static_cast<std::size_t>(label)];
  for (std::int64_t c = 0; c < classes; ++c) {
    const double other = logits[static_cast<std::size_t>(c)];
    before += other > own || (other == own && c < label);
  }
  return before;
}

std::vector<std::int64_t> largest(std::span<const double> values, std::int64_t count) {
  if (has_nan(values)) return {};
  std::vector<std::int64_t> classes(values.size());
  std::iota(classes.begin(), classes.end(), std::int64_t{0});
  std::stable_sort(classes.begin(), classes.end(), [&](std::int64_t a, std::int64_t b) {
    return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
  });
  classes.resize(static_cast<std::size_t>(std::min(count, std::ssize(values))));
  return classes;
}

}  // namespace lethe
