#include "train/optnet/torch_storage.h"

#include <map>
#include <numeric>
#include <set>

namespace lethe {
namespace {

using Tensors = std::vector<TorchTensor>;

class StorageLayout {
 public:
  StorageLayout(const Program& program, const TorchNet& net, TorchBackend backend, bool inplace)
      : program_(program), net_(net), backend_(backend), inplace_(inplace), readers_(program.vars.size()) {
    for (const TorchModule& module : net.modules)
      if (module.op >= 0 && module.type != TorchClass::Concat)
        for (const VarId v : module.in) ++readers_[v];
    for (const TorchModule& module : net.modules)  // a branch that is empty reads by joining
      if (module.type == TorchClass::Identity) ++readers_[module.in[0]];
    all_.output.resize(net.modules.size());
    all_.grad_input.resize(net.modules.size());
    all_.grad_sums.resize(net.modules.size());
    all_.grad_output.resize(net.modules.size());
    all_.slice_copy.resize(net.modules.size());
    shared_with_input_.resize(net.modules.size());
  }

  TorchStorages run() {
    const TorchModule& root = net_.modules[net_.root];
    all_.input = storage(root.in[0]);
    forward(net_.root, {{all_.input}});
    all_.loss_gradient = storage(root.out);
    backward(net_.root, {{all_.loss_gradient}});
    return std::move(all_);
  }

 private:
  int storage(std::int64_t elements) {
    all_.elements.push_back(elements);
    return static_cast<int>(all_.elements.size()) - 1;
  }
  int storage(VarId var) { return storage(elements(program_.vars[var].shape)); }

  /// Whole numbers have no gradient.
  int gradient(VarId var) { return is_float(program_.vars[var].dtype) ? storage(var) : storage(std::int64_t{0}); }

  bool works_in_place(const TorchModule& module) const;
  /// The first one, into what no module made, makes the array.
  static bool is_further_write(const TorchModule& module) {
    return module.type == TorchClass::ArrayWrite && module.in.size() > 1;
  }
  Tensors forward(int m, const Tensors& in);
  Tensors forward_graph(const TorchModule& graph, const Tensors& in);
  TorchTensor slice_of(TorchTensor whole, const TorchModule& concat, const TorchModule& branch) const;
  Tensors backward(int m, const Tensors& grad_output);
  Tensors backward_graph(int m, const Tensors& grad_output);
  Tensors leaf_backward(int m, const Tensors& grad_output);

  const Program& program_;
  const TorchNet& net_;
  TorchBackend backend_;
  bool inplace_;
  std::vector<int> readers_;             // by var
  std::vector<bool> shared_with_input_;  // by module: its output is its first input's storage
  TorchStorages all_;
};

bool StorageLayout::works_in_place(const TorchModule& module) const {
  if (module.type != TorchClass::ReLU && module.type != TorchClass::AddTable) return false;
  const VarId in = module.in[0];
  if (in == net_.modules[net_.root].in[0] || readers_[in] > 1) return false;
  if (module.type == TorchClass::AddTable || inplace_) return true;
  for (const TorchModule& other : net_.modules)
    if (other.out == in && other.type == TorchClass::Linear) return false;
  return true;
}

Tensors StorageLayout::forward(int m, const Tensors& in) {
  const TorchModule& module = net_.modules[m];
  Tensors out;
  switch (module.type) {
    case TorchClass::Sequential:
      out = in;
      for (const int child : module.children) out = forward(child, out);
      break;
    case TorchClass::ConcatTable:
      for (const int child : module.children) out.push_back(forward(child, in)[0]);
      break;
    case TorchClass::Concat:
      out = {{storage(module.out)}};
      for (const int child : module.children) forward(child, in);
      break;
    case TorchClass::Graph:
      out = forward_graph(module, in);
      break;
    default:
      shared_with_input_[m] = is_view(module.type) || works_in_place(module) || is_further_write(module);
      out = shared_with_input_[m] ? Tensors{{in[0].storage, true}} : Tensors{{storage(module.out)}};
  }
  return all_.output[m] = out;
}

Tensors StorageLayout::forward_graph(const TorchModule& graph, const Tensors& in) {
  std::map<VarId, TorchTensor> shown = {{graph.in[0], in[0]}};
  for (const int child : graph.children) {
    const TorchModule& module = net_.modules[child];
    Tensors given;
    for (const VarId v : module.in) given.push_back(shown.at(v));
    shown[module.out] = forward(child, given)[0];
  }
  return {shown.at(graph.out)};
}

/// What a Concat gives to a branch. Of one image the channels of a branch lie together; of several they do not.
TorchTensor StorageLayout::slice_of(TorchTensor whole, const TorchModule& concat, const TorchModule& branch) const {
  const Shape &all = program_.vars[concat.out].shape, &part = program_.vars[branch.out].shape;
  whole.in_pieces |= all[0] > 1 && elements(part) < elements(all);
  return whole;
}

Tensors StorageLayout::backward(int m, const Tensors& grad_output) {
  const TorchModule& module = net_.modules[m];
  Tensors grad;
  switch (module.type) {
    case TorchClass::Sequential:
      grad = grad_output;
      for (auto child = module.children.rbegin(); child != module.children.rend(); ++child)
        grad = backward(*child, grad);
      break;
    case TorchClass::ConcatTable:
      for (std::size_t c = 0; c < module.children.size(); ++c) backward(module.children[c], {grad_output[c]});
      grad = {{gradient(module.in[0])}};
      break;
    case TorchClass::Concat:
      for (const int child : module.children) backward(child, {slice_of(grad_output[0], module, net_.modules[child])});
      grad = {{gradient(module.in[0])}};
      break;
    case TorchClass::Graph:
      grad = backward_graph(m, grad_output);
      break;
    default:
      grad = leaf_backward(m, grad_output);
  }
  return all_.grad_input[m] = grad;
}

Tensors StorageLayout::backward_graph(int m, const Tensors& grad_output) {
  const TorchModule& graph = net_.modules[m];
  std::map<VarId, Tensors> given = {{graph.out, grad_output}};
  const auto sum = [&](VarId v) {
    if (given[v].size() == 1) return given[v][0];
    return all_.grad_sums[m].emplace_back(TorchTensor{gradient(v)});
  };
  for (auto child = graph.children.rbegin(); child != graph.children.rend(); ++child) {
    const TorchModule& module = net_.modules[*child];
    all_.grad_output[*child] = sum(module.out);
    const Tensors to_inputs = backward(*child, {all_.grad_output[*child]});
    for (std::size_t i = 0; i < module.in.size(); ++i) given[module.in[i]].push_back(to_inputs[i]);
  }
  return {sum(graph.in[0])};
}

Tensors StorageLayout::leaf_backward(int m, const Tensors& grad_output) {
  const TorchModule& module = net_.modules[m];
  const bool copies = grad_output[0].in_pieces && copies_pieces(backend_, module.type);
  if (copies) all_.slice_copy[m] = elements(program_.vars[module.out].shape);
  if (shared_with_input_[m] && copies) return {{storage(module.out), true}};
  Tensors grad;
  for (const VarId in : module.in) {
    const bool shown = shared_with_input_[m] && (grad.empty() || module.type == TorchClass::AddTable);
    grad.push_back(shown ? TorchTensor{grad_output[0].storage, true, grad_output[0].in_pieces}
                         : TorchTensor{gradient(in)});
  }
  return grad;
}

}  // namespace

bool is_cudnn(TorchBackend backend, TorchClass type) {
  switch (type) {
    case TorchClass::Convolution:
    case TorchClass::MaxPooling:
    case TorchClass::AveragePooling:
    case TorchClass::ReLU:
    case TorchClass::Normalization:
    case TorchClass::LogSoftMax:
      return backend == TorchBackend::Cudnn;
    default:
      return false;
  }
}

bool copies_pieces(TorchBackend backend, TorchClass type) {
  return is_cudnn(backend, type) || type == TorchClass::Convolution || type == TorchClass::BatchNormalization;
}

std::int64_t TorchStorages::distinct(std::initializer_list<const std::vector<Tensors>*> shown) const {
  std::set<int> storages;
  for (const std::vector<Tensors>* of_modules : shown)
    for (const Tensors& tensors : *of_modules)
      for (const TorchTensor& tensor : tensors) storages.insert(tensor.storage);
  storages.erase(input);
  storages.erase(loss_gradient);
  return std::accumulate(storages.begin(), storages.end(), std::int64_t{0},
                         [&](std::int64_t sum, int s) { return sum + elements[s]; });
}

TorchStorages torch_storages(const Program& program, const TorchNet& net, TorchBackend backend, bool inplace) {
  return StorageLayout(program, net, backend, inplace).run();
}

}  // namespace lethe
