#include "train/optnet/measure.h"

#include <chrono>
#include <numeric>
#include <string_view>

#include "framework/error.h"
#include "framework/run/executor.h"
#include "framework/run/forwarding_device.h"

namespace lethe {
namespace {

/// Notes each piece of memory that it hands out.
class LedgerDevice final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  void* allocate(std::int64_t bytes) override {
    void* memory = ForwardingDevice::allocate(bytes);
    pieces_.push_back(bytes);
    return memory;
  }

  const std::vector<std::int64_t>& pieces() const { return pieces_; }

 private:
  std::vector<std::int64_t> pieces_;
};

void feed_made_up(const TorchProgram& torch, Executor& executor) {
  for (const VarId v : {torch.input, torch.output_gradient}) {
    if (v == kNone) continue;
    const Var& var = torch.program.vars[v];
    std::vector<std::byte> values(static_cast<std::size_t>(bytes_of(var)));
    fill_initial({.kind = Init::Uniform, .value = 1}, 0, var.name, var.dtype, elements(var.shape), values.data());
    executor.feed(v, values.data(), bytes_of(var));
  }
}

std::uint64_t hash_results(const TorchProgram& torch, const Executor& executor) {
  std::vector<VarId> results = {torch.output};
  for (const ParamGrad& grad : torch.grads) results.push_back(grad.grad);
  std::uint64_t hash = 0;
  std::string bytes;
  for (const VarId v : results) {
    bytes.resize(static_cast<std::size_t>(bytes_of(torch.program.vars[v])));
    executor.fetch(v, bytes.data(), bytes_of(torch.program.vars[v]));
    hash = hash * 31 + hash_of(bytes);
  }
  return hash;
}

std::int64_t& share_of(TakenBytes& taken, TorchHolds as) {
  switch (as) {
    case TorchHolds::Output:
      return taken.held.outputs;
    case TorchHolds::GradInput:
      return taken.held.grad_inputs;
    case TorchHolds::Buffer:
      return taken.held.buffers;
    case TorchHolds::Param:
      return taken.held.params;
    case TorchHolds::Nothing:
      break;
  }
  return taken.scratch;
}

/// `pieces` are those of the store, then one for each buffer of the plan.
TakenBytes sort_pieces(const TorchProgram& torch, const OptnetPlan& planned, const std::vector<std::int64_t>& pieces,
                       std::int64_t alignment) {
  TakenBytes taken{.kept_apart = planned.kept_apart};
  const std::size_t in_store = pieces.size() - planned.plan.buffers.size();
  for (const Var& var : torch.program.vars) {
    if (var.kind == Kind::Param) taken.held.params += bytes_of(var);
    if (var.kind == Kind::State) (is_float(var.dtype) ? taken.held.buffers : taken.scratch) += bytes_of(var);
  }
  check(std::accumulate(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(in_store), std::int64_t{0}) ==
            taken.held.params + taken.held.buffers + taken.scratch,
        "measure: the device gave something else for the parameters than the store asked for");
  for (std::size_t b = 0; b < planned.plan.buffers.size(); ++b) {
    check(pieces[in_store + b] == planned.plan.buffers[b].bytes, "measure: the device gave ", pieces[in_store + b],
          " bytes for a buffer of ", planned.plan.buffers[b].bytes);
    share_of(taken, planned.as[b]) += pieces[in_store + b];
  }
  for (const std::int64_t bytes : pieces) taken.padding += round_up(bytes, alignment) - bytes;
  for (const VarId v : {torch.input, torch.output_gradient})
    if (v != kNone) taken.fed += bytes_of(torch.program.vars[v]);
  taken.scratch -= taken.fed;  // inputs are pinned: buffers of their own
  return taken;
}

}  // namespace

Measured measure(const Network& network, const TorchProgram& torch, const OptnetPlan& planned, Prepared& prepared,
                 Device& device) {
  LedgerDevice ledger(device);
  Store store(ledger);
  store.initialize(torch.program, network.params, 0);
  Executor executor(torch.program, planned.plan, prepared, store);
  Measured measured{.taken = sort_pieces(torch, planned, ledger.pieces(), device.info().alignment)};
  feed_made_up(torch, executor);
  const auto begin = std::chrono::steady_clock::now();
  executor.run();
  device.synchronize();
  measured.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  measured.results = hash_results(torch, executor);
  return measured;
}

}  // namespace lethe
