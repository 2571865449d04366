#include "onnx/import_pair.h"

#include <algorithm>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/bytes.h"

namespace lethe::onnx {
namespace {

/// A constant as a view of a memory of its own, without a batch: what it says of each sample, it says of all.
View view_of(const ReadNode& node, const ReadTensor& tensor, std::size_t rank, bool in_samples, std::int64_t batch) {
  check_as(Exit::Data, tensor.shape.size() <= rank, node.text(), ": a constant ", text_of(tensor.shape),
           " has more axes than the value has");
  View view{"", tensor.shape, std::vector<Ints>(rank - tensor.shape.size())};
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) view.axes.push_back({static_cast<std::int64_t>(axis)});
  const bool of_each = in_samples && tensor.shape.size() == rank && tensor.shape[0] != 1;
  check_as(Exit::Data, !of_each, node.text(), ": a constant ", text_of(tensor.shape), " is another for each of ", batch,
           " samples");
  return simplified(view);
}

/// One operand on its way.
struct Side {
  View view;
  const ReadTensor* tensor = nullptr;
  std::string name;  // of the constant

  bool has(std::size_t axis) const {
    return std::ranges::any_of(view.axes[axis], [](std::int64_t part) { return part != kBatchAxis; });
  }
  bool is_constant() const { return tensor != nullptr; }
};

/// The constant's numbers, its memory axes in this order.
std::vector<float> numbers_in(const Side& side, const Ints& order) {
  ReadTensor split = *side.tensor;
  split.shape = side.view.memory;
  if (!split.is_float()) split = Array::of(split).as(Type::f32);
  return turned(split, order).floats();
}

class Alignment {
 public:
  Alignment(ImportState& state, const ReadNode& node, Side a, Side b)
      : state_(state), node_(node), a_(std::move(a)), b_(std::move(b)) {}

  Aligned make() {
    if (a_.is_constant() || b_.is_constant()) {
      Side& constant = a_.is_constant() ? a_ : b_;
      const Side& other = a_.is_constant() ? b_ : a_;
      if (is_batch(other.view, 0) && constant.view.axes[0].empty()) constant.view.axes[0] = {kBatchAxis};
    }
    if (!refine(a_.view, b_.view)) {
      for (Side* const side : {&a_, &b_})
        if (!side->is_constant()) side->view = in_model_order(side->view);
      check_as(Exit::Data, refine(a_.view, b_.view), node_.text(), ": of ", state_.text(a_.view), " and ",
               state_.text(b_.view), " is not read");
    }
    for (std::size_t axis = 0; axis < a_.view.axes.size(); ++axis) {
      const auto batches = [&](const Side& side) { return std::ranges::count(side.view.axes[axis], kBatchAxis); };
      check_as(Exit::Data, state_.batch() == 1 || a_.is_constant() || b_.is_constant() || batches(a_) == batches(b_),
               node_.text(), ": across the batch is not read");
    }
    if (contains(a_, b_)) return one_sided(a_, b_, false);
    if (contains(b_, a_)) return one_sided(b_, a_, true);
    return two_sided();
  }

 private:
  View in_model_order(const View& view) const {
    const View seen = simplified(view);
    return state_.in_order(seen, order_of(seen));
  }

  bool contains(const Side& large, const Side& small) const {
    for (std::size_t axis = 0; axis < large.view.axes.size(); ++axis)
      if (small.has(axis) && !large.has(axis)) return false;
    return true;
  }

  /// The smaller one gets the order of the larger, with axes of size 1 where it broadcasts.
  Aligned one_sided(Side& large, Side& small, bool small_first) {
    // What of the larger one's memory the smaller one has, and where.
    std::vector<std::int64_t> part_of(large.view.memory.size(), kBatchAxis);
    for (std::size_t axis = 0; axis < large.view.axes.size(); ++axis)
      if (small.has(axis))
        for (std::size_t i = 0; i < large.view.axes[axis].size(); ++i)
          if (const std::int64_t part = large.view.axes[axis][i]; part != kBatchAxis)
            part_of[static_cast<std::size_t>(part)] = small.view.axes[axis][i];
    Ints order;
    for (const std::int64_t part : part_of)
      if (part != kBatchAxis) order.push_back(part);
    const Stated as = common(large, part_of);
    Stated of_small = as;
    of_small.shape = small_shape(as, large.view.memory, part_of);
    const std::string big =
        large.is_constant() ? constant(large, identity(large.view), as) : state_.restated(large.view, as);
    const std::string little = small.is_constant() ? constant(small, order, of_small)
                                                   : state_.restated(state_.in_order(small.view, order), of_small);
    View view = large.view;
    if (large.is_constant() && state_.in_samples() && view.axes[0].empty()) view.axes[0] = {kBatchAxis};
    return small_first ? Aligned{little, big, as, view} : Aligned{big, little, as, view};
  }

  static Ints identity(const View& view) {
    Ints order(view.memory.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    return order;
  }

  /// As the larger one is stated now if the smaller one fits beside that, else with memory axes of which it has all or
  /// nothing.
  Stated common(const Side& large, const std::vector<std::int64_t>& part_of) const {
    if (!large.is_constant()) {
      Stated now = state_.stated(large.view.layer);
      if (!patterns(now.memory(), large.view.memory, part_of).empty() || now.shape.empty()) return now;
    }
    Stated merged;
    std::vector<bool> has;
    for (std::size_t i = 0; i < part_of.size(); ++i) {
      const bool mine = part_of[i] != kBatchAxis;
      if (!has.empty() && has.back() == mine)
        merged.shape.back() *= large.view.memory[i];
      else
        merged.shape.push_back(large.view.memory[i]), has.push_back(mine);
    }
    return merged;
  }

  /// For each axis of `stated` whether the smaller one has it (1) or not (0); empty where it has a part of one.
  static std::vector<int> patterns(const Shape& stated, const Shape& memory, const std::vector<std::int64_t>& part_of) {
    std::vector<int> has;
    std::size_t at = 0;
    for (const std::int64_t size : stated) {
      std::int64_t done = 1;
      int mine = -1;
      for (; done < size; ++at) {
        if (at == memory.size()) return {};
        const int now = part_of[at] != kBatchAxis ? 1 : 0;
        if (mine != -1 && now != mine) return {};
        mine = now;
        done *= memory[at];
      }
      if (done != size) return {};
      has.push_back(mine == -1 ? 1 : mine);
    }
    return at == memory.size() ? has : std::vector<int>{};
  }

  static Shape small_shape(const Stated& as, const Shape& memory, const std::vector<std::int64_t>& part_of) {
    const Shape stated = as.memory();
    const std::vector<int> has = patterns(stated, memory, part_of);
    Shape small = stated;
    for (std::size_t i = 0; i < has.size(); ++i)
      if (has[i] == 0) small[i] = 1;
    return as.is_image ? Shape{small[2], small[0], small[1]} : small;
  }

  /// A parameter. Files have images as [C,H,W].
  std::string constant(const Side& side, const Ints& order, const Stated& as) const {
    std::vector<float> numbers = numbers_in(side, order);
    if (as.is_image) {
      const ReadTensor hwc{Type::f32, as.memory(), bytes_of_values(numbers)};
      numbers = turned(hwc, {2, 0, 1}).floats();
    }
    return state_.parameter(node_.outputs.at(0) + ".constant", side.name, as, std::move(numbers));
  }

  /// Neither has all axes of the result: both in the model's order.
  Aligned two_sided() {
    const std::size_t rank = a_.view.axes.size();
    const std::size_t first = is_batch(a_.view, 0) && is_batch(b_.view, 0) ? 1 : 0;
    check_as(Exit::Data, (first == 1) == state_.in_samples(), node_.text(), ": of ", state_.text(a_.view), " and ",
             state_.text(b_.view), " is not read");
    Stated as;
    for (std::size_t axis = first; axis < rank; ++axis)
      as.shape.push_back(std::max(size_of(a_.view, axis, 1), size_of(b_.view, axis, 1)));
    const auto plain = [&](const Side& side) {
      Shape shape;
      for (std::size_t axis = first; axis < rank; ++axis) shape.push_back(size_of(side.view, axis, 1));
      if (side.is_constant()) return constant(side, order_of(side.view), {shape});
      return state_.restated(in_model_order(side.view), {shape});
    };
    const std::string of_a = plain(a_), of_b = plain(b_);
    return {of_a, of_b, as, state_.of_plain("", as.shape)};
  }

  ImportState& state_;
  const ReadNode& node_;
  Side a_, b_;
};

}  // namespace

Operand operand(const ImportState& state, const ReadNode& node, std::size_t input) {
  if (const View* const view = state.maybe_value(node, input)) return {*view};
  state.needed(node, input, "operand");
  return {{}, node.inputs[input]};
}

Aligned aligned(ImportState& state, const ReadNode& node, const Operand& a, const Operand& b) {
  const auto tensor_of = [&](const Operand& of) {
    return of.constant.empty() ? nullptr : state.constants.find(of.constant);
  };
  const ReadTensor *const of_a = tensor_of(a), *const of_b = tensor_of(b);
  check_as(Exit::Data, !of_a || !of_b, node.text(), ": of constants alone is not read");
  const std::size_t rank =
      std::max(of_a ? of_a->shape.size() : a.view.axes.size(), of_b ? of_b->shape.size() : b.view.axes.size());
  const auto side = [&](const Operand& of, const ReadTensor* tensor) {
    if (tensor) return Side{view_of(node, *tensor, rank, state.in_samples(), state.batch()), tensor, of.constant};
    check_as(Exit::Data, of.view.axes.size() == rank || !state.in_samples(), node.text(), ": of ", state.text(of.view),
             " and a value of ", rank, " axes, so that one has the batch elsewhere");
    View view = of.view;
    while (view.axes.size() < rank) view = with_one(view, 0);
    return Side{simplified(view), nullptr, ""};
  };
  return Alignment(state, node, side(a, of_a), side(b, of_b)).make();
}

void give_pair(ImportState& state, const ReadNode& node, Json entry, const Operand& a, const Operand& b, Type type) {
  Aligned both = aligned(state, node, a, b);
  if (!entry.contains("name")) entry["name"] = state.name_of(node);
  both.stated.type = type;
  both.view.layer = state.add("", std::move(entry), {both.a, both.b}, both.stated);
  state.give(node, both.view);
}

}  // namespace lethe::onnx
