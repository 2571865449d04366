#include "optimizer/rate_scales.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "framework/builder/network_weights.h"
#include "framework/builder/weights_named.h"
#include "framework/error.h"
#include "framework/name_pattern.h"

namespace lethe {
namespace {

struct OwnRate {
  std::string pattern;
  double value = 0;
  bool is_factor = false;
};

std::optional<OwnRate> own_rate(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  OwnRate own{.pattern = text.substr(0, equals)};
  const char *const begin = text.data() + equals + 1, *const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(begin, end, own.value);
  own.is_factor = after + 1 == end && *after == 'x';
  const bool is_read = error == std::errc() && (after == end || own.is_factor);
  if (!is_read || !(own.value > 0) || !std::isfinite(own.value)) return std::nullopt;
  return own;
}

/// The number that stands for {i} where the pattern means the name; none if it does not.
std::optional<std::int64_t> block_in(const std::string& pattern, const std::string& name) {
  const std::size_t field = pattern.find(kBlockField);
  if (field == std::string::npos || name.compare(0, field, pattern, 0, field) != 0) return std::nullopt;
  std::int64_t block = 0;
  const char* const begin = name.data() + field;
  const auto [after, error] = std::from_chars(begin, name.data() + name.size(), block);
  if (error != std::errc() || *begin == '-') return std::nullopt;
  const bool fits = matches(std::string_view(pattern).substr(field + kBlockField.size()), after);
  return fits ? std::optional(block) : std::nullopt;
}

std::set<VarId> trained_params(const Network& network) {
  std::set<VarId> trained;
  for (const ParamInfo& info : network.params)
    if (network.program.vars[info.var].kind == Kind::Param && !network.frozen.contains(info.var))
      trained.insert(info.var);
  return trained;
}

}  // namespace

std::string complaint_about_rates(const std::string& text) {
  for (const std::string& each : patterns_in(text))
    if (!own_rate(each))
      return message(quote(each), " gives no rate: expected NAMES=0.1x, a factor above 0, or NAMES=3e-4, a rate");
  return "";
}

Depths depths_of(const Network& network) {
  Depths depths;
  std::set<std::string> below;
  std::map<std::string, std::int64_t> blocks;
  for (const std::string& pattern : network.depth) {
    std::map<std::int64_t, std::vector<std::string>> found;  // by block
    for (const ParamInfo& info : weights_of(network)) {
      const std::string& name = network.program.vars[info.var].name;
      if (matches(pattern, name)) below.insert(name);
      if (const auto block = block_in(pattern, name)) found[*block].push_back(name);
    }
    for (const auto& [block, names] : found) {
      ++depths.blocks;
      for (const std::string& name : names) blocks.emplace(name, depths.blocks);
    }
  }
  for (const ParamInfo& info : weights_of(network)) {
    const std::string& name = network.program.vars[info.var].name;
    const auto block = blocks.find(name);
    depths.of[name] = below.contains(name) ? 0 : block != blocks.end() ? block->second : depths.blocks + 1;
  }
  return depths;
}

RateScales rate_scales(const Network& network, const RateSetting& setting) {
  RateScales scales;
  if (setting.layer_decay != 1) {
    check(setting.layer_decay > 0 && setting.layer_decay < 1, "`layer_decay` is ", setting.layer_decay,
          ", expected above 0 and at most 1");
    const Depths depths = depths_of(network);
    check(depths.blocks > 0, "`layer_decay`: ", network.name,
          " does not say which parameters are of which layer, as \"depth\" in its file would");
    for (const auto& [name, depth] : depths.of)
      scales[name] = std::pow(setting.layer_decay, static_cast<double>(depths.blocks + 1 - depth));
  }
  const RateScales by_layer = scales;
  const std::string complaint = complaint_about_rates(setting.of);
  check(complaint.empty(), "`lr_of`: ", complaint);
  const std::set<VarId> trained = trained_params(network);
  for (const std::string& each : patterns_given(setting.of, "`lr_of`")) {
    const OwnRate own = *own_rate(each);
    check(own.is_factor || setting.lr > 0, "`lr_of`: ", quote(each),
          " is a rate, but what the others have is not known here; a factor goes, as in NAMES=0.1x, or `lr_of` none");
    const std::set<VarId> meant = weights_named(network, own.pattern, "`lr_of`");
    check(std::ranges::any_of(meant, [&](VarId var) { return trained.contains(var); }), "`lr_of`: ", quote(own.pattern),
          " means no parameter that is trained");
    for (const VarId var : meant) {
      const std::string& name = network.program.vars[var].name;
      const auto layer = by_layer.find(name);
      const double of_layer = layer == by_layer.end() ? 1 : layer->second;
      scales[name] = own.is_factor ? own.value * of_layer : own.value / setting.lr;
    }
  }
  std::erase_if(scales, [](const auto& scale) { return scale.second == 1; });
  return scales;
}

}  // namespace lethe
