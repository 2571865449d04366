#include "train/session/sampling.h"

#include <cmath>
#include <vector>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"
#include "train/session/logits.h"

namespace lethe {
namespace {

/// In [0, 1): of a seed and a position.
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
