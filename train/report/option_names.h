// Settings as the command line calls them.
#pragma once
#include <string>

namespace lethe {

/// A message of the library, which names a setting between two backticks as a field, with the option of that name in
/// its place: `weight_decay` becomes --weight-decay.
std::string with_options(const std::string& text);

}  // namespace lethe
