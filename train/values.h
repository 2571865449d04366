// Values on the command line: checks whose messages say what was given and what was expected, and quantities.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "framework/ranks/traffic.h"
#include "train/session/settings.h"

namespace lethe {

struct ValueCheck {
  std::function<std::string(const std::string& text)> complaint = {};  // "" if the text is good
  std::vector<std::string> words = {};                                 // values that can be listed
};

/// A whole number from `least` to `most`.
ValueCheck whole_number(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());
/// A number that is finite in f32: at least 0, or above 0.
ValueCheck number_from_zero();
ValueCheck positive_number();
/// From 0 to below 1.
ValueCheck fraction();
/// Above 0, at most 1.
ValueCheck portion();
/// One of `words`.
ValueCheck one_of(std::vector<std::string> words);
/// Anything; `words` are what one may well take.
ValueCheck such_as(std::vector<std::string> words);
/// "NAME=VALUE".
ValueCheck setting();

/// "1500", "800MiB", "2GiB", "1.5GB": bytes; fails naming `what`.
std::int64_t parse_bytes(const std::string& text, const std::string& what);

/// "5%" or "0.05": 0.05; fails naming `what`.
double parse_share(const std::string& text, const std::string& what);

/// "500" or "2e"; fails naming `what`.
Interval parse_interval(const std::string& text, const std::string& what);

/// "25Gb,10us": bits (b) or bytes (B) a second, with k, M or G before it, and a latency in ns, us or ms; fails naming
/// `what`.
Link parse_link(const std::string& text, const std::string& what);

/// "h200" or "h200,memory=80GiB": the setting's name, and its memory or none; fails naming `--device`.
void read_device(const std::string& text, DeviceSetting& device);

}  // namespace lethe
