#include "train/session/logits.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

bool has_nan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

/// A number in [0, 1), a function of seed and position.
double uniform_for(std::uint64_t seed, std::int64_t position) {
  const Philox4 drawn = philox(stream_key(seed, hash_of("generate")), 0, static_cast<std::uint64_t>(position));
  return uniform_of(drawn.word[0], drawn.word[1]);
}

/// How many of the likeliest, which come first, are needed for probabilities of `top_p` in all.
std::size_t nucleus(const std::vector<double>& shares, double top_p) {
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    if ((sum += shares[i]) >= top_p) return i + 1;
  return shares.size();
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

std::int32_t draw(std::span<const double> logits, const Sampling& sampling, std::int64_t position) {
  const std::int64_t kept = sampling.temperature == 0 ? 1 : sampling.top_k == 0 ? std::ssize(logits) : sampling.top_k;
  const std::vector<std::int64_t> likeliest = largest(logits, kept);
  check_as(Exit::Numeric, !likeliest.empty() && std::isfinite(logits[static_cast<std::size_t>(likeliest[0])]),
           "the network gives what is no number for symbol ", position + 1);
  if (sampling.temperature == 0) return static_cast<std::int32_t>(likeliest[0]);
  const double most = logits[static_cast<std::size_t>(likeliest[0])];
  std::vector<double> scaled;
  for (const std::int64_t symbol : likeliest)
    scaled.push_back((logits[static_cast<std::size_t>(symbol)] - most) / sampling.temperature);
  std::vector<double> shares = softmax(scaled);
  shares.resize(nucleus(shares, sampling.top_p));
  double all = 0;
  for (const double share : shares) all += share;
  double left = uniform_for(sampling.seed, position) * all;
  std::size_t i = 0;
  while (i + 1 < shares.size() && left >= shares[i]) left -= shares[i++];
  return static_cast<std::int32_t>(likeliest[i]);
}

}  // namespace lethe
