// A program for graphviz: its ops, or what shares memory.
#pragma once
#include <string>
#include <vector>

#include "memopt/memopt.h"

namespace lethe {

/// The program for graphviz: ops coloured by role, edges named by their vars.
std::string to_dot(const Program& program);

/// "#rrggbb" for each number from 0 on: all different, all light enough for black text, and neighbours far apart.
std::vector<std::string> place_colours(std::size_t count);

/// A program under one memory setting.
struct GraphSide {
  std::string title;  // "before: none, 12.2 MiB"
  Planned planned;
};

/// Ops but for updates, each with what it writes; a value's cell has the number and the colour of its place. The sides
/// stand beside each other and count for themselves.
std::string graph_dot(const std::string& title, const std::vector<GraphSide>& sides);

}  // namespace lethe
