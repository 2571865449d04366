#include "train/ranks/mpi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "framework/program_name.h"

#ifdef LETHE_HAS_MPI
#include <mpi.h>
#include <sched.h>
#endif

namespace lethe {

std::optional<std::int64_t> number_by_mpi() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* const number = std::getenv(name)) return std::atoll(number);
  return std::nullopt;
}

#ifdef LETHE_HAS_MPI
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;    // of a message: MPI counts in int
constexpr std::chrono::seconds kUntilRankZeroHasEndedAll(5);  // on a busy machine mpirun takes more than one

void check_mpi(int result, const char* doing) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(result, text, &length);
  fail_as(Exit::Device, doing, ": MPI says: ", std::string(text, static_cast<std::size_t>(length)));
}

Rank rank_of_world() {
  int number = 0, of = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &of);
  return {number, of};
}

class MpiTransport final : public Transport {
 public:
  MpiTransport(const MpiWorld& world, std::chrono::seconds patience) : world_(world), patience_(patience) {}
  Rank rank() const override { return world_.rank(); }

  void exchange(std::span<const Message> sent, std::span<const Message> received) override {
    requests_.clear();
    ranks_.clear();
    expected_.clear();
    for (const Message& m : received)
      begin(m, [&](void* data, int bytes, MPI_Request* request) {
        expected_.push_back(bytes);
        return MPI_Irecv(data, bytes, MPI_BYTE, static_cast<int>(m.rank), 0, MPI_COMM_WORLD, request);
      });
    for (const Message& m : sent)
      begin(m, [&](void* data, int bytes, MPI_Request* request) {
        return MPI_Isend(data, bytes, MPI_BYTE, static_cast<int>(m.rank), 0, MPI_COMM_WORLD, request);
      });
    wait();
  }

 private:
  template <class Begin>
  void begin(const Message& message, const Begin& start) {
    auto* data = static_cast<std::byte*>(message.data);
    for (std::int64_t left = message.bytes; left > 0; left -= kMostBytes, data += kMostBytes) {
      ranks_.push_back(message.rank);
      check_mpi(start(data, static_cast<int>(std::min(left, kMostBytes)), &requests_.emplace_back()), "sending");
    }
  }

  /// Asks often at first, then now and then: the processor is needed for the step.
  void wait() {
    constexpr int kAskedAtOnce = 50;
    const Clock::time_point begin = Clock::now();
    const auto count = static_cast<int>(requests_.size());
    statuses_.assign(requests_.size(), MPI_Status{});
    for (int asked = 0;; ++asked) {
      int done = 0;
      check_tested(MPI_Testall(count, requests_.data(), &done, statuses_.data()));
      if (done) return check_received();
      if (asked < kAskedAtOnce) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (asked % 1000 == 0 && Clock::now() - begin > patience_) give_up();
    }
  }

  void check_tested(int result) const {
    for (std::size_t i = 0; result == MPI_ERR_IN_STATUS && i < ranks_.size(); ++i)
      if (const int error = statuses_[i].MPI_ERROR; error != MPI_ERR_PENDING)
        check_mpi(error, ("between this rank and " + world_.name_of(ranks_[i])).c_str());
    check_mpi(result, "waiting");
  }

  /// What is longer than expected is an error of MPI's own.
  void check_received() const {
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      int bytes = 0;
      check_mpi(MPI_Get_count(&statuses_[i], MPI_BYTE, &bytes), "counting");
      check_as(Exit::Device, bytes == expected_[i], world_.name_of(ranks_[i]), " sends ", bytes, " bytes, where rank ",
               rank().number, " expects ", expected_[i], ": they are not at the same place");
    }
  }

  [[noreturn]] void give_up() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      int done = 0;
      check_mpi(MPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE), "waiting");
      if (!done)
        fail_as(Exit::Device, world_.name_of(ranks_[i]), " has kept the others waiting for ", patience_.count(),
                " seconds (`timeout`)");
    }
    fail_as(Exit::Device, "the other ranks have kept this one waiting for ", patience_.count(), " seconds (`timeout`)");
  }

  const MpiWorld& world_;
  std::chrono::seconds patience_;
  std::vector<MPI_Request> requests_;
  std::vector<std::int64_t> ranks_;  // by request
  std::vector<MPI_Status> statuses_ = {};
  std::vector<int> expected_ = {};  // bytes, of what is received, which comes first
};

}  // namespace

/// The place where a rank runs.
struct MpiWorld::Place {
  char host[64];
  cpu_set_t processors;
};

MpiWorld::MpiWorld() {
  int level = 0, parted = 0;
  MPI_Finalized(&parted);
  check_as(Exit::Device, parted == 0, "the ranks have parted");
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "joining the other ranks");
  check_as(Exit::Device, level >= MPI_THREAD_SERIALIZED, "this MPI is for programs of one thread");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  places_.resize(static_cast<std::size_t>(rank().of) * sizeof(Place));
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(host, &length);
  Place own = {};
  std::strncpy(own.host, host, sizeof own.host - 1);
  sched_getaffinity(0, sizeof own.processors, &own.processors);
  check_mpi(MPI_Allgather(&own, sizeof own, MPI_BYTE, places_.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD),
            "joining the other ranks");
}

MpiWorld::~MpiWorld() { MPI_Finalize(); }

Rank MpiWorld::rank() const { return rank_of_world(); }

std::unique_ptr<Transport> MpiWorld::transport(std::chrono::seconds patience) const {
  return std::make_unique<MpiTransport>(*this, patience);
}

const MpiWorld::Place& MpiWorld::place(std::int64_t rank) const {
  return reinterpret_cast<const Place*>(places_.data())[rank];
}

std::int64_t MpiWorld::sharers() const {
  const Place& own = place(rank().number);
  std::int64_t sharers = 0;
  for (std::int64_t other = 0; other < rank().of; ++other)
    if (std::strcmp(place(other).host, own.host) == 0 && CPU_EQUAL(&place(other).processors, &own.processors))
      ++sharers;
  return sharers;
}

std::int64_t MpiWorld::number_on_host() const {
  std::int64_t before = 0;
  for (std::int64_t other = 0; other < rank().number; ++other)
    if (std::strcmp(place(other).host, place(rank().number).host) == 0) ++before;
  return before;
}

std::string MpiWorld::name_of(std::int64_t rank) const { return message("rank ", rank, " on ", place(rank).host); }

void MpiWorld::fail(const std::string& what, Exit code) const {
  if (rank().number != 0) std::this_thread::sleep_for(kUntilRankZeroHasEndedAll);
  const std::string whose = rank().number == 0 ? "" : name_of(rank().number) + ": ";
  std::fprintf(stderr, "%s: error: %s%s\n", program_name(), whose.c_str(), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  std::_Exit(static_cast<int>(code));
}

#else

MpiWorld::MpiWorld() {
  fail_as(Exit::Device,
          "mpirun has started this program, which was built without MPI; install libopenmpi-dev and "
          "build again");
}
MpiWorld::~MpiWorld() = default;
Rank MpiWorld::rank() const { return {}; }
std::unique_ptr<Transport> MpiWorld::transport(std::chrono::seconds) const { return nullptr; }
std::int64_t MpiWorld::sharers() const { return 1; }
std::int64_t MpiWorld::number_on_host() const { return 0; }
std::string MpiWorld::name_of(std::int64_t) const { return {}; }
void MpiWorld::fail(const std::string&, Exit code) const { std::_Exit(static_cast<int>(code)); }

#endif

}  // namespace lethe
