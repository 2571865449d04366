// Reductions over any axes by a step that joins two values, such as the larger of them or their product: in passes,
// each of which lets every output join a few values. What joins what in which order depends on the shape alone, on both
// devices, so the bits do as well.
#pragma once
#include "kernels/dtypes.h"
#include "kernels/reduce/axes.h"
#include "kernels/reduce/fold_pass.h"
#include "kernels/workspace.h"

namespace lethe {

/// The passes over `axes` of `shape`; at least one.
std::vector<FoldPass> fold_passes(const Shape& shape, const Ints& axes);

/// All passes over some axes. What stands between them, of at most `held` bytes each, takes two places in turn.
class Fold {
 public:
  Fold(const Shape& shape, const Ints& axes, std::int64_t held, WorkspaceLayout& layout);
  /// y: Join of Term of the elements of x. Join::Held is the same for elements of From and for what it holds of them.
  template <class Join, class Term = Itself, class Device, class From, class To>
  void run(Device device, const KernelArgs& args, const From* x, To* y) const {
    using A = typename Join::template Held<From>;
    if (passes_.size() == 1) return fold_pass<Join, Term>(device, args.stream, passes_[0], x, y);
    const auto place = [&](std::size_t pass) { return places_[pass % 2].template at<A>(args); };
    fold_pass<Join, Term>(device, args.stream, passes_[0], x, place(0));
    for (std::size_t pass = 1; pass + 1 < passes_.size(); ++pass)
      fold_pass<Join, Itself>(device, args.stream, passes_[pass], static_cast<const A*>(place(pass - 1)), place(pass));
    const A* const last = place(passes_.size() - 2);
    fold_pass<Join, Itself>(device, args.stream, passes_.back(), last, y);
  }
  /// What is written and read between passes.
  std::int64_t bytes_between() const { return between_; }

 private:
  std::vector<FoldPass> passes_;
  WorkspacePart places_[2];
  std::int64_t between_ = 0;
};

/// An op that joins its input over axes.
template <class Join>
struct ReduceBy {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.in(0).shape;
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      WorkspaceLayout layout;
      const Fold fold(shape, reduced_axes(args.op, shape), sizeof(typename Join::template Held<T>), layout);
      return make_kernel([fold](const KernelArgs& a) { fold.run<Join>(Device{}, a, a.in<T>(0), a.out<T>(0)); },
                         layout.bytes(), fold.bytes_between());
    });
  }
};

}  // namespace lethe
