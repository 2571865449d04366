// A program for graphviz: its ops, or what shares memory.
#pragma once
#include <string>
#include <vector>

#include "memopt/memopt.h"

namespace lethe {

/// The program for graphviz: ops coloured by role, edges named by their vars.
std::string to_dot(const Program& program);

/// Numbers of places in memory, by VarId: two vars have the same number just if they begin at the same byte of the same
/// buffer. From 1 in the order of the vars; 0: in the Store, or never used.
std::vector<int> place_numbers(const Plan& plan);

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
