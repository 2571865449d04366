// Ranks that `mpirun` has started. MPI starts them and moves bytes; what is summed, and in which order, is ours.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/error.h"
#include "framework/ranks/transport.h"

namespace lethe {

/// Which of its processes this is, if mpirun, or another starter of MPI, has started it.
std::optional<std::int64_t> number_by_mpi();

/// The process as one of the ranks. At most one is made in a process, by its main thread, which also ends it.
class MpiWorld {
 public:
  /// Joins the others; fails with Exit::Device if this program was built without MPI.
  MpiWorld();
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  Rank rank() const;
  /// Fails in exchange() if a rank keeps this one waiting for longer than `patience`.
  std::unique_ptr<Transport> transport(std::chrono::seconds patience) const;
  /// How many ranks run on the same processors, this one among them.
  std::int64_t sharers() const;
  /// How many ranks before this one run on its host.
  std::int64_t number_on_host() const;
  /// "rank 3 on node7".
  std::string name_of(std::int64_t rank) const;
  /// Says what went wrong and ends all ranks at once. What happens on all of them rank 0 alone says: the others leave
  /// it some seconds.
  [[noreturn]] void fail(const std::string& what, Exit code) const;

 private:
  struct Place;
  const Place& place(std::int64_t rank) const;
  std::vector<std::byte> places_;  // by rank
};

}  // namespace lethe
