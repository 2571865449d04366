// Patterns of names, as the command line has them: "tokens.*,*.bias"; and names in messages.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace lethe {

/// Whether pattern and name are the same if each `*` stands for some characters of the name, or for none.
bool matches(std::string_view pattern, std::string_view name);
/// What means the parameters of a name's layer: "logits.*" of "logits.bias". A name without a dot is its own.
std::string layer_pattern(const std::string& name);
/// The patterns of a list, which has commas between them. An empty one is none.
std::vector<std::string> patterns_in(const std::string& list);
/// The same of what a user gave for a setting; "" says nothing. Fails for a list like "," that names none. `setting` is
/// what messages call it: "`freeze`".
std::vector<std::string> patterns_given(const std::string& list, const std::string& setting);

/// The most names that some_of shows.
inline constexpr std::size_t kMostNamed = 3;
/// "'a', 'b', 'c' and 4 more".
std::string some_of(const std::vector<std::string>& names);

/// In a pattern of Network::depth it stands for the number of a block.
inline constexpr std::string_view kBlockField = "{i}";

}  // namespace lethe
