#include "train/optnet/optnet_count.h"

#include <algorithm>
#include <map>
#include <set>

#include "train/optnet/optnet_records.h"
#include "train/optnet/written_out.h"

namespace lethe {
namespace {

/// Elements of all parameters that the forward pass reads, without their gradients.
std::int64_t parameter_elements(const Program& program) {
  std::set<VarId> params;
  for (const Op& op : program.blocks[0].ops)
    for (const VarId v : op.in)
      if (v != kNone && program.vars[v].kind == Kind::Param) params.insert(v);
  std::int64_t sum = 0;
  for (const VarId v : params) sum += elements(program.vars[v].shape);
  return sum;
}

/// What buffers take once the shareable ones of a field are one, as large as the largest.
std::int64_t elements_of(const std::vector<TorchBuffer>& buffers, bool reuse) {
  std::map<std::string, std::int64_t> largest;
  std::int64_t sum = 0;
  for (const TorchBuffer& buffer : buffers)
    if (reuse && buffer.shareable)
      largest[buffer.field] = std::max(largest[buffer.field], buffer.elements);
    else
      sum += buffer.elements;
  for (const auto& [field, elements] : largest) sum += elements;
  return sum;
}

/// cudnn's modules size their gradient of the input when they size their output, whether a backward pass follows or
/// not; those in place have none.
std::int64_t gradients_sized_forward(const Program& program, const TorchNet& net, const TorchStorages& storages,
                                     TorchBackend backend) {
  std::int64_t sum = 0;
  for (std::size_t m = 0; m < net.modules.size(); ++m) {
    const TorchModule& module = net.modules[m];
    if (is_cudnn(backend, module.type) && !storages.output[m][0].repointed)
      sum += elements(program.vars[module.in[0]].shape);
  }
  return sum;
}

}  // namespace

OptnetCount optnet_count(const Network& given, const TorchNotes& notes, TorchBackend backend,
                         const OptnetOptions& options) {
  const Network network = written_out(given);
  const Program& program = network.program;
  const TorchNet net = torch_net(network, notes);
  const TorchStorages plain = torch_storages(program, net, backend, false);
  const TorchStorages storages = torch_storages(program, net, backend, options.inplace);
  const std::int64_t size = bytes_of(program.vars[net.modules[net.root].out].dtype);
  const std::int64_t params = parameter_elements(program) * size;
  const auto buffers = [&](const TorchStorages& of, bool reuse) {
    return size * elements_of(torch_buffers(program, net, of, backend, options.training, notes), reuse);
  };

  OptnetCount count;
  count.before = {plain.outputs() * size, 0, buffers(plain, false), 2 * params};
  const OptnetLives lives = options.training ? training_lives(net, storages) : inference_lives(net, storages);
  const OptnetGroups groups = group_by_last_use(lives.records);
  const bool drop_gradients = options.remove_grad_params && !options.training;
  count.after = {0, 0, buffers(storages, options.reuse_buffers), drop_gradients ? params : 2 * params};
  count.ghosts = groups.ghosts * size;
  if (options.training) {
    count.before.grad_inputs = plain.grad_inputs() * size;
    count.after.outputs = storages.outputs() * size;
    count.after.grad_inputs = groups.total() * size;
    for (std::size_t m = 0; m < net.modules.size(); ++m)
      if (storages.output[m].front().repointed) count.counted_twice += storages.slice_copy[m] * size;
  } else {
    // Sized by the first forward pass, before a module may be turned in place: all of it stays.
    count.before.grad_inputs = gradients_sized_forward(program, net, plain, backend) * size;
    count.after = {groups.total() * size, count.before.grad_inputs, count.after.buffers, count.after.params};
  }
  return count;
}

}  // namespace lethe
