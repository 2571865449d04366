// Peers that leave whoever uses them no more than peers.h promises: what is exchanged arrives at once, meanwhile or
// when it is waited for, and holds nothing of use before.
#pragma once
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "framework/random.h"
#include "kernels/ranks/sum.h"

namespace lethe::testing {

/// When an exchange is done: before start returns, in the thread of the peers, or only when it is waited for.
enum class Arrival { Early, Meanwhile, Late };

/// Fails the test if something is waited for nowhere or twice, or begun again meanwhile.
class UneasyPeers final : public Peers {
 public:
  /// `arrivals`: those that are drawn from, by the seed.
  UneasyPeers(std::shared_ptr<Peers> peers, std::uint64_t seed, std::vector<Arrival> arrivals);
  UneasyPeers(const UneasyPeers&) = delete;
  UneasyPeers& operator=(const UneasyPeers&) = delete;
  ~UneasyPeers() override;

  Rank rank() const override { return peers_->rank(); }
  void start_sum(void* values, void* room, DType dtype, std::int64_t count) override;
  void start_sum_of_share(void* values, void* room, DType dtype, std::int64_t count) override;
  void start_gather(std::vector<Shared> all) override;
  void finish(const void* values) override;
  void finish_piece() override { peers_->finish_piece(); }
  void wait_for_device() override { peers_->wait_for_device(); }

 private:
  struct Bytes {
    void* data = nullptr;
    std::int64_t count = 0;
  };
  struct Job {
    const void* values = nullptr;
    std::vector<Bytes> own = {};       // what this rank gives, in whose place other things arrive
    std::vector<Bytes> arriving = {};  // what holds nothing yet
    std::vector<Bytes> spoilt = {};    // what may hold anything when it is done
    std::function<void()> start = {};
    std::vector<std::byte> kept = {};  // of `own`, until it begins
    bool begun = false, done = false;
    std::exception_ptr error = {};
  };

  static void poison(const std::vector<Bytes>& all);
  void start_sum(const Summed& sum);
  void start(Job made);
  void begin_up_to(const Job& last);
  static void begin(Job& job);
  void end(Job& job);

  const std::shared_ptr<Peers> peers_;
  Random random_;
  const std::vector<Arrival> arrivals_;
  std::deque<Job> jobs_;  // under way, in the order in which they are started
  bool failed_ = false;
};

}  // namespace lethe::testing
