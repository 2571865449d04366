// Several texts in one sample, one after the other, none of which sees the others.
#pragma once
#include "framework/builder/network.h"

namespace lethe {

/// `symbols`, an input i32 [N, T], holds several texts a sample from here on. An input more, Network::positions,
/// i32 [N, T], has the position of each symbol in its text: 0 begins one. Attention sees none of the texts before
/// (ops/attention.cpp), and where a value has a row for each position, a symbol gets that of its position in its text.
/// So each text gives what it gives alone in a sample; by rotary positions, which only differ in where they begin, but
/// for rounding. To be done before append_backward. Fails, naming the op, if the network computes anything else across
/// positions (OpDef::along), has attention to later symbols, loops or branches.
void pack_texts(Network& network, VarId symbols);

}  // namespace lethe
