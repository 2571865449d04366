// f32 convolutions of stride 1 by AMX's bf16 tiles. Each factor is the sum of two bf16 numbers, high + low, but for
// 2^-18 of it, and a product that of high high, low high and high low, with sums in f32. A worker splits some rows of
// an image, with zeros around them, and multiplies from there: pixels follow each other row by row, so that what a row
// of the kernel covers of 16 of them is a tile, one pixel further for each row of it. What is computed for the pixels
// of the border is not written. The input's gradient is a convolution of dy by the kernels turned round.
#include <algorithm>
#include <bit>

#include "kernels/conv/providers.h"
#include "kernels/cpu/bf16_units.h"
#include "kernels/cpu/parallel.h"
#include "kernels/low_lanes.h"
#include "kernels/tiles/registers.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

using tiles::kColumns, tiles::kDepth, tiles::kRows;

constexpr std::int64_t kBandBytes = 512 << 10;  // of rows, so that they and the weights of two tiles stay in a cache
constexpr std::int64_t kTasksOfWorker = 4;      // others take over what an interrupted one has left
constexpr std::int64_t kPixels = 2 * kRows, kFilters = 2 * kColumns;  // of a block of four tiles of sums

/// high + low = from, but for 2^-18 of it; low is 0 beside what is not finite.
void split(const float* from, std::int64_t count, Bf16* high, Bf16* low) {
  for (std::int64_t i = 0; i < count; i += simd::kLanes) {
    const simd::Lanes all = simd::load(from + i, count - i);
    const simd::Lanes rest = all - simd::widen(simd::round_to_bf16(all));
    const simd::Words bits = std::bit_cast<simd::Words>(rest);
    const simd::Words finite = (bits & 0x7F800000U) == 0x7F800000U ? simd::Words{} : bits;
    simd::store(all, high + i, count - i);
    simd::store(std::bit_cast<simd::Lanes>(finite), low + i, count - i);
  }
}

template <class Tiles>
class FastF32Conv final : public Kernel {
 public:
  FastF32Conv(ConvPass pass, const ConvShape& s, bool bias, int threads)
      : turned_(pass == ConvPass::GradInput), bias_(bias), batch_(s.batch), kernel_(s.kernel) {
    const Extent pad = turned_ ? Extent{s.kernel[0] - 1 - s.pad[0], s.kernel[1] - 1 - s.pad[1]} : s.pad;
    in_ = turned_ ? s.out : s.in, out_ = turned_ ? s.in : s.out, pad_ = pad;
    channels_ = turned_ ? s.filters : s.channels, filters_ = turned_ ? s.channels : s.filters;
    row_pixels_ = in_[1] + 2 * pad[1];
    depth_ = round_up(kernel_[1] * channels_, kDepth);
    const std::int64_t row_bytes = 2 * row_pixels_ * channels_ * std::int64_t{sizeof(Bf16)};
    const std::int64_t fit = kBandBytes / row_bytes - kernel_[0] + 1;
    const std::int64_t shared = out_[0] * s.batch / (kTasksOfWorker * threads);
    band_ = std::clamp<std::int64_t>(std::min(fit, shared), 1, out_[0]);
    bands_ = (out_[0] + band_ - 1) / band_;
    workers_ = std::min<std::int64_t>(threads, batch_ * bands_);
    // Behind the rows lies what the last tiles read beyond them.
    band_size_ = round_up(((band_ + kernel_[0] - 1) * row_pixels_ + kPixels) * channels_ + depth_, kDepth);
    weights_ = layout_.add_array<Bf16>(2 * filter_tiles() * tiles_of_filters());
    bands_memory_ = layout_.add_array<Bf16>(2 * workers_ * band_size_);
  }
  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return "own AMX, three bf16 products"; }

  void run(const KernelArgs& args) const override {
    const int workers = static_cast<int>(workers_);
    parallel_tasks(filter_tiles(), workers,
                   [&](std::int64_t tile, int) { pack(args.in<float>(1), tile, weights_.at<Bf16>(args)); });
    parallel_tasks(batch_ * bands_, workers, [&](std::int64_t task, int worker) {
      const std::int64_t image = task / bands_, first = task % bands_ * band_;
      const std::int64_t rows = std::min(band_, out_[0] - first);
      Bf16* const high = bands_memory_.at<Bf16>(args) + 2 * worker * band_size_;
      split_rows(args.in<float>(0) + image * in_[0] * in_[1] * channels_, first - pad_[0], rows + kernel_[0] - 1, high);
      multiply(high, weights_.at<Bf16>(args), bias_ ? args.in<float>(2) : nullptr, rows,
               args.out<float>(0) + (image * out_[0] + first) * out_[1] * filters_);
    });
  }

 private:
  // Weights are packed [filter tile][row of the kernel][tile of its depth][high, low].
  std::int64_t filter_tiles() const { return (filters_ + kColumns - 1) / kColumns; }
  std::int64_t tiles_of_filters() const { return kernel_[0] * depth_ * kColumns; }  // elements, of high or low

  void pack(const float* weight, std::int64_t filter_tile, Bf16* weights) const {
    Bf16* to = weights + 2 * filter_tile * tiles_of_filters();
    const std::int64_t first = filter_tile * kColumns, count = std::min(kColumns, filters_ - first);
    for (std::int64_t row = 0; row < kernel_[0]; ++row)
      for (std::int64_t depth = 0; depth < depth_; depth += kDepth, to += 2 * tiles::kSize) {
        float part[kDepth / 2][kColumns][2] = {};  // as a tile lies
        const std::int64_t deep = std::min(kDepth, kernel_[1] * channels_ - depth);
        if (turned_)
          for (std::int64_t k = 0; k < deep; ++k) {
            const float* const from = turned_row(weight, row, depth + k) + first;
            for (std::int64_t i = 0; i < count; ++i) part[k / 2][i][k % 2] = from[i];
          }
        else
          for (std::int64_t i = 0; i < count; ++i) {
            const float* const from = weight + ((first + i) * kernel_[0] + row) * kernel_[1] * channels_ + depth;
            for (std::int64_t k = 0; k < deep; ++k) part[k / 2][i][k % 2] = from[k];
          }
        split(part[0][0], tiles::kSize, to, to + tiles::kSize);
      }
  }

  /// Of all filters, the weights of a row of the turned kernels, `at` channels from its begin.
  const float* turned_row(const float* weight, std::int64_t row, std::int64_t at) const {
    const std::int64_t column = at / channels_, channel = at - column * channels_;
    return weight + ((channel * kernel_[0] + kernel_[0] - 1 - row) * kernel_[1] + kernel_[1] - 1 - column) * filters_;
  }

  /// `rows` of the image from `first` on, which may lie outside.
  void split_rows(const float* image, std::int64_t first, std::int64_t rows, Bf16* high) const {
    Bf16* const low = high + band_size_;
    const auto clear = [&](std::int64_t begin, std::int64_t end) {
      std::fill(high + begin, high + end, Bf16());
      std::fill(low + begin, low + end, Bf16());
    };
    const std::int64_t row_size = row_pixels_ * channels_, pad = pad_[1] * channels_, size = in_[1] * channels_;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t y = first + row, at = row * row_size;
      if (y < 0 || y >= in_[0]) {
        clear(at, at + row_size);
        continue;
      }
      clear(at, at + pad);
      split(image + y * size, size, high + at + pad, low + at + pad);
      clear(at + pad + size, at + row_size);
    }
    clear(rows * row_size, band_size_);
  }

  void multiply(const Bf16* high, const Bf16* weights, const float* bias, std::int64_t rows, float* y) const {
    Tiles registers;
    const std::int64_t pixels = (rows - 1) * row_pixels_ + out_[1];
    for (std::int64_t filter = 0; filter < filters_; filter += kFilters)
      for (std::int64_t pixel = 0; pixel < pixels; pixel += kPixels) {
        alignas(64) float sums[kPixels][kFilters];
        const Bf16* const from = weights + 2 * (filter / kColumns) * tiles_of_filters();
        if (filter + kColumns < filters_)
          block<true>(registers, high + pixel * channels_, from, sums);
        else
          block<false>(registers, high + pixel * channels_, from, sums);
        write(sums, filter, pixel, pixels, bias, y);
      }
  }

  /// 32 pixels by 32 filters, or by 16.
  template <bool Two>
  void block(Tiles& registers, const Bf16* high, const Bf16* weights, float (*sums)[kFilters]) const {
    constexpr int kLeft = 4, kRight = 6;  // and one more each; sums are 0 to 3
    const std::int64_t stride = channels_ * std::int64_t{sizeof(Bf16)}, below = kRows * channels_;
    constexpr std::int64_t kPacked = kDepth * sizeof(Bf16);
    const std::int64_t next = 2 * tiles_of_filters();  // filters
    const auto left = [&](const Bf16* from) {
      registers.template load<kLeft>(from, stride);
      registers.template load<kLeft + 1>(from + below, stride);
    };
    const auto right = [&](const Bf16* from) {
      registers.template load<kRight>(from, kPacked);
      if constexpr (Two) registers.template load<kRight + 1>(from + next, kPacked);
    };
    const auto add = [&] {
      registers.template multiply<0, kLeft, kRight>();
      registers.template multiply<2, kLeft + 1, kRight>();
      if constexpr (Two) registers.template multiply<1, kLeft, kRight + 1>();
      if constexpr (Two) registers.template multiply<3, kLeft + 1, kRight + 1>();
    };
    registers.template zero<0>();
    registers.template zero<1>();
    registers.template zero<2>();
    registers.template zero<3>();
    for (std::int64_t row = 0; row < kernel_[0]; ++row)
      for (std::int64_t depth = 0; depth < depth_; depth += kDepth, weights += 2 * tiles::kSize) {
        const Bf16* const pixels = high + row * row_pixels_ * channels_ + depth;
        right(weights);
        left(pixels + band_size_);
        add();
        left(pixels);
        add();
        right(weights + tiles::kSize);
        add();
      }
    constexpr std::int64_t kStride = kFilters * sizeof(float);
    registers.template store<0>(sums[0], kStride);
    registers.template store<2>(sums[kRows], kStride);
    if constexpr (Two) registers.template store<1>(sums[0] + kColumns, kStride);
    if constexpr (Two) registers.template store<3>(sums[kRows] + kColumns, kStride);
  }

  /// Those of 32 pixels of the rows that lie in the image.
  void write(const float (*sums)[kFilters], std::int64_t filter, std::int64_t pixel, std::int64_t pixels,
             const float* bias, float* y) const {
    const std::int64_t count = std::min(kFilters, filters_ - filter);
    std::int64_t row = pixel / row_pixels_, column = pixel % row_pixels_;
    for (std::int64_t i = 0; i < std::min(kPixels, pixels - pixel); ++i) {
      if (column < out_[1]) {
        float* const to = y + (row * out_[1] + column) * filters_ + filter;
        for (std::int64_t k = 0; k < count; k += simd::kLanes) {
          simd::Lanes lanes = simd::load(sums[i] + k);
          if (bias) lanes += simd::load(bias + filter + k, count - k);
          simd::store(lanes, to + k, count - k);
        }
      }
      if (++column == row_pixels_) column = 0, ++row;
    }
  }

  bool turned_;  // the kernels are
  bool bias_;
  std::int64_t batch_, channels_ = 0, filters_ = 0;
  Extent kernel_, in_ = {}, out_ = {}, pad_ = {};
  std::int64_t row_pixels_ = 0, depth_ = 0;            // with padding; of a row of the kernel, in whole tiles
  std::int64_t band_ = 0, bands_ = 0, band_size_ = 0;  // output rows; of an image; elements of high or low
  std::int64_t workers_ = 0;
  WorkspaceLayout layout_;
  WorkspacePart weights_, bands_memory_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_conv_fast_f32(ConvPass pass, const ConvShape& s, bool bias, int threads) {
  const Extent once = {1, 1};
  const bool is_forward = pass == ConvPass::Forward;
  const std::int64_t summed = is_forward ? s.channels : s.filters, made = is_forward ? s.filters : s.channels;
  // For shorter sums the error could be more than twenty times that of f32: it is 4.5e-6 of a result, however long the
  // sum is, and f32's grows with the root of its terms. For fewer 1x1 kernels splitting the image takes longer than
  // multiplying saves.
  constexpr std::int64_t kShortestSum = 256, kFewestPointwise = 192;
  const bool serves = pass != ConvPass::GradWeight && s.groups == 1 && s.stride == once && s.dilation == once &&
                      s.pad[0] < s.kernel[0] && s.pad[1] < s.kernel[1] && summed >= kColumns &&
                      s.kernel[0] * s.kernel[1] * summed >= kShortestSum &&
                      (s.kernel != once || made >= kFewestPointwise);
  if (!serves) return nullptr;
  bias = bias && is_forward;
  if (has_amx()) return std::make_unique<FastF32Conv<tiles::AmxTiles>>(pass, s, bias, threads);
  return std::make_unique<FastF32Conv<tiles::PlainTiles>>(pass, s, bias, threads);
}

}  // namespace lethe
