// Settings as the command line calls them.
#pragma once
#include <string>

namespace lethe {

/// A message of the library, which names a setting by its field between two backticks, with the option that says the
/// setting in its place: `weight_decay` becomes --weight-decay.
std::string with_options(const std::string& text);

}  // namespace lethe
