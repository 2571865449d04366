// An image as columns: for each output position the pixels under the kernel, in the order of the weights.
#pragma once
#include <algorithm>

#include "kernels/conv/conv.h"

namespace lethe {

/// Columns of one group. Output rows are counted through the batch: row r is row r % out height of image r / out
/// height.
class ColumnLayout {
 public:
  explicit ColumnLayout(const ConvShape& shape)
      : s_(shape),
        group_channels_(shape.channels / shape.groups),
        whole_rows_(shape.groups == 1 && shape.dilation[1] == 1) {}

  std::int64_t depth() const { return s_.kernel[0] * s_.kernel[1] * group_channels_; }
  /// Whether the image itself is its columns, with `channels` as their distance.
  bool is_image() const { return s_.kernel == Extent{1, 1} && s_.stride == Extent{1, 1} && s_.pad == Extent{0, 0}; }

  /// columns[rows * out width, depth] of output rows [row, row + rows).
  template <class T>
  void gather(const T* x, std::int64_t group, std::int64_t row, std::int64_t rows, T* columns) const {
    for_each_run(group, row, rows, [&](std::int64_t column, std::int64_t pixel, std::int64_t count) {
      if (pixel < 0)
        std::fill_n(columns + column, count, T(0));
      else
        std::copy_n(x + pixel, count, columns + column);
    });
  }
  /// The reverse: adds each column value to the pixel that it came from.
  template <class T>
  void scatter_add(const T* columns, std::int64_t group, std::int64_t row, std::int64_t rows, T* x) const {
    for_each_run(group, row, rows, [&](std::int64_t column, std::int64_t pixel, std::int64_t count) {
      if (pixel < 0) return;
      for (std::int64_t i = 0; i < count; ++i) x[pixel + i] += columns[column + i];
    });
  }

 private:
  /// Calls f(offset in columns, offset in x or -1 in the padding, count) for runs that are contiguous in both.
  template <class F>
  void for_each_run(std::int64_t group, std::int64_t row, std::int64_t rows, const F& f) const {
    std::int64_t column = 0;
    for (std::int64_t r = row; r < row + rows; ++r)
      for (std::int64_t ox = 0; ox < s_.out[1]; ++ox)
        for (std::int64_t ky = 0; ky < s_.kernel[0]; ++ky, column += s_.kernel[1] * group_channels_) {
          const std::int64_t y = r % s_.out[0] * s_.stride[0] - s_.pad[0] + ky * s_.dilation[0];
          const std::int64_t x = ox * s_.stride[1] - s_.pad[1];
          kernel_row(r / s_.out[0], y, x, group * group_channels_, column, f);
        }
  }

  template <class F>
  void kernel_row(std::int64_t image, std::int64_t y, std::int64_t x, std::int64_t channel, std::int64_t column,
                  const F& f) const {
    const std::int64_t width = s_.kernel[1], step = s_.dilation[1], c = group_channels_;
    std::int64_t first = x < 0 ? (-x + step - 1) / step : 0;  // kernel columns inside the image
    std::int64_t last = x < s_.in[1] ? (s_.in[1] - x + step - 1) / step : 0;
    if (y < 0 || y >= s_.in[0]) last = 0;
    last = std::min(last, width), first = std::min(first, last);
    if (first > 0) f(column, -1, first * c);
    const std::int64_t pixel = ((image * s_.in[0] + y) * s_.in[1] + x) * s_.channels + channel;
    if (whole_rows_) {
      if (last > first) f(column + first * c, pixel + first * c, (last - first) * c);
    } else {
      for (std::int64_t k = first; k < last; ++k) f(column + k * c, pixel + k * step * s_.channels, c);
    }
    if (last < width) f(column + last * c, -1, (width - last) * c);
  }

  ConvShape s_;
  std::int64_t group_channels_;
  bool whole_rows_;  // the pixels under one row of the kernel are contiguous
};

}  // namespace lethe
