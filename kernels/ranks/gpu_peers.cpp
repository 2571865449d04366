#include "kernels/ranks/gpu_peers.h"

#include "framework/error.h"

#ifdef LETHE_HAS_CUDA
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <type_traits>
#include <utility>

#include "kernels/cuda/current_gpu.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/nccl_transport.h"
#include "kernels/ranks/cuda_launches.h"
#endif

namespace lethe {
#ifdef LETHE_HAS_CUDA
namespace {

using Clock = std::chrono::steady_clock;

void require(cudaError_t status, const char* what) {
  check_as(Exit::Device, status == cudaSuccess, what, " failed: ", cudaGetErrorString(status));
}

/// Where a rank computes, and from the first of them by what they find each other.
struct Seat {
  NcclId id;
  char host[64], gpu[32];  // the latter by its address on that host's bus
};

std::vector<Seat> seats_of_all(int gpu, Peers& hosts) {
  const Rank rank = hosts.rank();
  std::vector<Seat> seats(static_cast<std::size_t>(rank.of));
  Seat& own = seats[static_cast<std::size_t>(rank.number)];
  if (rank.number == 0) check_nccl(nccl().make_id(&own.id), "an id for all ranks");
  gethostname(own.host, sizeof own.host - 1);
  require(cudaDeviceGetPCIBusId(own.gpu, sizeof own.gpu, gpu), "asking for the GPU's address");
  hosts.gather(seats.data(), sizeof(Seat));
  return seats;
}

void check_seats(const std::vector<Seat>& seats) {
  for (std::size_t a = 0; a < seats.size(); ++a)
    for (std::size_t b = a + 1; b < seats.size(); ++b) {
      const bool same = std::strcmp(seats[a].host, seats[b].host) == 0 && std::strcmp(seats[a].gpu, seats[b].gpu) == 0;
      check_as(Exit::Device, !same, "ranks ", a, " and ", b, " would share the GPU ", seats[a].gpu, " of ",
               seats[a].host, ", and NCCL wants one for each: start no more ranks on a host than it has GPUs");
    }
}

struct DestroyOnGpu {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using OwnedStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyOnGpu>;
using OwnedEvent = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyOnGpu>;

OwnedStream made_stream() {
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return OwnedStream(stream);
}

OwnedEvent made_event() {
  cudaEvent_t event = nullptr;
  require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return OwnedEvent(event);
}

/// What was started is done in a stream beside the device's: to start it lets the one wait for the other, to finish it
/// the other for the one.
class GpuPeers final : public Peers {
 public:
  GpuPeers(std::shared_ptr<GpuLibraries> gpu, std::shared_ptr<Peers> hosts, std::chrono::seconds patience, int times)
      : gpu_(std::move(gpu)), hosts_(std::move(hosts)), patience_(patience), times_(times) {
    nccl();  // fails alike on all ranks
    const CurrentGpu here(gpu_->gpu());
    const std::vector<Seat> seats = seats_of_all(gpu_->gpu(), *hosts_);
    check_seats(seats);
    aside_ = made_stream();
    begin_ = made_event();
    transport_ = std::make_unique<NcclTransport>(seats[0].id, hosts_->rank(), gpu_->gpu(), aside_.get(), patience_);
  }
  ~GpuPeers() override {
    const CurrentGpu here(gpu_->gpu(), std::nothrow);
    transport_.reset();
    pending_.clear();
    free_.clear();
    begin_.reset();
    aside_.reset();
  }
  GpuPeers(const GpuPeers&) = delete;
  GpuPeers& operator=(const GpuPeers&) = delete;

  Rank rank() const override { return hosts_->rank(); }
  void start_sum(void* values, void* room, DType dtype, std::int64_t count) override {
    start({values, room, dtype, count, false});
  }
  void start_sum_of_share(void* values, void* room, DType dtype, std::int64_t count) override {
    start({values, room, dtype, count, true});
  }
  void start_gather(std::vector<Shared> all) override {
    start(all.front().values, [&] { gather_over_ranks(*transport_, all); });
  }

  void finish(const void* values) override {
    const auto found = find(values);
    if (found == pending_.end()) return;  // finish_piece() has
    require(cudaStreamWaitEvent(stream(), found->done.get(), 0), "waiting for other ranks");
    free_.push_back(std::move(found->done));
    pending_.erase(found);
  }
  void finish_piece() override {
    while (!pending_.empty()) finish(pending_.front().values);
  }

  void wait_for_device() override {
    constexpr int kAskedAtOnce = 50;
    const CurrentGpu here(gpu_->gpu());
    Waiting waiting{Clock::now()};
    for (int asked = 0;; ++asked) {
      const cudaError_t status = cudaStreamQuery(stream());
      if (status == cudaSuccess) return transport_->check_begun();
      if (status != cudaErrorNotReady) require(status, "what was running");
      if (asked < kAskedAtOnce) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (asked % 50 == 0) check_others(waiting);
    }
  }

 private:
  struct Pending {
    const void* values;
    OwnedEvent done;
  };
  struct Waiting {
    Clock::time_point since;  // it began, or the others answered
    int answered = 0;         // so often
  };

  cudaStream_t stream() const { return static_cast<cudaStream_t>(gpu_->stream()); }
  std::vector<Pending>::iterator find(const void* values) {
    return std::find_if(pending_.begin(), pending_.end(), [&](const Pending& p) { return p.values == values; });
  }

  void start(const Summed& summed) {
    start(summed.values, [&] {
      sum_over_ranks(*transport_, summed, [this](const Partials& partials) { launch_fold(aside_.get(), partials); });
    });
  }

  template <class Work>
  void start(const void* values, const Work& work) {
    require(cudaEventRecord(begin_.get(), stream()), "recording an event");
    require(cudaStreamWaitEvent(aside_.get(), begin_.get(), 0), "waiting for an event");
    work();
    auto found = find(values);  // there, if a recording was given up
    if (found == pending_.end()) found = pending_.insert(found, Pending{values, take_event()});
    require(cudaEventRecord(found->done.get(), aside_.get()), "recording an event");
  }

  OwnedEvent take_event() {
    if (free_.empty()) return made_event();
    OwnedEvent event = std::move(free_.back());
    free_.pop_back();
    return event;
  }

  /// All hosts ask each other once they have waited for so long. If all answer, their step is a long one, or what lies
  /// between the GPUs fails: that is told apart by time alone.
  void check_others(Waiting& waiting) {
    try {
      transport_->check_begun();
      if (Clock::now() - waiting.since < patience_) return;
      ask_others();
      waiting = {Clock::now(), waiting.answered + 1};
      check_as(Exit::Device, waiting.answered < times_,
               "the GPU has been kept waiting, or a step has taken, longer than ", times_ * patience_.count(),
               " seconds (", times_, " times `timeout`), while all ranks answer");
    } catch (...) {
      transport_->give_up();
      throw;
    }
  }

  /// Fails with the name of a rank that does not answer. One whose step ended just before is in another exchange, of
  /// another size, by which both fail.
  void ask_others() {
    std::vector<std::byte> answers(static_cast<std::size_t>(rank().of));
    hosts_->gather(answers.data(), 1);
  }

  std::shared_ptr<GpuLibraries> gpu_;
  std::shared_ptr<Peers> hosts_;
  std::chrono::seconds patience_;
  int times_;
  OwnedStream aside_;
  OwnedEvent begin_;
  std::vector<Pending> pending_;
  std::vector<OwnedEvent> free_;
  std::unique_ptr<NcclTransport> transport_;
};

}  // namespace
#endif

std::unique_ptr<Peers> connect_gpus([[maybe_unused]] const DeviceInfo& gpu,
                                    [[maybe_unused]] std::shared_ptr<Peers> hosts,
                                    [[maybe_unused]] std::chrono::seconds patience, [[maybe_unused]] int times) {
#ifdef LETHE_HAS_CUDA
  return std::make_unique<GpuPeers>(libraries_of(gpu), std::move(hosts), patience, times);
#else
  fail_as(Exit::Device, "CUDA is not in this build");
#endif
}

}  // namespace lethe
