// Losses within a model: what each class of a sample counts, by its label, as a product with the log-probabilities.
#include <algorithm>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_folds.h"
#include "onnx/import_pair.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

/// 1 where the class is the label, [N,C,...], times the weights of classes; a label to be ignored weighs nothing.
View counted(ImportState& state, const ReadNode& node, const View& labels, std::int64_t classes) {
  const std::string& name = node.outputs[0];
  const std::string ids =
      state.add(name + ".classes", {{"op", "arange"}, {"end", classes}}, {}, {{classes}, false, Type::i32});
  View of_classes = state.of_plain(ids, {classes});
  while (of_classes.axes.size() < labels.axes.size() + 1)
    of_classes = with_one(of_classes, std::ssize(of_classes.axes));
  if (!state.in_samples())
    of_classes = transposed(of_classes, [&] {
      Ints perm(of_classes.axes.size());
      for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
      std::swap(perm[0], perm[1]);
      return perm;
    }());
  ReadNode step = node;
  step.outputs = {name + ".is_label"};
  give_pair(state, step, {{"op", "equal"}}, {with_one(labels, 1)}, {of_classes}, Type::boolean);
  View hot = state.made(step.outputs[0]);
  step.outputs = {name + ".counted"};
  state.give_like(step, {{"op", "cast"}, {"dtype", "f32"}}, hot);
  const bool has_weight = node.inputs.size() > 2 && !node.inputs[2].empty();
  if (!has_weight && !node.has("ignore_index")) return state.made(step.outputs[0]);
  check_as(Exit::Data, classes < 1 << 24, node.text(), ": of ", classes, " classes");
  std::vector<double> weights(static_cast<std::size_t>(classes), 1);
  if (has_weight) weights = Array::of(state.needed(node, 2, "weight")).numbers;
  check_as(Exit::Data, std::ssize(weights) == classes, node.text(), ": has ", weights.size(), " weights of ", classes,
           " classes");
  const std::int64_t ignored = node.integer("ignore_index", -1);
  if (ignored >= 0 && ignored < classes) weights[static_cast<std::size_t>(ignored)] = 0;
  ReadNode constant = node;
  constant.outputs = {name + ".weights"};
  Shape shape(labels.axes.size() + 1, 1);
  shape[1] = classes;
  state.constants.add(constant, Array{shape, weights}.as(Type::f32));
  const View plain = state.made(step.outputs[0]);
  step.outputs = {name + ".weighed"};
  give_pair(state, step, {{"op", "mul"}}, {plain}, {{}, constant.outputs[0]});
  return state.made(step.outputs[0]);
}

void import_label_loss(ImportState& state, const ReadNode& node) {
  const View x = state.value(node, 0);
  check_as(Exit::Data, x.axes.size() >= 2, node.text(), ": of ", state.text(x));
  const View labels = value_of(state, node, 1, x.axes.size() - 1);
  check_as(
      Exit::Data,
      x.axes.size() >= 2 && labels.axes.size() + 1 == x.axes.size() && state.stated(labels.layer).type == Type::i32,
      node.text(), ": labels of ", state.text(labels), " for ", state.text(x));
  const std::string& name = node.outputs[0];
  ReadNode step = node;
  View logs = x;
  if (node.type == "SoftmaxCrossEntropyLoss") {
    step.outputs = {node.outputs.size() > 1 ? node.outputs[1] : name + ".log"};
    state.give_like(step, {{"op", "log_softmax"}}, state.along(x, 1));
    logs = state.made(step.outputs[0]);
    if (!state.is_read(name)) return;
  }
  const View counts = counted(state, node, labels, size_of(x, 1, state.batch()));
  step.outputs = {name + ".products"};
  give_pair(state, step, {{"op", "mul"}}, {counts}, {logs});
  View each = folded_over(state, node, state.made(step.outputs[0]), {1}, "sum", name + ".each");
  each = without_one(each, 1);
  const std::string how = node.word("reduction", "mean");
  std::set<std::size_t> all;
  for (std::size_t axis = 0; axis < labels.axes.size(); ++axis) all.insert(axis);
  const auto whole = [&](View of, const char* ending) {
    of = folded_over(state, node, of, all, "sum", name + ending);
    while (!of.axes.empty()) of = without_one(of, 0);
    return of;
  };
  if (how == "none") return state.give_like(node, {{"op", "scale"}, {"a", -1}}, each);
  const View sum = whole(each, ".sum");
  if (how == "sum") return state.give_like(node, {{"op", "scale"}, {"a", -1}}, sum);
  check_as(Exit::Data, how == "mean", node.text(), ": reduction ", quote(how));
  View count = without_one(folded_over(state, node, counts, {1}, "sum", name + ".weight"), 1);
  count = whole(count, ".count");
  step.outputs = {name + ".mean"};
  give_pair(state, step, {{"op", "div"}}, {sum}, {count});
  state.give_like(node, {{"op", "scale"}, {"a", -1}}, state.made(step.outputs[0]));
}

}  // namespace

void add_loss_imports(ImportTable& table) {
  table["SoftmaxCrossEntropyLoss"] = table["NegativeLogLikelihoodLoss"] = import_label_loss;
}

}  // namespace lethe::onnx
