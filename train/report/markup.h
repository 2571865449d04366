// Text for files of marked-up text.
#pragma once
#include <map>
#include <string>

namespace lethe {

/// For HTML and for the labels of graphviz that are like it: & < > " as entities.
std::string markup(const std::string& text);

/// Each {{name}} of the template by its text, which is not looked at again.
std::string filled(const std::string& form, const std::map<std::string, std::string>& texts);

}  // namespace lethe
