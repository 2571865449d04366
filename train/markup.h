// Text for files of marked-up text.
#pragma once
#include <string>

namespace lethe {

/// For HTML and for the labels of graphviz that are like it: & < > " as entities.
std::string markup(const std::string& text);

}  // namespace lethe
