#include "tests/support/uneasy_peers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lethe::testing {
namespace {

void* byte_at(void* values, std::int64_t byte) { return static_cast<std::byte*>(values) + byte; }

}  // namespace

UneasyPeers::UneasyPeers(std::shared_ptr<Peers> peers, std::uint64_t seed, std::vector<Arrival> arrivals)
    : peers_(std::move(peers)),
      random_(seed, static_cast<std::uint64_t>(peers_->rank().number)),
      arrivals_(std::move(arrivals)) {}

UneasyPeers::~UneasyPeers() {
  if (failed_ || std::uncaught_exceptions() > 0) return;
  EXPECT_TRUE(jobs_.empty()) << jobs_.size() << " exchanges are begun and waited for nowhere";
}

void UneasyPeers::start_sum(void* values, void* room, DType dtype, std::int64_t count) {
  start_sum({values, room, dtype, count, false});
}

void UneasyPeers::start_sum_of_share(void* values, void* room, DType dtype, std::int64_t count) {
  start_sum({values, room, dtype, count, true});
}

void UneasyPeers::start_gather(std::vector<Shared> all) {
  Job job{.values = all.front().values};
  for (const Shared& shared : all) {
    job.own.push_back({shared.values, shared.bytes});
    const std::int64_t begin = std::min(rank().number * shared.share, shared.bytes);
    const std::int64_t end = std::min(begin + shared.share, shared.bytes);
    job.arriving.push_back({shared.values, begin});
    job.arriving.push_back({byte_at(shared.values, end), shared.bytes - end});
  }
  job.start = [this, all = std::move(all)] { peers_->start_gather(all); };
  start(std::move(job));
}

void UneasyPeers::finish(const void* values) {
  const auto is_it = [&](const Job& job) { return job.values == values; };
  const auto job = std::find_if(jobs_.begin(), jobs_.end(), is_it);
  if (job == jobs_.end()) {
    ADD_FAILURE() << "an exchange is waited for that is not under way";
    return;
  }
  begin_up_to(*job);
  if (!job->done) end(*job);
  const std::exception_ptr error = job->error;
  jobs_.erase(job);
  failed_ = failed_ || error;
  if (error) std::rethrow_exception(error);
}

void UneasyPeers::poison(const std::vector<Bytes>& all) {
  for (const Bytes& bytes : all) std::memset(bytes.data, 0xFF, static_cast<std::size_t>(bytes.count));  // a NaN
}

void UneasyPeers::start_sum(const Summed& sum) {
  const std::int64_t each = bytes_of(sum.dtype), bytes = sum.count * each;
  const Bytes room{sum.room, room_of_sum(sum.count, rank().of) * each};
  Job job{.values = sum.values, .own = {{sum.values, bytes}}, .arriving = {room}, .spoilt = {room}};
  if (sum.of_share) {
    const Share own = share_of(sum.count, rank());
    job.spoilt.push_back({sum.values, own.begin * each});
    job.spoilt.push_back({byte_at(sum.values, (own.begin + own.count) * each), bytes - (own.begin + own.count) * each});
  }
  job.start = [this, sum] {
    if (sum.of_share)
      peers_->start_sum_of_share(sum.values, sum.room, sum.dtype, sum.count);
    else
      peers_->start_sum(sum.values, sum.room, sum.dtype, sum.count);
  };
  start(std::move(job));
}

void UneasyPeers::start(Job made) {
  EXPECT_TRUE(std::none_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.values == made.values; }))
      << "what is under way is exchanged again";
  Job& job = jobs_.emplace_back(std::move(made));
  poison(job.arriving);
  for (const Bytes& bytes : job.own) {
    const auto* const data = static_cast<const std::byte*>(bytes.data);
    job.kept.insert(job.kept.end(), data, data + bytes.count);
  }
  poison(job.own);
  const Arrival arrival = arrivals_[random_.below(static_cast<std::uint32_t>(arrivals_.size()))];
  if (arrival != Arrival::Late) begin_up_to(job);
  if (arrival == Arrival::Early) end(job);
}

/// All ranks begin the same in the same order.
void UneasyPeers::begin_up_to(const Job& last) {
  for (Job& job : jobs_) {
    if (!job.begun) begin(job);
    if (&job == &last) return;
  }
}

void UneasyPeers::begin(Job& job) {
  const std::byte* kept = job.kept.data();
  for (const Bytes& bytes : job.own) {
    std::memcpy(bytes.data, kept, static_cast<std::size_t>(bytes.count));
    kept += bytes.count;
  }
  job.begun = true;
  job.start();
}

void UneasyPeers::end(Job& job) {
  try {
    peers_->finish(job.values);
    poison(job.spoilt);
  } catch (...) {
    job.error = std::current_exception();  // whoever waits is told
  }
  job.done = true;
}

}  // namespace lethe::testing
