// Ops that read all gradients, as for their norm.
#pragma once
#include "framework/language/program.h"

namespace lethe {

struct AllGradients {
  const char* (*why_wait)(const Op&);  // in words, why updates that read its output wait for all; null: they need not
  // The op that makes of one gradient all that is needed of it. With that as input in the place of each gradient (they
  // are the variadic inputs), and their dtype as the attribute `dtype`, the op gives the same bits.
  const char* digest;
};

}  // namespace lethe
