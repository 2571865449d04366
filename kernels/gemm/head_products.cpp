#include "kernels/gemm/head_products.h"

#include <algorithm>
#include <array>

#include "kernels/gemm/weight_blocks.h"
#include "kernels/packs.h"

namespace lethe {
namespace {

void run_product(const KernelArgs& args, const Kernel& product, std::array<const void*, 3> in, void* out) {
  std::array<void*, 3> inputs{};
  for (std::size_t i = 0; i < in.size(); ++i) inputs[i] = const_cast<void*>(in[i]);
  KernelArgs inner = args;
  inner.inputs = inputs.data(), inner.outputs = &out;
  product.run(inner);
}

const std::byte* after(const void* from, std::int64_t bytes) { return static_cast<const std::byte*>(from) + bytes; }
std::byte* after(void* from, std::int64_t bytes) { return static_cast<std::byte*>(from) + bytes; }

}  // namespace

std::int64_t rows_of_logits_at_once(std::int64_t rows, std::int64_t stride, DType dtype, DeviceKind kind) {
  const bool on_cpu = kind == DeviceKind::Cpu;  // which may widen them
  const std::int64_t bytes = stride * bytes_of(on_cpu ? wide_of(dtype) : dtype), multiple = on_cpu ? 16 : 128;
  std::int64_t most = std::max<std::int64_t>(1, (32 << 20) / bytes);
  if (!on_cpu) {
    const std::int64_t few =
        std::clamp<std::int64_t>((128 << 20) / bytes, multiple, std::max<std::int64_t>(1024, (2 << 20) / bytes));
    most = std::clamp(rows / 8, few, 2 * few);
  }
  if (most > multiple) most -= most % multiple;
  const std::int64_t rounds = (rows + most - 1) / most, each = (rows + rounds - 1) / rounds;
  return std::min({round_up(each, multiple), most, rows});
}

HeadProducts::HeadProducts(const HeadProductSizes& s, DType dtype, const DeviceInfo& device)
    : sizes_(s),
      element_(bytes_of(dtype)),
      weight_element_(is_in_blocks(s.of_weight) ? 0 : bytes_of(s.of_weight)),
      dweight_element_(bytes_of(s.wide_dweight ? wide_of(dtype) : dtype)),
      parts_(parts_of_classes(device.kind)) {
  const std::int64_t apart = s.stride == s.classes ? 0 : s.stride;
  for (Part& part : parts_) {
    const bool unaligned = part.first > 0;
    const auto by_weight = [&](const GemmShape& shape) {
      return prepare_weight_product(shape, dtype, s.of_weight, s.in_blocks, device);
    };
    part.logits = by_weight({.m = s.rows,
                             .n = part.classes,
                             .k = s.width,
                             .transpose_b = true,
                             .epilogue = {.bias = s.bias},
                             .stride_c = apart,
                             .unaligned = unaligned});
    const bool is_first = &part == &parts_.front();
    if (s.dx)
      part.dx = by_weight({.m = s.rows,
                           .n = s.width,
                           .k = part.classes,
                           .accumulate = !is_first,
                           .stride_a = apart,
                           .unaligned = unaligned});
    if (s.dweight)
      part.dweight = prepare_gemm({.m = part.classes,
                                   .n = s.width,
                                   .k = s.rows,
                                   .transpose_a = true,
                                   .wide_c = s.wide_dweight,
                                   .accumulate = s.adds_dweight,
                                   .stride_a = apart,
                                   .unaligned = unaligned},
                                  dtype, device);
  }
}

/// On a GPU the classes that make no pack are a part of their own: with them cuBLASLt would read and write all of them
/// an element at a time. They come first: what the others add to their dx is rounded once. A weight in blocks stays
/// whole.
std::vector<HeadProducts::Part> HeadProducts::parts_of_classes(DeviceKind kind) const {
  const bool few = sizes_.classes < 1024;  // launches would cost more
  const bool whole = kind == DeviceKind::Cpu || few || sizes_.in_blocks || is_in_blocks(sizes_.of_weight);
  const std::int64_t rest = whole ? 0 : sizes_.classes % (kPackBytes / element_);
  std::vector<Part> parts;
  if (rest > 0) parts.push_back({sizes_.classes - rest, rest, nullptr, nullptr, nullptr});
  if (rest < sizes_.classes) parts.push_back({0, sizes_.classes - rest, nullptr, nullptr, nullptr});
  return parts;
}

std::int64_t HeadProducts::workspace_bytes() const {
  std::int64_t most = 0;
  for (const Part& part : parts_)
    for (const Kernel* const product : {part.logits.get(), part.dx.get(), part.dweight.get()})
      most = std::max(most, product ? product->workspace_bytes() : 0);
  return most;
}

void HeadProducts::give_logits(const KernelArgs& args, const void* x, const void* weight, const void* bias,
                               void* logits) const {
  for (const Part& part : parts_)
    run_product(args, *part.logits,
                {x, after(weight, part.first * sizes_.width * weight_element_),
                 bias ? after(bias, part.first * element_) : nullptr},
                after(logits, part.first * element_));
}

void HeadProducts::give_gradients(const KernelArgs& args, const void* logits, const void* x, const void* weight,
                                  void* dweight, void* dx) const {
  for (const Part& part : parts_)  // all of these first: dx may stand in the memory of x
    if (part.dweight)
      run_product(args, *part.dweight, {after(logits, part.first * element_), x, nullptr},
                  after(dweight, part.first * sizes_.width * dweight_element_));
  for (const Part& part : parts_)
    if (part.dx)
      run_product(
          args, *part.dx,
          {after(logits, part.first * element_), after(weight, part.first * sizes_.width * weight_element_), nullptr},
          dx);
}

}  // namespace lethe
