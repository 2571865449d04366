// What codes in blocks mean (framework/language/block_formats.h): numbers that share a scale are a group, and a group
// and a place in it give a number, on both devices. By dtype a type with
//
//   size()                  numbers of a group
//   group(memory, g)        the codes of group g, and its scales
//   value(group, i)         its number i
#pragma once
#include <cstddef>

#include "framework/error.h"
#include "framework/language/block_formats.h"
#include "kernels/low_formats.h"
#include "kernels/quantized/nf4_number.h"

namespace lethe {

/// A weight as it lies in memory. Its shape is for blocks alone.
struct BlockedWeight {
  DType dtype;
  Shape shape = {};
};

struct CodeGroup {
  const std::uint8_t* codes;
  float scale, least;
};

HD inline float f32_at(const std::byte* at) { return *reinterpret_cast<const float*>(at); }
HD inline float f16_at(const std::byte* at) { return F16Format::widen(*reinterpret_cast<const std::uint16_t*>(at)); }
HD inline const std::uint8_t* codes_at(const std::byte* at) { return reinterpret_cast<const std::uint8_t*>(at); }
/// Number i of 32: the low halves of 16 bytes, then the high ones.
HD inline int gguf_nibble(const std::uint8_t* codes, std::int64_t i) { return codes[i & 15] >> (i >> 4 << 2) & 15; }

struct Int8Groups {
  BlockFormat format;
  HD std::int64_t size() const { return format.elements; }
  HD CodeGroup group(const std::byte* memory, std::int64_t g) const {
    const std::byte* const block = memory + g * format.bytes;
    return {codes_at(block + 4), f32_at(block), 0};
  }
  HD static float value(const CodeGroup& of, std::int64_t i) {
    return static_cast<float>(static_cast<std::int8_t>(of.codes[i])) * of.scale * 7.874015718698502e-3F;  // 1 / 127
  }
};

struct Q80Groups {
  BlockFormat format;
  HD static constexpr std::int64_t size() { return kGgufBlock; }
  HD CodeGroup group(const std::byte* memory, std::int64_t g) const {
    const std::byte* const block = memory + g * format.bytes;
    return {codes_at(block + 2), f16_at(block), 0};
  }
  HD static float value(const CodeGroup& of, std::int64_t i) {
    return static_cast<float>(static_cast<std::int8_t>(of.codes[i])) * of.scale;
  }
};

struct Q40Groups : Q80Groups {
  HD static float value(const CodeGroup& of, std::int64_t i) {
    return static_cast<float>(gguf_nibble(of.codes, i) - 8) * of.scale;
  }
};

struct Q41Groups : Q80Groups {
  HD CodeGroup group(const std::byte* memory, std::int64_t g) const {
    const std::byte* const block = memory + g * format.bytes;
    return {codes_at(block + 4), f16_at(block), f16_at(block + 2)};
  }
  HD static float value(const CodeGroup& of, std::int64_t i) {
    return static_cast<float>(gguf_nibble(of.codes, i)) * of.scale + of.least;
  }
};

struct Nf4Groups {
  BlockFormat format;
  HD static constexpr std::int64_t size() { return kNf4Block; }
  HD CodeGroup group(const std::byte* memory, std::int64_t g) const {
    const std::byte* const block = memory + g * format.bytes;
    return {codes_at(block + 4), f32_at(block), 0};
  }
  HD static float value(const CodeGroup& of, std::int64_t i) {
    return nf4_number(of.codes[i >> 1] >> (i & 1 ? 0 : 4) & 15) * of.scale;
  }
};

struct Nf4DoubleGroups : Nf4Groups {
  HD CodeGroup group(const std::byte* memory, std::int64_t g) const {
    const std::int64_t within = g % kNf4Blocks;
    const std::byte* const block = memory + format.header + g / kNf4Blocks * format.bytes;
    const float part = f32_at(memory + 4 + 4 * codes_at(block + 4)[within]);
    return {codes_at(block + 4 + kNf4Blocks + within * (kNf4Block / 2)), part * f32_at(block) + f32_at(memory), 0};
  }
};

}  // namespace lethe
