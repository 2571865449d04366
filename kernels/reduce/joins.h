// What a reduction (fold.h) makes of two values, and what it takes of an element.
#pragma once
#include <limits>

#include "kernels/low_floats.h"

namespace lethe {

/// The larger of two; NaN is larger than all.
struct Larger {
  template <class T>
  using Held = Compute<T>;  // what is joined of elements of T
  template <class A>
  HD static A nothing() {
    return -std::numeric_limits<A>::infinity();
  }
  template <class A>
  HD static A join(A a, A b) {
    return b > a || b != b ? b : a;
  }
};
/// The smaller of two; NaN is smaller than all.
struct Smaller {
  template <class T>
  using Held = Compute<T>;
  template <class A>
  HD static A nothing() {
    return std::numeric_limits<A>::infinity();
  }
  template <class A>
  HD static A join(A a, A b) {
    return b < a || b != b ? b : a;
  }
};
struct Product {
  template <class T>
  using Held = double;
  template <class A>
  HD static A nothing() {
    return 1;
  }
  template <class A>
  HD static A join(A a, A b) {
    return a * b;
  }
};
struct Total {
  template <class T>
  using Held = double;
  template <class A>
  HD static A nothing() {
    return 0;
  }
  template <class A>
  HD static A join(A a, A b) {
    return a + b;
  }
};

/// What is joined of an element.
struct Itself {
  template <class T>
  HD T operator()(T x) const {
    return x;
  }
};

}  // namespace lethe
