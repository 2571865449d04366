#include "kernels/reduce/sums.h"

namespace lethe {

template void sum_block(const SumBlock&, const Columns<float, 0>&, const ElementTerm<float>&, BlockSums<float, 1>&);
template void sum_block(const SumBlock&, const Columns<double, 0>&, const ElementTerm<double>&, BlockSums<double, 1>&);
template void sum_block(const SumBlock&, const Columns<Bf16, 0>&, const ElementTerm<Bf16>&, BlockSums<Bf16, 1>&);
template void sum_block(const SumBlock&, const Columns<F16, 0>&, const ElementTerm<F16>&, BlockSums<F16, 1>&);

}  // namespace lethe
