// Tiles of a batch of images: read with zeros around the images, transformed, and written.
#pragma once
#include <algorithm>

#include "framework/language/device_info.h"
#include "kernels/conv/winograd_lines.h"

namespace lethe::winograd {

/// Transforms a square along its rows, then along its columns: `get(row, column)`, `put(row, column, lanes)`. Takes
/// some columns at a time, so that what is in between stays in registers; each element is asked for twice then.
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
  template <int Size, class T, class F>
  void read(const T* images, std::int64_t tile, std::int64_t c, const F& f) const {
    const std::int64_t x = tile % columns * step - pad, y = tile / columns % rows * step - pad;
    const std::int64_t image = tile / (rows * columns) * height, count = channels - c;
    const std::int64_t first = ((image + y) * width + x) * channels + c;  // may lie outside
    const auto pixel = [=, this](int row, int column) { return images + (first + (row * width + column) * channels); };
    if (count < kLanes)
      return f([=, this](int row, int column) {
        return has(y + row, x + column) ? load(pixel(row, column), count) : Lanes{};
      });
    if (has(y, x) && has(y + Size - 1, x + Size - 1))
      return f([=](int row, int column) { return load(pixel(row, column)); });
    bool row_inside[Size], column_inside[Size];
    for (int i = 0; i < Size; ++i) row_inside[i] = has(y + i, 0), column_inside[i] = has(0, x + i);
    alignas(64) static constexpr T zeros[kLanes] = {};
    f([&](int row, int column) { return load(row_inside[row] && column_inside[column] ? pixel(row, column) : zeros); });
  }
  bool has(std::int64_t y, std::int64_t x) const { return y >= 0 && y < height && x >= 0 && x < width; }

  /// Writes what get(row, column) gives of step x step pixels, from channel `c` on, `count` of them.
  template <class T, class Get>
  void write(T* images, std::int64_t tile, std::int64_t c, std::int64_t count, const Get& get) const {
    const std::int64_t x = tile % columns * step, y = tile / columns % rows * step;
    T* const image = images + tile / (rows * columns) * height * width * channels + c;
    for (int row = 0; row < step && y + row < height; ++row)
      for (int column = 0; column < step && x + column < width; ++column)
        store(get(row, column), image + ((y + row) * width + x + column) * channels, count);
  }
};

/// Channels in a panel: what one block of a product reads, or fewer if there are fewer.
inline std::int64_t panel_of(std::int64_t channels) {
  return std::min<std::int64_t>(kPanel, round_up(channels, kLanes));
}

/// To [place, panel, tile, channel]: `count` tiles from `first` on, `channels` of them from `c` on.
template <class Transform, class T>
void transform_tiles(const Tiles& tiles, const T* images, std::int64_t first, std::int64_t count, std::int64_t c,
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

}  // namespace lethe::winograd
