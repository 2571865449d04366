// 3 x 3 and 5 x 5 convolutions of stride 1 by Winograd's F(4x4, 3x3) and F(2x2, 5x5), NHWC in and out. Outputs are made
// in chunks of channels: a worker transforms a chunk's kernels, then goes through the image some tiles at a time,
// transforms them, multiplies place by place, and transforms back. All that stays in its caches, and its bytes depend
// on no image size.
#include <algorithm>
#include <numeric>

#include "kernels/conv/providers.h"
#include "kernels/conv/winograd_lines.h"
#include "kernels/cpu/parallel.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

using namespace winograd;

constexpr std::int64_t kChunk = 64;      // channels: so many that transforming tiles again for each chunk costs little
constexpr std::int64_t kMostTiles = 48;  // at a time
constexpr std::int64_t kDepth = 256;     // channels that are summed before they are added to others: rounds less
constexpr std::int64_t kTasks = 4;       // a worker: whoever is interrupted leaves the rest of them to others

/// Whole vectors and panels of the longest kind, so that every processor takes the same memory.
std::int64_t lanes_for(std::int64_t channels) { return round_up(channels, 16); }
std::int64_t panels_for(std::int64_t channels) { return channels > 16 ? round_up(channels, 32) : 16; }

/// A square in both directions; `get(row, column)` and `put(row, column, lanes)`. Some columns at a time, so that what
/// is in between stays in registers.
template <class Transform, class Get, class Put>
[[gnu::always_inline]] inline void transform(const Get& get, const Put& put) {
  constexpr int in = Transform::in, out = Transform::out, columns = out == 6 ? 3 : out == 4 ? 2 : out;
#pragma GCC unroll 2
  for (int first = 0; first < out; first += columns) {
    Lanes half[columns][in];
#pragma GCC unroll 6
    for (int r = 0; r < in; ++r) {
      Lanes row[in], all[out];
#pragma GCC unroll 6
      for (int c = 0; c < in; ++c) row[c] = get(r, c);
      Transform::apply(row, all);
#pragma GCC unroll 5
      for (int c = 0; c < columns; ++c) half[c][r] = all[first + c];
    }
#pragma GCC unroll 5
    for (int c = 0; c < columns; ++c) {
      Lanes column[out];
      Transform::apply(half[c], column);
#pragma GCC unroll 6
      for (int r = 0; r < out; ++r) put(r, first + c, column[r]);
    }
  }
}

/// Squares of a batch of images, one every `step` pixels, from `-pad` on.
struct Tiles {
  std::int64_t height, width, channels;  // of an image
  std::int64_t rows, columns;            // of tiles
  std::int64_t step, pad;

  /// Calls f(get) with get(row, column) a vector of the tile's pixels from channel `c` on; zeros outside.
  template <int Size, class F>
  void read(const float* images, std::int64_t tile, std::int64_t c, const F& f) const {
    const std::int64_t x = tile % columns * step - pad, y = tile / columns % rows * step - pad;
    const std::int64_t image = tile / (rows * columns) * height, count = channels - c;
    const float* const first = images + ((image + y) * width + x) * channels + c;
    const auto pixel = [=, this](int row, int column) { return first + (row * width + column) * channels; };
    if (count < kLanes)
      return f([=, this](int row, int column) {
        return has(y + row, x + column) ? load(pixel(row, column), count) : Lanes{};
      });
    if (has(y, x) && has(y + Size - 1, x + Size - 1))
      return f([=](int row, int column) { return load(pixel(row, column)); });
    bool row_inside[Size], column_inside[Size];
    for (int i = 0; i < Size; ++i) row_inside[i] = has(y + i, 0), column_inside[i] = has(0, x + i);
    alignas(64) static constexpr float zeros[kLanes] = {};
    f([&](int row, int column) { return load(row_inside[row] && column_inside[column] ? pixel(row, column) : zeros); });
  }
  bool has(std::int64_t y, std::int64_t x) const { return y >= 0 && y < height && x >= 0 && x < width; }

  /// Writes what get(row, column) gives of step x step pixels, from channel `c` on, `count` of them.
  template <class Get>
  void write(float* images, std::int64_t tile, std::int64_t c, std::int64_t count, const Get& get) const {
    const std::int64_t x = tile % columns * step, y = tile / columns % rows * step;
    float* const image = images + tile / (rows * columns) * height * width * channels + c;
    for (int row = 0; row < step && y + row < height; ++row)
      for (int column = 0; column < step && x + column < width; ++column)
        store(get(row, column), image + ((y + row) * width + x + column) * channels, count);
  }
};

/// Channels that stand together in panels of so many, row by row: all of them, or as many as a product takes at once.
std::int64_t panel_of(std::int64_t channels) { return std::min<std::int64_t>(kPanel, round_up(channels, kLanes)); }

/// To [place, panel, tile, channel]: `count` tiles from `first` on, `channels` of them from `c` on.
template <class Transform>
void transform_tiles(const Tiles& tiles, const float* images, std::int64_t first, std::int64_t count, std::int64_t c,
                     std::int64_t channels, std::int64_t panel, float* to) {
  const std::int64_t place = count * round_up(channels, panel);
  for (std::int64_t t = 0; t < count; ++t)
    for (std::int64_t lane = 0; lane < channels; lane += kLanes) {
      float* const at = to + (lane / panel * count + t) * panel + lane % panel;
      tiles.read<Transform::in>(images, first + t, c + lane, [&](const auto& get) {
        transform<Transform>(get,
                             [&](int y, int x, const Lanes& lanes) { store(lanes, at + (y * kPoints + x) * place); });
      });
    }
}

template <int kKernel>
class WinogradConv final : public Kernel {
  static constexpr int kOut = kPoints + 1 - kKernel;  // outputs of a tile, in each direction

 public:
  WinogradConv(ConvPass pass, const ConvShape& s, bool bias, int threads) : pass_(pass), s_(s), bias_(bias) {
    const std::int64_t rows = (s.out[0] + kOut - 1) / kOut, columns = (s.out[1] + kOut - 1) / kOut;
    x_ = {s.in[0], s.in[1], s.channels, rows, columns, kOut, s.pad[0]};
    y_ = {s.out[0], s.out[1], s.filters, rows, columns, kOut, 0};
    if (pass == ConvPass::GradInput) {  // a convolution of dy by the kernels turned round
      x_.rows = y_.rows = (s.in[0] + kOut - 1) / kOut;
      x_.columns = y_.columns = (s.in[1] + kOut - 1) / kOut;
      std::swap(x_, y_);
      x_.pad = kKernel - 1 - s.pad[0], y_.pad = 0;
    }
    tiles_ = s.batch * x_.rows * x_.columns;
    const std::int64_t chunks = (y_.channels + kChunk - 1) / kChunk;
    chunk_ = lanes_for((y_.channels + chunks - 1) / chunks);
    chunks_ = (y_.channels + chunk_ - 1) / chunk_;
    pieces_ = std::min((kTasks * threads + chunks_ - 1) / chunks_, tiles_);
    if (pass == ConvPass::GradWeight)  // as few as give every worker as much to do: each piece has a sum of its own
      pieces_ = std::min<std::int64_t>(pieces_, threads / std::gcd(chunks_, static_cast<std::int64_t>(threads)));
    workers_ = std::min<std::int64_t>(threads, chunks_ * pieces_);
    at_once_ = std::min((tiles_ + pieces_ - 1) / pieces_, kMostTiles);
  }

  std::int64_t workspace_bytes() const override { return workers_ * worker_bytes() + (parts() - 1) * part_bytes(); }
  std::string implementation() const override { return "own Winograd"; }

  void run(const KernelArgs& args) const override {
    for (std::int64_t worker = 0; worker < workers_; ++worker) *memory(args, worker).chunk = -1;
    parallel_tasks(chunks_ * pieces_, [&](std::int64_t task, int worker) {
      work(args, memory(args, worker), task / pieces_, task % pieces_);
    });
    if (parts() > 1) add_parts(args);
  }

 private:
  static constexpr std::int64_t kFloat = sizeof(float);

  /// Weight gradients are summed by pieces of the tiles first.
  std::int64_t parts() const { return pass_ == ConvPass::GradWeight ? pieces_ : 1; }
  std::int64_t weights() const { return s_.filters * kKernel * kKernel * s_.channels; }
  std::int64_t part_bytes() const { return aligned(weights() * kFloat); }

  // A worker's memory, each [place, ...]: kernels or their gradient, tiles of x, tiles of y.
  std::int64_t kernel_bytes() const { return aligned(kPlaces * lanes_for(x_.channels) * panels_for(chunk_) * kFloat); }
  std::int64_t x_bytes() const { return aligned(kPlaces * at_once_ * panels_for(x_.channels) * kFloat); }
  std::int64_t y_bytes() const { return aligned(kPlaces * at_once_ * chunk_ * kFloat); }
  std::int64_t worker_bytes() const { return aligned(sizeof(std::int64_t)) + kernel_bytes() + x_bytes() + y_bytes(); }

  struct Memory {
    std::int64_t* chunk;  // whose kernels are there; -1: none
    float *kernels, *x, *y;
  };
  Memory memory(const KernelArgs& args, std::int64_t worker) const {
    char* const first = static_cast<char*>(args.workspace) + worker * worker_bytes();
    char* const kernels = first + aligned(sizeof(std::int64_t));
    const auto floats = [](char* at) { return reinterpret_cast<float*>(at); };
    return {reinterpret_cast<std::int64_t*>(first), floats(kernels), floats(kernels + kernel_bytes()),
            floats(kernels + kernel_bytes() + x_bytes())};
  }

  void work(const KernelArgs& args, const Memory& at, std::int64_t chunk, std::int64_t piece) const {
    const std::int64_t c = chunk * chunk_, channels = std::min(chunk_, y_.channels - c);
    const std::int64_t begin = tiles_ * piece / pieces_, end = tiles_ * (piece + 1) / pieces_;
    if (pass_ == ConvPass::GradWeight) {
      std::fill_n(at.kernels, kernel_bytes() / kFloat, 0.0F);
      for (std::int64_t t = begin; t < end; t += at_once_)
        sum_kernel_gradients(args, at, t, std::min(at_once_, end - t), c, channels);
      return write_kernel_gradients(at, dw(args, piece), c, channels);
    }
    if (*at.chunk != chunk) transform_kernels(args.in<float>(1), at, c, channels);
    *at.chunk = chunk;
    for (std::int64_t t = begin; t < end; t += at_once_)
      make_outputs(args, at, t, std::min(at_once_, end - t), c, channels);
  }

  /// Floats of a place of the kernels.
  std::int64_t place_of(std::int64_t channels) const { return x_.channels * round_up(channels, panel_of(channels)); }

  /// To [place, panel, channel of x, channel of y].
  void transform_kernels(const float* weight, const Memory& at, std::int64_t c, std::int64_t channels) const {
    const std::int64_t panel = panel_of(channels), place = place_of(channels);
    const bool turned = pass_ == ConvPass::GradInput;
    for (std::int64_t depth = 0; depth < x_.channels; ++depth)
      for (std::int64_t lane = 0; lane < channels; lane += kLanes) {
        const std::int64_t count = std::min<std::int64_t>(channels - lane, kLanes);
        const auto kernel = [&](int ky, int kx) {
          constexpr int k = kKernel;
          if (turned) return load(weight + ((depth * k + k - 1 - ky) * k + k - 1 - kx) * s_.channels + c + lane, count);
          float lanes[kLanes] = {};
          for (std::int64_t i = 0; i < count; ++i)
            lanes[i] = weight[(((c + lane + i) * k + ky) * k + kx) * s_.channels + depth];
          return load(lanes);
        };
        float* const to = at.kernels + (lane / panel * x_.channels + depth) * panel + lane % panel;
        transform<OfKernel<kKernel>>(kernel,
                                     [&](int y, int x, const Lanes& v) { store(v, to + (y * kPoints + x) * place); });
      }
  }

  void make_outputs(const KernelArgs& args, const Memory& at, std::int64_t first, std::int64_t count, std::int64_t c,
                    std::int64_t channels) const {
    const std::int64_t x_row = lanes_for(x_.channels), y_row = lanes_for(channels), panel = panel_of(channels);
    transform_tiles<OfImage>(x_, args.in<float>(0), first, count, 0, x_.channels, x_row, at.x);
    for (int p = 0; p < kPlaces; ++p)
      for (std::int64_t depth = 0; depth < x_.channels; depth += kDepth)
        (depth == 0 ? product<false>
                    : product<true>)(count, round_up(channels, kLanes), std::min(kDepth, x_.channels - depth),
                                     {at.x + p * count * x_row + depth, x_row, 1},
                                     {at.kernels + p * place_of(channels) + depth * panel, panel, panel * x_.channels},
                                     at.y + p * count * y_row, y_row);
    for (std::int64_t t = 0; t < count; ++t)
      for (std::int64_t lane = 0; lane < channels; lane += kLanes) {
        const std::int64_t lanes = std::min<std::int64_t>(channels - lane, kLanes);
        const Lanes bias = bias_ ? load(args.in<float>(2) + c + lane, lanes) : Lanes{};
        const float* const from = at.y + t * y_row + lane;
        Lanes out[kOut][kOut];
        transform<ToOutputs<kOut>>([&](int y, int x) { return load(from + (y * kPoints + x) * count * y_row); },
                                   [&](int y, int x, const Lanes& v) { out[y][x] = v + bias; });
        y_.write(args.out<float>(0), first + t, c + lane, lanes,
                 [&](int y, int x) -> const Lanes& { return out[y][x]; });
      }
  }

  /// at.kernels: [place, channel of y, channel of x]
  void sum_kernel_gradients(const KernelArgs& args, const Memory& at, std::int64_t first, std::int64_t count,
                            std::int64_t c, std::int64_t channels) const {
    const std::int64_t x_row = lanes_for(x_.channels), y_row = lanes_for(channels), panel = panel_of(x_.channels);
    transform_tiles<OfImage>(x_, args.in<float>(0), first, count, 0, x_.channels, panel, at.x);
    transform_tiles<OfKernel<kOut>>(y_, args.in<float>(1), first, count, c, channels, y_row, at.y);
    for (int p = 0; p < kPlaces; ++p)
      product<true>(channels, round_up(x_.channels, kLanes), count, {at.y + p * count * y_row, 1, y_row},
                    {at.x + p * count * round_up(x_.channels, panel), panel, count * panel},
                    at.kernels + p * chunk_ * x_row, x_row);
  }

  void write_kernel_gradients(const Memory& at, float* dw, std::int64_t c, std::int64_t channels) const {
    const std::int64_t x_row = lanes_for(x_.channels);
    for (std::int64_t k = 0; k < channels; ++k)
      for (std::int64_t lane = 0; lane < x_.channels; lane += kLanes) {
        const float* const from = at.kernels + k * x_row + lane;
        transform<ToOutputs<kKernel>>([&](int y, int x) { return load(from + (y * kPoints + x) * chunk_ * x_row); },
                                      [&](int y, int x, const Lanes& v) {
                                        store(v, dw + (((c + k) * kKernel + y) * kKernel + x) * s_.channels + lane,
                                              s_.channels - lane);
                                      });
      }
  }

  float* dw(const KernelArgs& args, std::int64_t piece) const {
    if (piece == 0) return args.out<float>(0);
    return reinterpret_cast<float*>(static_cast<char*>(args.workspace) + workers_ * worker_bytes() +
                                    (piece - 1) * part_bytes());
  }

  void add_parts(const KernelArgs& args) const {
    parallel_ranges(weights(), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = 1; piece < pieces_; ++piece) {
        const float* const part = dw(args, piece);
        for (std::int64_t i = begin; i < end; ++i) args.out<float>(0)[i] += part[i];
      }
    });
  }

  ConvPass pass_;
  ConvShape s_;
  bool bias_;
  Tiles x_, y_;  // what is read and what is made; of weight gradients both are read
  std::int64_t tiles_, chunk_, chunks_, pieces_, workers_, at_once_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_conv_winograd(ConvPass pass, const ConvShape& s, bool bias, int threads) {
  const Extent once = {1, 1};
  const bool serves = s.groups == 1 && s.stride == once && s.dilation == once && s.kernel[0] == s.kernel[1] &&
                      s.pad[0] == s.pad[1] && s.pad[0] < s.kernel[0];
  if (!serves) return nullptr;
  bias = bias && pass == ConvPass::Forward;
  if (s.kernel[0] == 3) return std::make_unique<WinogradConv<3>>(pass, s, bias, threads);
  if (s.kernel[0] == 5) return std::make_unique<WinogradConv<5>>(pass, s, bias, threads);
  return nullptr;
}

}  // namespace lethe
