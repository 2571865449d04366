#include <algorithm>

#include "framework/error.h"
#include "kernels/conv/columns.h"
#include "kernels/conv/piece_sums.h"
#include "kernels/conv/providers.h"
#include "kernels/cpu/parallel.h"
#include "kernels/gemm/block.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

/// Columns of one tile stay in a core's second-level cache, unless they would be too few to use a weight often enough.
constexpr std::int64_t kTileBytes = 512 << 10, kTilePositions = 96;

/// The output rows of the batch are cut into one piece a worker (whole images in GradInput, where neighbouring rows add
/// to the same pixels), and each piece into tiles whose columns are built, multiplied and forgotten. Weight gradients
/// are summed per piece and then over pieces, in order.
template <class T>
class Im2colConv final : public Kernel {
 public:
  Im2colConv(ConvPass pass, const ConvShape& shape, bool bias, int threads)
      : pass_(pass),
        s_(shape),
        bias_(bias),
        columns_(shape),
        unit_rows_(pass == ConvPass::GradInput ? shape.out[0] : 1),
        units_(shape.batch * shape.out[0] / unit_rows_),
        pieces_(std::min<std::int64_t>(threads, units_)),
        tile_rows_(std::min(wanted_tile_rows(), (units_ + pieces_ - 1) / pieces_ * unit_rows_)),
        product_(product_for(pass)),
        pieces_memory_(layout_.add(pieces_ * piece_bytes())),
        other_sums_(layout_.add(pass == ConvPass::GradWeight ? sums().bytes() : 0)) {}

  std::int64_t workspace_bytes() const override { return layout_.bytes(); }

  std::string implementation() const override { return "im2col, Eigen"; }

  void run(const KernelArgs& args) const override {
    parallel_ranges(pieces_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = begin; piece < end; ++piece) run_piece(args, piece);
    });
    if (pass_ == ConvPass::GradWeight) sums().add_up(args.out<T>(0), other_sums_.at(args));
  }

 private:
  static constexpr std::int64_t sizeof_t = sizeof(T);

  std::int64_t row_bytes() const { return s_.out[1] * columns_.depth() * sizeof_t; }
  std::int64_t wanted_tile_rows() const {
    return std::max(kTileBytes / row_bytes(), (kTilePositions + s_.out[1] - 1) / s_.out[1]);
  }
  std::int64_t columns_bytes() const { return columns_.is_image() ? 0 : aligned(tile_rows_ * row_bytes()); }
  std::int64_t piece_bytes() const { return columns_bytes() + product_.packing_bytes(); }
  std::int64_t weights() const { return s_.filters * columns_.depth(); }
  std::int64_t group_channels() const { return s_.channels / s_.groups; }
  std::int64_t group_filters() const { return s_.filters / s_.groups; }

  BlockProduct<T> product_for(ConvPass pass) const {
    const std::int64_t positions = tile_rows_ * s_.out[1], depth = columns_.depth();
    if (pass == ConvPass::Forward) return {positions, group_filters(), depth};
    if (pass == ConvPass::GradInput) return {positions, depth, group_filters()};
    return {group_filters(), depth, positions};
  }

  struct Tile {
    std::int64_t row, positions, rows;
    T* columns;
    void* packing;
  };

  void run_piece(const KernelArgs& args, std::int64_t piece) const {
    const std::int64_t begin = units_ * piece / pieces_ * unit_rows_, end = units_ * (piece + 1) / pieces_ * unit_rows_;
    char* const memory = pieces_memory_.at<char>(args) + piece * piece_bytes();
    T* const dw = pass_ == ConvPass::GradWeight ? sums().at(args.out<T>(0), other_sums_.at(args), piece) : nullptr;
    if (dw) std::fill_n(dw, weights(), T(0));
    if (pass_ == ConvPass::GradInput) {
      const std::int64_t image = s_.in[0] * s_.in[1] * s_.channels;
      std::fill(args.out<T>(0) + begin / unit_rows_ * image, args.out<T>(0) + end / unit_rows_ * image, T(0));
    }
    for (std::int64_t row = begin; row < end; row += tile_rows_) {
      const std::int64_t rows = std::min(tile_rows_, end - row);
      const Tile tile{row, rows * s_.out[1], rows, reinterpret_cast<T*>(memory), memory + columns_bytes()};
      if (pass_ == ConvPass::Forward)
        forward(args, tile);
      else if (pass_ == ConvPass::GradInput)
        grad_input(args, tile);
      else
        grad_weight(args, tile, dw);
    }
  }

  void forward(const KernelArgs& args, const Tile& tile) const {
    T* y = args.out<T>(0) + tile.row * s_.out[1] * s_.filters;
    for (std::int64_t p = 0; p < tile.positions; ++p) {
      if (bias_)
        std::copy_n(args.in<T>(2), s_.filters, y + p * s_.filters);
      else
        std::fill_n(y + p * s_.filters, s_.filters, T(0));
    }
    for (std::int64_t g = 0; g < s_.groups; ++g)
      product_.add(tile.positions, group_filters(), columns_.depth(), columns_of(args.in<T>(0), g, tile),
                   {group_weights(args.in<T>(1), g), columns_.depth(), true}, y + g * group_filters(), s_.filters,
                   tile.packing);
  }

  void grad_input(const KernelArgs& args, const Tile& tile) const {
    T* dx = args.out<T>(0);
    const std::int64_t depth = columns_.depth();
    for (std::int64_t g = 0; g < s_.groups; ++g) {
      const MatrixView<T> dy = dy_of(args.in<T>(0), g, tile), weight{group_weights(args.in<T>(1), g), depth};
      if (columns_.is_image()) {
        T* pixels = dx + tile.row * s_.in[1] * s_.channels + g * group_channels();
        product_.add(tile.positions, depth, group_filters(), dy, weight, pixels, s_.channels, tile.packing);
      } else {
        std::fill_n(tile.columns, tile.positions * depth, T(0));
        product_.add(tile.positions, depth, group_filters(), dy, weight, tile.columns, depth, tile.packing);
        columns_.scatter_add(tile.columns, g, tile.row, tile.rows, dx);
      }
    }
  }

  void grad_weight(const KernelArgs& args, const Tile& tile, T* dw) const {
    const std::int64_t depth = columns_.depth();
    for (std::int64_t g = 0; g < s_.groups; ++g) {
      MatrixView<T> dy = dy_of(args.in<T>(1), g, tile);
      dy.transposed = true;
      product_.add(group_filters(), depth, tile.positions, dy, columns_of(args.in<T>(0), g, tile), group_weights(dw, g),
                   depth, tile.packing);
    }
  }

  template <class W>
  W* group_weights(W* weights, std::int64_t group) const {
    return weights + group * group_filters() * columns_.depth();
  }

  MatrixView<T> dy_of(const T* dy, std::int64_t group, const Tile& tile) const {
    return {dy + tile.row * s_.out[1] * s_.filters + group * group_filters(), s_.filters};
  }

  MatrixView<T> columns_of(const T* x, std::int64_t group, const Tile& tile) const {
    if (columns_.is_image()) return {x + tile.row * s_.in[1] * s_.channels + group * group_channels(), s_.channels};
    columns_.gather(x, group, tile.row, tile.rows, tile.columns);
    return {tile.columns, columns_.depth()};
  }

  PieceSums<T> sums() const { return {weights(), pieces_}; }

  ConvPass pass_;
  ConvShape s_;
  bool bias_;
  ColumnLayout columns_;
  std::int64_t unit_rows_, units_, pieces_, tile_rows_;
  BlockProduct<T> product_;
  WorkspaceLayout layout_;
  WorkspacePart pieces_memory_, other_sums_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_conv_im2col(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                            int threads) {
  if (dtype == DType::f64) return std::make_unique<Im2colConv<double>>(pass, shape, bias, threads);
  check(dtype == DType::f32, "no convolution for dtype ", name_of(dtype));
  return std::make_unique<Im2colConv<float>>(pass, shape, bias, threads);
}

}  // namespace lethe
