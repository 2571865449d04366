#include "train/ranks/collectives.h"

#include <algorithm>
#include <chrono>

#include "kernels/cpu/workers.h"

namespace lethe {

Collectives::Collectives(Transport& transport)
    : transport_(transport), rank_(transport.rank()), worker_([this] { work(); }) {}

Collectives::~Collectives() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void Collectives::start_sum(void* values, void* room, DType dtype, std::int64_t count) {
  start({values, room, dtype, count, false});
}

void Collectives::start_sum_of_share(void* values, void* room, DType dtype, std::int64_t count) {
  start({values, room, dtype, count, true});
}

void Collectives::start(const Summed& summed) {
  start(summed.values, [this, summed] { sum_over_ranks(transport_, summed, fold_on_host); });
}

void Collectives::start_gather(std::vector<Shared> all) {
  const void* const first = all.front().values;
  start(first, [this, all = std::move(all)] { gather_over_ranks(transport_, all); });
}

void Collectives::finish(const void* values) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return error_ || std::none_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.values == values; });
  });
  waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (error_) std::rethrow_exception(error_);
}

void Collectives::start(const void* values, std::function<void()> run) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back({values, std::move(run)});
  }
  changed_.notify_all();
}

void Collectives::work() {
  flush_denormals();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || (!jobs_.empty() && !error_); });
    if (jobs_.empty() || error_) return;
    const std::function<void()>& run = jobs_.front().run;
    lock.unlock();
    std::exception_ptr error;
    try {
      run();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    jobs_.pop_front();
    error_ = error;
    changed_.notify_all();
  }
}

}  // namespace lethe
