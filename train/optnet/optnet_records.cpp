#include "train/optnet/optnet_records.h"

#include <algorithm>
#include <map>

namespace lethe {
namespace {

constexpr OptnetTick kAlways = -1;  // before the first call

/// The records, met tensor by tensor while the clock runs.
class CallClock {
 public:
  explicit CallClock(const TorchStorages& storages) : storages_(storages), record_of_(storages.elements.size(), -1) {}

  OptnetTick call() { return now_++; }
  void skip(OptnetTick calls) { now_ += calls; }

  void pin(int storage) {
    lives_.records[met({storage})] = {storages_.elements[storage], kAlways, kOptnetNever, OptnetKind::Pinned};
  }

  void read(const TorchTensor& tensor, OptnetTick at) {
    OptnetRecord& record = lives_.records[met(tensor)];
    if (record.kind == OptnetKind::Pinned) return;
    record.used = record.used == kOptnetNever ? at : std::max(record.used, at);
  }

  void define(const TorchTensor& tensor, OptnetTick at) {
    OptnetRecord& record = lives_.records[met(tensor)];
    record.defined = std::min(record.defined, at);
  }

  OptnetLives finish() { return std::move(lives_); }

 private:
  int met(const TorchTensor& tensor) {
    int& record = record_of_[tensor.storage];
    if (record < 0) {
      record = static_cast<int>(lives_.records.size());
      lives_.records.push_back({.elements = storages_.elements[tensor.storage],
                                .kind = tensor.repointed ? OptnetKind::Ghost : OptnetKind::Shared});
      lives_.storage.push_back(tensor.storage);
    }
    return record;
  }

  const TorchStorages& storages_;
  OptnetTick now_ = 1;
  std::vector<int> record_of_;  // by storage
  OptnetLives lives_;
};

using Tensors = std::vector<TorchTensor>;

class ForwardCalls {
 public:
  ForwardCalls(const TorchNet& net, const TorchStorages& storages) : net_(net), storages_(storages), clock_(storages) {}

  OptnetLives run() {
    clock_.pin(storages_.input);
    call(net_.root, {{storages_.input}});
    return clock_.finish();
  }

 private:
  void call(int m, const Tensors& in) {
    const TorchModule& module = net_.modules[m];
    const OptnetTick now = clock_.call();
    for (const TorchTensor& tensor : in) clock_.read(tensor, now);
    if (module.children.empty()) clock_.define(storages_.output[m][0], now);
    if (module.type == TorchClass::Concat) {
      clock_.define(storages_.output[m][0], now);
      for (const int child : module.children) clock_.define(storages_.output[child][0], now);
    }
    if (module.type == TorchClass::Graph) {
      call_graph(module, in);
      return;
    }
    const Tensors* given = &in;
    for (const int child : module.children) {
      call(child, *given);
      if (module.type == TorchClass::Sequential) given = &storages_.output[child];
    }
  }

  void call_graph(const TorchModule& graph, const Tensors& in) {
    std::map<VarId, TorchTensor> shown = {{graph.in[0], in[0]}};
    for (const int child : graph.children) {
      Tensors given;
      for (const VarId v : net_.modules[child].in) given.push_back(shown.at(v));
      call(child, given);
      shown[net_.modules[child].out] = storages_.output[child][0];
    }
  }

  const TorchNet& net_;
  const TorchStorages& storages_;
  CallClock clock_;
};

class BackwardCalls {
 public:
  BackwardCalls(const TorchNet& net, const TorchStorages& storages)
      : net_(net), storages_(storages), clock_(storages) {}

  OptnetLives run() {
    clock_.skip(static_cast<OptnetTick>(net_.modules.size()));  // the forward pass
    clock_.pin(storages_.loss_gradient);
    call(net_.root, {{storages_.loss_gradient}});
    clock_.pin(storages_.input);  // met last: the parameters' gradients read it
    return clock_.finish();
  }

 private:
  void tick(int m, const Tensors& grad_output) {
    const OptnetTick now = clock_.call();
    for (const TorchTensor& tensor : grad_output) clock_.read(tensor, now);
    for (const TorchTensor& tensor : storages_.grad_input[m]) clock_.define(tensor, now);
    for (const TorchTensor& tensor : storages_.grad_sums[m]) clock_.define(tensor, now);
  }

  void call(int m, const Tensors& grad_output) {
    const TorchModule& module = net_.modules[m];
    tick(m, grad_output);
    if (module.children.empty()) {  // backward calls updateGradInput and accGradParameters
      tick(m, grad_output);
      tick(m, grad_output);
    }
    const bool in_graph = module.type == TorchClass::Graph;
    const bool in_turn = module.type == TorchClass::Sequential || in_graph;
    const Tensors* given = &grad_output;
    for (std::size_t c = 0; c < module.children.size(); ++c) {
      const int child = module.children[in_turn ? module.children.size() - 1 - c : c];
      if (module.type == TorchClass::ConcatTable)
        call(child, {grad_output[c]});
      else
        call(child, in_graph ? Tensors{storages_.grad_output[child]} : *given);
      if (in_turn) given = &storages_.grad_input[child];
    }
  }

  const TorchNet& net_;
  const TorchStorages& storages_;
  CallClock clock_;
};

}  // namespace

OptnetLives inference_lives(const TorchNet& net, const TorchStorages& storages) {
  return ForwardCalls(net, storages).run();
}

OptnetLives training_lives(const TorchNet& net, const TorchStorages& storages) {
  return BackwardCalls(net, storages).run();
}

}  // namespace lethe
