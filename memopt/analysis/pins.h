// Pins say which vars keep memory of their own from their first write to the end of the step, and why.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

enum class Pin : std::uint8_t { None, Persistable, Fed, Fetched, Skipped, Gradient };
/// "is fetched"; "" for None.
std::string_view reason_of(Pin pin);

struct PinOptions {
  std::vector<VarId> fetched = {};
  std::vector<std::string> skip_vars = {};
  bool skip_grads = false;  // pins each parameter gradient given to an optimizer op
};

/// Gives the pin of each var by VarId, without a look at views. Fails on an unknown name in `skip_vars`.
std::vector<Pin> collect_pins(const Program& program, const PinOptions& options);

/// The parameter gradient that an op updates by; kNone for any op but an update of a parameter.
VarId update_gradient(const Op& op);

}  // namespace lethe
