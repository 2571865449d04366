#include "train/ranks/collectives.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "framework/error.h"
#include "kernels/cpu/workers.h"

namespace lethe {
namespace {

/// values[i] += others[i].
template <class T>
void add(T* __restrict values, const T* __restrict others, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) values[i] += others[i];
}

template <class T>
class Sum {
 public:
  Sum(Transport& transport, T* values, T* room, std::int64_t count, bool of_share)
      : transport_(transport),
        rank_(transport.rank()),
        values_(values),
        room_(room),
        count_(count),
        piece_(piece_of_sum(count, rank_.of)),
        of_share_(of_share) {}

  void run() {
    for (at_ = 0; at_ < size_of_share(count_, rank_.of); at_ += piece_) {
      collect();
      fold();
      if (!of_share_) share_out();
    }
  }

 private:
  /// What a rank sums next: of its share what stands at `at_` and behind it.
  Share range_of(std::int64_t rank) const {
    const Share whole = share_of(count_, {rank, rank_.of});
    const std::int64_t done = std::min(at_, whole.count);
    return {whole.begin + done, std::min(piece_, whole.count - done)};
  }
  /// Where what another rank has of the own range arrives.
  T* from(std::int64_t rank) { return room_ + (rank < rank_.number ? rank : rank - 1) * piece_; }
  static Message message_of(std::int64_t rank, T* data, std::int64_t count) {
    return {rank, data, count * static_cast<std::int64_t>(sizeof(T))};
  }

  void collect() {
    const Share own = range_of(rank_.number);
    std::vector<Message> sent, received;
    for_each_other([&](std::int64_t other) {
      const Share theirs = range_of(other);
      sent.push_back(message_of(other, values_ + theirs.begin, theirs.count));
      received.push_back(message_of(other, from(other), own.count));
    });
    transport_.exchange(sent, received);
  }

  /// Neighbours first, then pairs of neighbours, and so on; the sum of all stands where that of rank 0 stood.
  void fold() {
    const Share own = range_of(rank_.number);
    std::vector<T*> partial;
    for (std::int64_t rank = 0; rank < rank_.of; ++rank)
      partial.push_back(rank == rank_.number ? values_ + own.begin : from(rank));
    for (std::int64_t step = 1; step < rank_.of; step *= 2)
      for (std::int64_t rank = 0; rank + step < rank_.of; rank += 2 * step)
        add(partial[rank], partial[rank + step], own.count);
    if (rank_.number != 0) std::copy_n(partial[0], own.count, values_ + own.begin);
  }

  void share_out() {
    const Share own = range_of(rank_.number);
    std::vector<Message> sent, received;
    for_each_other([&](std::int64_t other) {
      const Share theirs = range_of(other);
      sent.push_back(message_of(other, values_ + own.begin, own.count));
      received.push_back(message_of(other, values_ + theirs.begin, theirs.count));
    });
    transport_.exchange(sent, received);
  }

  template <class Body>
  void for_each_other(const Body& body) const {
    for (std::int64_t other = 0; other < rank_.of; ++other)
      if (other != rank_.number) body(other);
  }

  Transport& transport_;
  const Rank rank_;
  T *values_, *room_;
  std::int64_t count_, piece_, at_ = 0;
  bool of_share_;
};

/// What a rank has of it.
Message message_of(const Shared& shared, std::int64_t of, std::int64_t with) {
  const std::int64_t begin = std::min(of * shared.share, shared.bytes);
  return {with, static_cast<std::byte*>(shared.values) + begin, std::min(shared.share, shared.bytes - begin)};
}

void gather(Transport& transport, const std::vector<Shared>& all) {
  const Rank rank = transport.rank();
  std::vector<Message> sent, received;
  for (std::int64_t other = 0; other < rank.of; ++other)
    for (const Shared& shared : all) {
      if (other == rank.number) continue;
      sent.push_back(message_of(shared, rank.number, other));
      received.push_back(message_of(shared, other, other));
    }
  transport.exchange(sent, received);
}

}  // namespace

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
  start_sum(values, room, dtype, count, false);
}

void Collectives::start_sum_of_share(void* values, void* room, DType dtype, std::int64_t count) {
  start_sum(values, room, dtype, count, true);
}

void Collectives::start_sum(void* values, void* room, DType dtype, std::int64_t count, bool of_share) {
  check_as(Exit::Internal, dtype == DType::f32 || dtype == DType::f64, "ranks cannot sum values of ", name_of(dtype));
  start(values, [=, this] {
    if (dtype == DType::f32)
      Sum(transport_, static_cast<float*>(values), static_cast<float*>(room), count, of_share).run();
    else
      Sum(transport_, static_cast<double*>(values), static_cast<double*>(room), count, of_share).run();
  });
}

void Collectives::start_gather(std::vector<Shared> all) {
  const void* const first = all.front().values;
  start(first, [this, all = std::move(all)] { lethe::gather(transport_, all); });
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
