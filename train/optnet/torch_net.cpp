#include "train/optnet/torch_net.h"

#include <algorithm>
#include <map>
#include <set>

#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

/// The tree of dominators of the vars that depend on the network's input: each var's nearest ancestor that every way
/// from the input goes through.
class Dominators {
 public:
  Dominators(const Program& program, VarId input) : parent_(program.vars.size(), kNone), depth_(parent_.size(), -1) {
    depth_[input] = 0;
    for (const Op& op : program.blocks[0].ops) {
      if (op.role != Role::Forward) continue;
      const std::vector<VarId> from = activations(op);
      if (from.empty()) continue;
      const VarId parent = common(from);
      for (const VarId v : op.out) parent_[v] = parent, depth_[v] = depth_[parent] + 1;
    }
  }

  /// The inputs of an op that depend on the network's input.
  std::vector<VarId> activations(const Op& op) const {
    std::vector<VarId> vars;
    std::copy_if(op.in.begin(), op.in.end(), std::back_inserter(vars), [&](VarId v) { return reached(v); });
    return vars;
  }

  VarId common(const std::vector<VarId>& vars) const {
    VarId meet = vars.front();
    for (VarId v : vars)
      while (v != meet) {
        VarId& deeper = depth_[v] > depth_[meet] ? v : meet;
        deeper = parent_[deeper];
      }
    return meet;
  }

  bool reached(VarId v) const { return v != kNone && depth_[v] >= 0; }

 private:
  std::vector<VarId> parent_;
  std::vector<int> depth_;
};

TorchClass class_of(const std::string& op) {
  static const std::map<std::string, TorchClass> classes = {{"conv2d", TorchClass::Convolution},
                                                            {"fc", TorchClass::Linear},
                                                            {"max_pool", TorchClass::MaxPooling},
                                                            {"avg_pool", TorchClass::AveragePooling},
                                                            {"global_avg_pool", TorchClass::AveragePooling},
                                                            {"relu", TorchClass::ReLU},
                                                            {"threshold", TorchClass::Threshold},
                                                            {"dropout", TorchClass::Dropout},
                                                            {"batch_norm", TorchClass::BatchNormalization},
                                                            {"add", TorchClass::AddTable},
                                                            {"lrn", TorchClass::Normalization},
                                                            {"log_softmax", TorchClass::LogSoftMax},
                                                            {"array_read", TorchClass::View},
                                                            {"array_write", TorchClass::ArrayWrite},
                                                            {"array_add", TorchClass::ArrayWrite},
                                                            {"assign", TorchClass::View}};
  if (const auto found = classes.find(op); found != classes.end()) return found->second;
  return op_def(op).is_view() ? TorchClass::View : TorchClass::Other;
}

VarId first_input(const Network& network) {
  const auto found =
      std::find_if(network.inputs.begin(), network.inputs.end(), [&](VarId v) { return v != network.target; });
  check(found != network.inputs.end(), network.name, ": has no input beside its labels");
  return *found;
}

class Reader {
 public:
  Reader(const Network& network, const TorchNotes& notes)
      : program_(network.program),
        notes_(notes),
        input_(first_input(network)),
        dominators_(program_, input_),
        producer_(program_.vars.size(), -1) {
    const std::vector<Op>& ops = program_.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (ops[i].role == Role::Forward)
        for (const VarId v : ops[i].out) producer_[v] = static_cast<int>(i);
    for (const VarId v : network.outputs)
      check(dominators_.reached(v), network.name, ": output '", program_.vars[v].name, "' does not depend on '",
            program_.vars[input_].name, "'");
  }

  TorchNet read(const std::vector<VarId>& outputs) {
    const VarId output = dominators_.common(outputs);
    net_.root = sequential(chain(input_, output), 0, input_, output);
    return std::move(net_);
  }

 private:
  /// A module in a chain, and the var whose path says which noted Sequentials it is in.
  struct Link {
    int module;
    VarId named;
  };

  int add(TorchModule module) {
    net_.modules.push_back(std::move(module));
    return static_cast<int>(net_.modules.size()) - 1;
  }

  /// The modules one after the other from a var to another that it dominates.
  std::vector<Link> chain(VarId from, VarId to) {
    std::vector<Link> links;
    while (to != from) {
      const int at = producer_[to];
      const Op& op = program_.blocks[0].ops[at];
      const std::vector<VarId> in = dominators_.activations(op);
      const VarId fork = dominators_.common(in);
      if (share_an_op(fork, in)) {
        links.push_back({graph(fork, to), to});
      } else if (op.type == "concat") {
        links.push_back({add({TorchClass::Concat, at, branches(fork, in, to), {fork}, to}), to});
      } else {
        links.push_back({add({class_of(op.type), at, {}, in, to}), to});
        if (in.size() > 1) {
          links.push_back({add({TorchClass::ConcatTable, -1, branches(fork, in, to), {fork}, kNone}), to});
        }
      }
      to = fork;
    }
    std::reverse(links.begin(), links.end());
    return links;
  }

  /// The ops on the ways from `fork` to `end`, in the order of the program.
  std::set<int> ops_between(VarId fork, VarId end) const {
    std::set<int> ops;
    std::vector<VarId> open = {end};
    while (!open.empty()) {
      const VarId v = open.back();
      open.pop_back();
      if (v == fork || !ops.insert(producer_[v]).second) continue;
      for (const VarId in : dominators_.activations(program_.blocks[0].ops[producer_[v]])) open.push_back(in);
    }
    return ops;
  }

  bool share_an_op(VarId fork, const std::vector<VarId>& ends) const {
    std::set<int> all;
    for (std::size_t i = 0; ends.size() > 1 && i < ends.size(); ++i)
      for (const int op : ops_between(fork, ends[i]))
        if (!all.insert(op).second) return true;
    return false;
  }

  int graph(VarId fork, VarId to) {
    TorchModule graph{.type = TorchClass::Graph, .in = {fork}, .out = to};
    for (const int at : ops_between(fork, to)) {
      const Op& op = program_.blocks[0].ops[at];
      graph.children.push_back(add({class_of(op.type), at, {}, dominators_.activations(op), op.out[0]}));
    }
    return add(std::move(graph));
  }

  std::vector<int> branches(VarId fork, const std::vector<VarId>& ends, VarId join) {
    std::vector<int> children;
    for (const VarId end : ends)
      children.push_back(end == fork ? add({TorchClass::Identity, -1, {}, {fork}, fork})
                                     : sequential(chain(fork, end), noted_sequentials(join).size(), fork, end));
    return children;
  }

  /// A Sequential of the links, in which neighbours that share their noted Sequential number `level` form one.
  int sequential(const std::vector<Link>& links, std::size_t level, VarId from, VarId to) {
    std::vector<int> children;
    for (std::size_t i = 0; i < links.size();) {
      const std::string prefix = noted_sequential(links[i], level);
      std::size_t end = i + 1;
      while (end < links.size() && !prefix.empty() && noted_sequential(links[end], level) == prefix) ++end;
      if (prefix.empty()) {
        children.push_back(links[i].module);
      } else {
        const std::vector<Link> part(links.begin() + static_cast<std::ptrdiff_t>(i),
                                     links.begin() + static_cast<std::ptrdiff_t>(end));
        children.push_back(
            sequential(part, level + 1, children.empty() ? from : links[i - 1].named, part.back().named));
      }
      i = end;
    }
    return add({.children = std::move(children), .in = {from}, .out = to});
  }

  std::string noted_sequential(const Link& link, std::size_t level) const {
    const std::vector<std::string> all = noted_sequentials(link.named);
    return level < all.size() ? all[level] : "";
  }

  /// The noted Sequentials that a layer is in by its path, outermost first.
  std::vector<std::string> noted_sequentials(VarId var) const {
    const std::string& name = program_.vars[var].name;
    std::vector<std::string> found;
    for (const std::string& note : notes_.sequentials) {
      const bool each = note.size() > 2 && note.compare(note.size() - 2, 2, "/*") == 0;
      const std::string stem = each ? note.substr(0, note.size() - 1) : note + "/";
      if (name.compare(0, stem.size(), stem) != 0) continue;
      if (!each) found.push_back(note);
      if (const auto slash = name.find('/', stem.size()); each && slash != std::string::npos)
        found.push_back(name.substr(0, slash));
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return found;
  }

  const Program& program_;
  const TorchNotes& notes_;
  VarId input_;
  Dominators dominators_;
  std::vector<int> producer_;  // by var: its op, or -1
  TorchNet net_;
};

}  // namespace

bool is_view(TorchClass type) { return type == TorchClass::View || type == TorchClass::Identity; }

TorchNet torch_net(const Network& network, const TorchNotes& notes) {
  for (const Var& var : network.program.vars)
    check(wide_of(var.dtype) == var.dtype, "optnet's modules compute in f32 or f64, not ", name_of(var.dtype));
  return Reader(network, notes).read(network.outputs);
}

}  // namespace lethe
