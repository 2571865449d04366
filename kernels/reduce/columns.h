// Values that each column of a matrix has one of. A narrow matrix is read several rows at a time, as one wider row, so
// that the CPU's inner loops vectorise: its columns' values are then repeated.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace lethe {

/// Pointers to values of which each column (index into `inner`) has one.
template <class T, std::size_t P>
using Columns = std::array<const T*, P>;

inline constexpr std::int64_t kWide = 128;  // columns that make an inner loop worth while

/// Rows of `columns` columns read as one.
inline std::int64_t rows_as_one(std::int64_t columns) { return columns < kWide ? kWide / columns : 1; }

/// Columns as the wider row sees them: repeated once for each row in it.
template <class T, std::size_t P>
class WideColumns {
 public:
  WideColumns(const Columns<T, P>& columns, std::int64_t count, std::int64_t repeat) : at_(columns) {
    if (repeat == 1) return;
    for (int p = 0; p < static_cast<int>(P); ++p) {
      for (std::int64_t j = 0; j < count * repeat; ++j) values_[p][j] = columns[p][j % count];
      at_[p] = values_[p];
    }
  }
  WideColumns(const WideColumns&) = delete;
  WideColumns& operator=(const WideColumns&) = delete;
  Columns<T, P> at() const { return at_; }

 private:
  T values_[P + 1][kWide];  // + 1: P may be 0
  Columns<T, P> at_;
};

}  // namespace lethe
