#include "kernels/cuda/nccl_transport.h"

#include <exception>
#include <future>
#include <thread>
#include <utility>

#include "framework/error.h"
#include "kernels/cuda/current_gpu.h"

namespace lethe {
namespace {

/// In a thread of its own, since it waits for all ranks for as long as that takes.
ncclComm* join_ranks(const NcclId& id, Rank rank, int gpu, std::chrono::seconds patience) {
  using Joined = std::pair<int, ncclComm*>;
  auto joined = std::make_shared<std::promise<Joined>>();
  std::future<Joined> result = joined->get_future();
  std::thread([joined, id, rank, gpu] {
    try {
      const CurrentGpu here(gpu);
      ncclComm* comm = nullptr;
      const int code = nccl().join(&comm, static_cast<int>(rank.of), id, static_cast<int>(rank.number));
      joined->set_value({code, comm});
    } catch (...) {
      joined->set_exception(std::current_exception());
    }
  }).detach();
  check_as(Exit::Device, result.wait_for(patience) == std::future_status::ready,
           "NCCL has not joined the GPUs of all ranks within ", patience.count(), " seconds (`timeout`)");
  const auto [code, comm] = result.get();
  check_nccl(code, "joining the GPUs of all ranks");
  return comm;
}

}  // namespace

NcclTransport::NcclTransport(const NcclId& id, Rank rank, int gpu, void* stream, std::chrono::seconds patience)
    : rank_(rank), stream_(stream), comm_(join_ranks(id, rank, gpu, patience)) {}

NcclTransport::~NcclTransport() {
  if (std::uncaught_exceptions() > 0) give_up();  // others may be gone
  if (comm_) nccl().destroy(comm_);
}

void NcclTransport::exchange(std::span<const Message> sent, std::span<const Message> received) {
  const Nccl& n = nccl();
  check_as(Exit::Device, comm_, "NCCL was given up");
  check_nccl(n.group_start(), "beginning to send", comm_);
  int result = kNcclSuccess;
  const auto add = [&](const Message& m, auto* call) {
    if (result != kNcclSuccess || m.bytes == 0) return;
    result = call(m.data, static_cast<std::size_t>(m.bytes), kNcclBytes, static_cast<int>(m.rank), comm_, stream_);
  };
  for (const Message& m : received) add(m, n.receive);
  for (const Message& m : sent) add(m, n.send);
  const int ended = n.group_end();
  check_nccl(result != kNcclSuccess ? result : ended, "sending", comm_);
}

void NcclTransport::check_begun() {
  if (!comm_) return;
  int begun = kNcclSuccess;
  check_nccl(nccl().async_error(comm_, &begun), "asking what became of what was sent", comm_);
  if (begun != kNcclInProgress) check_nccl(begun, "what was sent", comm_);
}

void NcclTransport::give_up() {
  if (comm_) nccl().abort(std::exchange(comm_, nullptr));
}

}  // namespace lethe
