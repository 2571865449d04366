// Sums and gathers of what ranks have in the host's memory, done by a thread of their own, one after the other in the
// order in which they are started.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "kernels/ranks/sum.h"

namespace lethe {

class Collectives final : public Peers {
 public:
  /// The transport, which must outlive this, is used by the thread alone.
  explicit Collectives(Transport& transport);
  /// Waits for what was started.
  ~Collectives() override;
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  Rank rank() const override { return rank_; }
  void start_sum(void* values, void* room, DType dtype, std::int64_t count) override;
  void start_sum_of_share(void* values, void* room, DType dtype, std::int64_t count) override;
  void start_gather(std::vector<Shared> all) override;
  void finish(const void* values) override;
  /// Seconds that callers of finish() have waited so far.
  double waited() const { return waited_; }

 private:
  struct Job {
    const void* values;
    std::function<void()> run;
  };

  void start(const Summed& summed);
  void start(const void* values, std::function<void()> run);
  void work();

  Transport& transport_;
  const Rank rank_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;      // the first is being done
  std::exception_ptr error_;  // of a job: nothing is done after it
  bool closing_ = false;
  double waited_ = 0;   // of the thread that calls finish()
  std::thread worker_;  // last: it uses all of the above
};

}  // namespace lethe
