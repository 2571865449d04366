// 3 x 3 and 5 x 5 convolutions of stride 1 by Winograd's F(4x4, 3x3) and F(2x2, 5x5), NHWC in and out. Outputs are made
// in chunks of channels: a worker transforms a chunk's kernels, then goes through the image some tiles at a time,
// transforms them, multiplies place by place, and transforms back. What a worker takes has a bound that no image size
// changes.
#include <algorithm>
#include <numeric>
#include <type_traits>

#include "kernels/conv/piece_sums.h"
#include "kernels/conv/providers.h"
#include "kernels/conv/winograd_tiles.h"
#include "kernels/gemm/wide_parts.h"

namespace lethe {
namespace {

using namespace winograd;

constexpr std::int64_t kChunk = 64;      // channels: so many that transforming tiles again for each chunk costs little
constexpr std::int64_t kMostTiles = 48;  // at a time
constexpr std::int64_t kDepth = 96;      // channels that are summed by themselves first, which rounds less
constexpr std::int64_t kTasks = 4;       // for each worker: others take over what an interrupted one has left
constexpr std::int64_t kMostSumBytes = 32 << 20;  // of sums of weight gradients beside the first

/// Rounded for the widest vectors, so that the workspace has the same size on every processor.
std::int64_t lanes_for(std::int64_t channels) { return round_up(channels, 16); }
std::int64_t panels_for(std::int64_t channels) { return channels > 16 ? round_up(channels, 32) : 16; }

/// Of T, computed in f32.
template <class T, int kKernel>
class WinogradConv final : public Kernel {
  static constexpr int kOut = kPoints + 1 - kKernel;  // outputs of a tile, in each direction
  static constexpr bool kWide = std::is_same_v<T, float>;

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
    // Weight gradients have a sum for each piece: the fewest that divide evenly among workers.
    if (pass == ConvPass::GradWeight)
      pieces_ = std::min({pieces_, threads / std::gcd(chunks_, static_cast<std::int64_t>(threads)),
                          1 + kMostSumBytes / sums().bytes_of_one()});
    workers_ = std::min<std::int64_t>(threads, chunks_ * pieces_);
    at_once_ = std::min((tiles_ + pieces_ - 1) / pieces_, kMostTiles);
    kernels_ = layout_.add(kernel_slots() * kernel_bytes());
    tile_memory_ = layout_.add(workers_ * worker_bytes());
    if (pass == ConvPass::GradWeight) {
      first_sum_ = layout_.add_array<float>(kWide ? 0 : weight_size(s));
      other_sums_ = layout_.add(sums().bytes());
    }
  }

  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return "own Winograd"; }

  void run(const KernelArgs& args) const override {
    const int workers = static_cast<int>(workers_);
    if (has_all_kernels())
      parallel_tasks(chunks_ * kTasks, workers, [&](std::int64_t task, int) {
        const std::int64_t part = task % kTasks;
        transform_kernels(args.in<T>(1), kernels(args, task / kTasks), task / kTasks, x_.channels * part / kTasks,
                          x_.channels * (part + 1) / kTasks);
      });
    parallel_tasks(chunks_ * pieces_, workers, [&](std::int64_t task, int worker) { work(args, worker, task); });
    if (pass_ == ConvPass::GradWeight) add_up(args);
  }

 private:
  static constexpr std::int64_t kFloat = sizeof(float);

  /// Weight gradients are summed by pieces of the tiles first.
  PieceSums<float> sums() const { return {weight_size(s_), pieces_}; }
  float* first_sum(const KernelArgs& args) const {
    if constexpr (kWide)
      return args.out<float>(0);
    else
      return first_sum_.at<float>(args);
  }
  void add_up(const KernelArgs& args) const {
    sums().add_up(first_sum(args), other_sums_.at(args));
    if constexpr (!kWide) convert(first_sum(args), args.out<T>(0), weight_size(s_));
  }

  // A worker's memory, each [place, ...]: kernels or their gradient, tiles of x, tiles of y.
  std::int64_t kernel_bytes() const { return aligned(kPlaces * lanes_for(x_.channels) * panels_for(chunk_) * kFloat); }
  std::int64_t x_bytes() const { return aligned(kPlaces * at_once_ * panels_for(x_.channels) * kFloat); }
  std::int64_t y_bytes() const { return aligned(kPlaces * at_once_ * chunk_ * kFloat); }
  std::int64_t worker_bytes() const { return x_bytes() + y_bytes(); }

  /// Whether the transformed kernels of all chunks are there; else each worker has those of the chunk that it is at.
  bool has_all_kernels() const { return pass_ != ConvPass::GradWeight && chunks_ <= 2 * workers_; }
  std::int64_t kernel_slots() const { return has_all_kernels() ? chunks_ : workers_; }

  float* kernels(const KernelArgs& args, std::int64_t slot) const {
    return kernels_.at<float>(args) + slot * kernel_bytes() / kFloat;
  }

  struct Memory {
    float *kernels, *x, *y;
  };
  /// Of y.
  struct Channels {
    std::int64_t first, count;
  };
  Channels channels_of(std::int64_t chunk) const {
    return {chunk * chunk_, std::min(chunk_, y_.channels - chunk * chunk_)};
  }

  void work(const KernelArgs& args, int worker, std::int64_t task) const {
    const std::int64_t chunk = task / pieces_, piece = task % pieces_;
    const std::int64_t begin = tiles_ * piece / pieces_, end = tiles_ * (piece + 1) / pieces_;
    float* const x = tile_memory_.at<float>(args) + worker * worker_bytes() / kFloat;
    const Memory at{kernels(args, has_all_kernels() ? chunk : worker), x, x + x_bytes() / kFloat};
    const Channels c = channels_of(chunk);
    if (pass_ == ConvPass::GradWeight)
      std::fill_n(at.kernels, kernel_bytes() / kFloat, 0.0F);
    else if (!has_all_kernels())
      transform_kernels(args.in<T>(1), at.kernels, chunk, 0, x_.channels);
    for (std::int64_t t = begin; t < end; t += at_once_) {
      const std::int64_t count = std::min(at_once_, end - t);
      if (pass_ == ConvPass::GradWeight)
        sum_kernel_gradients(args, at, t, count, c);
      else
        make_outputs(args, at, t, count, c);
    }
    if (pass_ == ConvPass::GradWeight)
      write_kernel_gradients(at, sums().at(first_sum(args), other_sums_.at(args), piece), c);
  }

  /// Floats of a place of the kernels.
  std::int64_t place_of(std::int64_t channels) const { return x_.channels * round_up(channels, panel_of(channels)); }

  /// Those of x's channels from `begin` to `end`, to [place, panel, channel of x, channel of y].
  void transform_kernels(const T* weight, float* kernels, std::int64_t chunk, std::int64_t begin,
                         std::int64_t end) const {
    constexpr int k = kKernel;
    const Channels c = channels_of(chunk);
    const std::int64_t panel = panel_of(c.count), place = place_of(c.count);
    for (std::int64_t depth = begin; depth < end; ++depth)
      for (std::int64_t lane = 0; lane < c.count; lane += kLanes) {
        const std::int64_t count = std::min<std::int64_t>(c.count - lane, kLanes), first = c.first + lane;
        Lanes kernel[k][k] = {};
        for (int y = 0; y < k; ++y)
          for (int x = 0; x < k; ++x) {
            if (pass_ == ConvPass::GradInput) {  // turned round
              kernel[y][x] = load(weight + ((depth * k + k - 1 - y) * k + k - 1 - x) * s_.channels + first, count);
              continue;
            }
            float lanes[kLanes] = {};
            for (std::int64_t i = 0; i < count; ++i)
              lanes[i] = weight[(((first + i) * k + y) * k + x) * s_.channels + depth];
            kernel[y][x] = load(lanes);
          }
        float* const to = kernels + (lane / panel * x_.channels + depth) * panel + lane % panel;
        transform<OfKernel<k>>([&](int y, int x) { return kernel[y][x]; },
                               [&](int y, int x, const Lanes& v) { store(v, to + (y * kPoints + x) * place); });
      }
  }

  void make_outputs(const KernelArgs& args, const Memory& at, std::int64_t first, std::int64_t count,
                    Channels c) const {
    const std::int64_t x_row = lanes_for(x_.channels), y_row = lanes_for(c.count), panel = panel_of(c.count);
    transform_tiles<OfImage>(x_, args.in<T>(0), first, count, 0, x_.channels, x_row, at.x);
    for (int p = 0; p < kPlaces; ++p)
      for (std::int64_t depth = 0; depth < x_.channels; depth += kDepth) {
        const auto sum = depth == 0 ? product<false> : product<true>;
        sum(count, round_up(c.count, kLanes), std::min(kDepth, x_.channels - depth),
            {at.x + p * count * x_row + depth, x_row, 1},
            {at.kernels + p * place_of(c.count) + depth * panel, panel, panel * x_.channels}, at.y + p * count * y_row,
            y_row);
      }
    for (std::int64_t t = 0; t < count; ++t)
      for (std::int64_t lane = 0; lane < c.count; lane += kLanes) {
        const std::int64_t lanes = std::min<std::int64_t>(c.count - lane, kLanes);
        const Lanes bias = bias_ ? load(args.in<T>(2) + c.first + lane, lanes) : Lanes{};
        const float* const from = at.y + t * y_row + lane;
        Lanes out[kOut][kOut];
        transform<ToOutputs<kOut>>([&](int y, int x) { return load(from + (y * kPoints + x) * count * y_row); },
                                   [&](int y, int x, const Lanes& v) { out[y][x] = v + bias; });
        y_.write(args.out<T>(0), first + t, c.first + lane, lanes,
                 [&](int y, int x) -> const Lanes& { return out[y][x]; });
      }
  }

  /// at.kernels: [place, channel of y, channel of x]
  void sum_kernel_gradients(const KernelArgs& args, const Memory& at, std::int64_t first, std::int64_t count,
                            Channels c) const {
    const std::int64_t x_row = lanes_for(x_.channels), y_row = lanes_for(c.count), panel = panel_of(x_.channels);
    transform_tiles<OfImage>(x_, args.in<T>(0), first, count, 0, x_.channels, panel, at.x);
    transform_tiles<OfKernel<kOut>>(y_, args.in<T>(1), first, count, c.first, c.count, y_row, at.y);
    for (int p = 0; p < kPlaces; ++p)
      product<true>(c.count, round_up(x_.channels, kLanes), count, {at.y + p * count * y_row, 1, y_row},
                    {at.x + p * count * round_up(x_.channels, panel), panel, count * panel},
                    at.kernels + p * chunk_ * x_row, x_row);
  }

  void write_kernel_gradients(const Memory& at, float* dw, Channels c) const {
    const std::int64_t x_row = lanes_for(x_.channels);
    for (std::int64_t k = 0; k < c.count; ++k)
      for (std::int64_t lane = 0; lane < x_.channels; lane += kLanes) {
        const float* const from = at.kernels + k * x_row + lane;
        const auto put = [&](int y, int x, const Lanes& v) {
          store(v, dw + (((c.first + k) * kKernel + y) * kKernel + x) * s_.channels + lane, s_.channels - lane);
        };
        transform<ToOutputs<kKernel>>([&](int y, int x) { return load(from + (y * kPoints + x) * chunk_ * x_row); },
                                      put);
      }
  }

  ConvPass pass_;
  ConvShape s_;
  bool bias_;
  Tiles x_, y_;  // what is read and what is made; of weight gradients both are read
  std::int64_t tiles_, chunk_, chunks_, pieces_, workers_, at_once_;
  WorkspaceLayout layout_;
  WorkspacePart kernels_, tile_memory_;   // by slot, by worker
  WorkspacePart first_sum_, other_sums_;  // of weight gradients; the first is the output itself if that is f32
};

}  // namespace

std::unique_ptr<Kernel> prepare_conv_winograd(ConvPass pass, const ConvShape& s, bool bias, DType dtype, int threads) {
  const Extent once = {1, 1};
  const bool serves = (dtype == DType::f32 || dtype == DType::bf16) && s.groups == 1 && s.stride == once &&
                      s.dilation == once && s.kernel[0] == s.kernel[1] && (s.kernel[0] == 3 || s.kernel[0] == 5) &&
                      s.pad[0] == s.pad[1] && s.pad[0] < s.kernel[0];
  if (!serves) return nullptr;
  bias = bias && pass == ConvPass::Forward;
  const auto prepared = [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if (s.kernel[0] == 3) return std::make_unique<WinogradConv<T, 3>>(pass, s, bias, threads);
    return std::make_unique<WinogradConv<T, 5>>(pass, s, bias, threads);
  };
  return dtype == DType::f32 ? prepared(float{}) : prepared(Bf16{});
}

}  // namespace lethe
