// Quantities as the command line has them.
#pragma once
#include <cstdint>
#include <string>

#include "framework/ranks/traffic.h"
#include "train/session/settings.h"

namespace lethe {

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
