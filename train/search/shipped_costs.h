// Tables that bench_kinds made.
#pragma once
#include <span>

#include "train/search/processor_costs.h"

namespace lethe {

std::span<const KernelCost> costs_of_avx2();
std::span<const KernelCost> costs_of_avx512();

}  // namespace lethe
