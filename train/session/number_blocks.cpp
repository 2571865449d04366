#include "train/session/number_blocks.h"

#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "framework/language/quantize.h"
#include "kernels/quantized/dequantize.h"
#include "train/session/stored_tensor.h"

namespace lethe {
namespace {

bool has_magnitudes(DType dtype) { return dtype == DType::int8 || dtype == DType::nf4; }

std::vector<std::byte> floats_of(const std::vector<std::byte>& blocks, DType dtype, const Shape& shape) {
  const std::int64_t count = elements(shape);
  std::vector<std::byte> values(static_cast<std::size_t>(count) * sizeof(float));
  dequantize(Cpu{}, nullptr, {dtype, shape}, blocks.data(), 0, count, reinterpret_cast<float*>(values.data()));
  return values;
}

std::vector<std::byte> blocks_of(const std::vector<std::byte>& floats, DType dtype, const Shape& shape) {
  std::vector<std::byte> blocks(static_cast<std::size_t>(bytes_of(dtype, shape)));
  Quantizer quantizer(dtype, shape, blocks.data());
  quantizer.add(reinterpret_cast<const float*>(floats.data()), elements(shape));
  quantizer.finish();
  return blocks;
}

}  // namespace

bool blocks_join(DType dtype, const Shape& part) {
  if (dtype == DType::nf4) return elements(part) % kNf4Block == 0;
  return dtype == DType::int8 || dtype == DType::q8_0 || dtype == DType::q4_0 || dtype == DType::q4_1;
}

std::string complaint_about_values(const std::vector<std::byte>& blocks, DType dtype, const Shape& shape) {
  return for_groups({dtype, shape}, [&](const auto& groups) -> std::string {
    const std::int64_t count = (elements(shape) + groups.size() - 1) / groups.size();
    for (std::int64_t g = 0; g < count; ++g) {
      const CodeGroup group = groups.group(blocks.data(), g);
      const bool is_finite = std::isfinite(group.scale) && std::isfinite(group.least);
      if (!is_finite || (has_magnitudes(dtype) && group.scale < 0))
        return message("has a scale of ", std::isfinite(group.least) ? group.scale : group.least, " at element ",
                       g * groups.size());
    }
    return "";
  });
}

std::vector<std::byte> converted(std::vector<std::byte> values, DType from, DType to, const Shape& shape) {
  if (from == to) return values;
  if (is_in_blocks(from)) return converted(floats_of(values, from, shape), DType::f32, to, shape);
  if (is_in_blocks(to)) return blocks_of(converted(std::move(values), from, DType::f32), to, shape);
  return converted(std::move(values), from, to);
}

}  // namespace lethe
