// Which weights of a network a file may have in few bits.
#pragma once
#include <set>
#include <string>

#include "framework/builder/network.h"

namespace lethe {

/// The weights of fully connected layers in all blocks of the program, without those that other ops read too, and
/// without that of the last layer on any way through loops and branches.
std::set<std::string> inner_matrices(const Network& network);

}  // namespace lethe
