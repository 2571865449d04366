#include "kernels/ranks/sum.h"

#include <algorithm>
#include <vector>

#include "framework/error.h"

namespace lethe {
namespace {

/// values[i] += others[i].
template <class T>
void add(T* __restrict values, const T* __restrict others, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) values[i] += others[i];
}

/// Neighbours first, then pairs of neighbours, and so on; the sum of all stands where that of rank 0 stood.
template <class T>
void fold_values(const Partials& p) {
  T *const own = static_cast<T*>(p.own), *const others = static_cast<T*>(p.others);
  std::vector<T*> partial;
  for (std::int64_t rank = 0; rank < p.rank.of; ++rank)
    partial.push_back(rank == p.rank.number ? own : others + (rank < p.rank.number ? rank : rank - 1) * p.distance);
  for (std::int64_t step = 1; step < p.rank.of; step *= 2)
    for (std::int64_t rank = 0; rank + step < p.rank.of; rank += 2 * step)
      add(partial[rank], partial[rank + step], p.count);
  if (p.rank.number != 0) std::copy_n(partial[0], p.count, own);
}

template <class Body>
void for_each_other(Rank rank, const Body& body) {
  for (std::int64_t other = 0; other < rank.of; ++other)
    if (other != rank.number) body(other);
}

class Sum {
 public:
  Sum(Transport& transport, const Summed& summed)
      : transport_(transport),
        rank_(transport.rank()),
        summed_(summed),
        piece_(piece_of_sum(summed.count, rank_.of)),
        each_(bytes_of(summed.dtype)) {}

  void run(const FoldPartials& fold) {
    for (at_ = 0; at_ < size_of_share(summed_.count, rank_.of); at_ += piece_) {
      collect();
      const Share own = range_of(rank_.number);
      fold({summed_.dtype, own.count, rank_, values(own), summed_.room, piece_});
      if (!summed_.of_share) share_out();
    }
  }

 private:
  /// What a rank sums next: of its share what stands at `at_` and after it.
  Share range_of(std::int64_t rank) const {
    const Share whole = share_of(summed_.count, {rank, rank_.of});
    const std::int64_t done = std::min(at_, whole.count);
    return {whole.begin + done, std::min(piece_, whole.count - done)};
  }
  void* values(const Share& range) const { return static_cast<std::byte*>(summed_.values) + range.begin * each_; }

  void collect() {
    const Share own = range_of(rank_.number);
    auto* from = static_cast<std::byte*>(summed_.room);
    std::vector<Message> sent, received;
    for_each_other(rank_, [&](std::int64_t other) {
      const Share theirs = range_of(other);
      sent.push_back({other, values(theirs), theirs.count * each_});
      received.push_back({other, from, own.count * each_});
      from += piece_ * each_;
    });
    transport_.exchange(sent, received);
  }

  void share_out() {
    const Share own = range_of(rank_.number);
    std::vector<Message> sent, received;
    for_each_other(rank_, [&](std::int64_t other) {
      const Share theirs = range_of(other);
      sent.push_back({other, values(own), own.count * each_});
      received.push_back({other, values(theirs), theirs.count * each_});
    });
    transport_.exchange(sent, received);
  }

  Transport& transport_;
  const Rank rank_;
  const Summed& summed_;
  const std::int64_t piece_, each_;  // values at a time; bytes of one
  std::int64_t at_ = 0;
};

/// What a rank has of it.
Message message_of(const Shared& shared, std::int64_t of, std::int64_t with) {
  const std::int64_t begin = std::min(of * shared.share, shared.bytes);
  return {with, static_cast<std::byte*>(shared.values) + begin, std::min(shared.share, shared.bytes - begin)};
}

}  // namespace

void fold_on_host(const Partials& partials) {
  if (partials.dtype == DType::f32)
    fold_values<float>(partials);
  else
    fold_values<double>(partials);
}

void sum_over_ranks(Transport& transport, const Summed& summed, const FoldPartials& fold) {
  check_as(Exit::Internal, summed.dtype == DType::f32 || summed.dtype == DType::f64, "ranks cannot sum values of ",
           name_of(summed.dtype));
  Sum(transport, summed).run(fold);
}

void gather_over_ranks(Transport& transport, const std::vector<Shared>& all) {
  const Rank rank = transport.rank();
  std::vector<Message> sent, received;
  for_each_other(rank, [&](std::int64_t other) {
    for (const Shared& shared : all) {
      sent.push_back(message_of(shared, rank.number, other));
      received.push_back(message_of(shared, other, other));
    }
  });
  transport.exchange(sent, received);
}

}  // namespace lethe
