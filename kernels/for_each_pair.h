// The loop over a Box. On the CPU it runs along rows, without a division an element.
#pragma once
#include "kernels/box.h"
#include "kernels/divisor.h"

namespace lethe {

/// Where rows start, one after another, without a division each.
class RowCursor {
 public:
  RowCursor(const Box& box, std::int64_t row) : box_(box) {
    for (int axis = box.axes - 2; axis >= 0; --axis) {
      index_[axis] = row % box.size[axis];
      row /= box.size[axis];
      start_.first += index_[axis] * box.first[axis];
      start_.second += index_[axis] * box.second[axis];
    }
  }
  const Offsets& start() const { return start_; }
  void next() {
    for (int axis = box_.axes - 2; axis >= 0; --axis) {
      start_.first += box_.first[axis];
      start_.second += box_.second[axis];
      if (++index_[axis] < box_.size[axis]) return;
      index_[axis] = 0;
      start_.first -= box_.first[axis] * box_.size[axis];
      start_.second -= box_.second[axis] * box_.size[axis];
    }
  }

 private:
  const Box& box_;
  std::int64_t index_[kMaxAxes] = {};
  Offsets start_{0, 0};
};

/// Calls f(first offset, second offset) along a row; the cases are those that vectorise.
template <class F>
void for_each_in_row(Offsets at, std::int64_t n, std::int64_t first, std::int64_t second, const F& f) {
  if (first == 1 && second == 1) {
    for (std::int64_t i = 0; i < n; ++i) f(at.first + i, at.second + i);
  } else if (first == 1 && second == 0) {
    for (std::int64_t i = 0; i < n; ++i) f(at.first + i, at.second);
  } else {
    for (std::int64_t i = 0; i < n; ++i) f(at.first + i * first, at.second + i * second);
  }
}

/// Calls f(first offset, second offset) for every element of the box, in no order.
template <class F>
void for_each_pair(Cpu, void*, const Box& box, F f) {
  const int last = box.axes - 1;
  const std::int64_t row = box.size[last], first = box.first[last], second = box.second[last];
  parallel_ranges(box.count(), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t skip = begin % row;  // a range may begin within a row
    for (RowCursor cursor(box, begin / row); begin < end; cursor.next(), skip = 0) {
      const std::int64_t left = row - skip, n = left < end - begin ? left : end - begin;
      for_each_in_row({cursor.start().first + skip * first, cursor.start().second + skip * second}, n, first, second,
                      f);
      begin += n;
    }
  });
}

#ifdef LETHE_DEVICE_CODE
/// Where element `i` stands in both arrays, counted row by row, without a division an axis.
template <class F>
struct BoxIndex {
  Box box;
  Divisor size[kMaxAxes];
  F f;
  BoxIndex(const Box& box, const F& f) : box(box), f(f) {
    for (int axis = 0; axis < box.axes; ++axis) size[axis] = Divisor(box.size[axis]);
  }
  HD void operator()(std::int64_t i) const {
    Offsets at{0, 0};
    for (int axis = box.axes - 1; axis > 0; --axis) {
      const std::int64_t rest = size[axis].quotient(i), k = i - rest * box.size[axis];
      at.first += k * box.first[axis];
      at.second += k * box.second[axis];
      i = rest;
    }
    f(at.first + i * box.first[0], at.second + i * box.second[0]);
  }
};

template <class F>
void for_each_pair(Cuda, void* stream, const Box& box, F f) {
  parallel_for(Cuda{}, stream, box.count(), BoxIndex<F>(box, f));
}
#endif

}  // namespace lethe
