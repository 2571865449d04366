// Ranks as threads of one process: what they send each other goes through memory, at any time and in any order that
// ranks may not rely on (uneasy_peers.h).
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "framework/error.h"
#include "framework/random.h"
#include "tests/support/run_seed.h"
#include "tests/support/uneasy_peers.h"
#include "train/ranks/collectives.h"

namespace lethe::testing {

class EmulatedWorld {
 public:
  explicit EmulatedWorld(std::int64_t ranks, std::chrono::seconds patience = std::chrono::seconds(60),
                         std::vector<Arrival> arrivals = {Arrival::Early, Arrival::Meanwhile, Arrival::Late})
      : ranks_(ranks), patience_(patience), arrivals_(std::move(arrivals)) {}

  /// Runs `body` on each rank, in a thread of its own, with its peers. Rethrows what rank 0 threw, else another.
  void run(const std::function<void(std::shared_ptr<Peers>)>& body) {
    const std::uint64_t seed = seed_of_next_run();
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks_));
    std::vector<std::thread> threads;
    for (std::int64_t number = 0; number < ranks_; ++number)
      threads.emplace_back([&, number] {
        SCOPED_TRACE(message("rank ", number, " of ", ranks_, ", order drawn by ", seed));
        Memory transport(*this, {number, ranks_}, seed);
        try {
          body(std::make_shared<UneasyPeers>(std::make_shared<Collectives>(transport), seed, arrivals_));
        } catch (...) {
          errors[static_cast<std::size_t>(number)] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
      if (error) std::rethrow_exception(error);
  }
  /// Bytes that all ranks have sent together.
  std::int64_t sent() const { return sent_; }

 private:
  class Memory final : public Transport {
   public:
    Memory(EmulatedWorld& world, Rank rank, std::uint64_t seed)
        : world_(world), rank_(rank), random_(seed, static_cast<std::uint64_t>(rank.of + rank.number)) {}
    Rank rank() const override { return rank_; }
    /// Those of one rank arrive in their order, ranks in any.
    void exchange(std::span<const Message> sent, std::span<const Message> received) override {
      for (const Message& m : sent) world_.put(rank_.number, m);
      const std::int64_t first = random_.below(static_cast<std::uint32_t>(rank_.of));
      for (std::int64_t i = 0; i < rank_.of; ++i)
        for (const Message& m : received)
          if (m.rank == (first + i) % rank_.of) world_.take(m, rank_.number);
    }

   private:
    EmulatedWorld& world_;
    Rank rank_;
    Random random_;
  };

  void put(std::int64_t from, const Message& m) {
    std::lock_guard lock(mutex_);
    const auto* const data = static_cast<const std::byte*>(m.data);
    on_the_way_[{from, m.rank}].emplace_back(data, data + m.bytes);
    sent_ += m.bytes;
    changed_.notify_all();
  }
  void take(const Message& m, std::int64_t to) {
    std::unique_lock lock(mutex_);
    auto& queue = on_the_way_[{m.rank, to}];
    check_as(Exit::Device, changed_.wait_for(lock, patience_, [&] { return !queue.empty(); }), "rank ", m.rank,
             " sends nothing to rank ", to);
    check(std::ssize(queue.front()) == m.bytes, "rank ", m.rank, " sends ", queue.front().size(), " bytes, rank ", to,
          " wants ", m.bytes);
    std::copy(queue.front().begin(), queue.front().end(), static_cast<std::byte*>(m.data));
    queue.pop_front();
  }

  const std::int64_t ranks_;
  const std::chrono::seconds patience_;
  const std::vector<Arrival> arrivals_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::deque<std::vector<std::byte>>> on_the_way_;
  std::int64_t sent_ = 0;
};

}  // namespace lethe::testing
