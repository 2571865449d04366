#include "train/data/batches.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "framework/error.h"
#include "framework/host_memory.h"
#include "framework/language/init.h"
#include "framework/random.h"
#include "kernels/cpu/workers.h"

namespace lethe {
namespace {

void shuffle(std::vector<std::int32_t>& order, std::uint64_t seed, std::int64_t epoch) {
  Random random(seed, hash_of("shuffle"), static_cast<std::uint64_t>(epoch));
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
}

}  // namespace

BatchOptions training_batches(std::int64_t batch, DType dtype, const Augmentation& augment, std::uint64_t seed) {
  return {.split = Split::Train, .batch = batch, .dtype = dtype, .shuffle = true, .augment = augment, .seed = seed};
}

BatchOptions evaluation_batches(std::int64_t batch, DType dtype) {
  return {.split = Split::Test, .batch = batch, .dtype = dtype, .keep_rest = true};
}

Batches::Batches(const Samples& data, const BatchOptions& options, Device& device) : data_(data), options_(options) {
  const std::int64_t size = data.size(options.split), batch = options.batch;
  const char* split = options.split == Split::Train ? "training" : "test";
  check(batch >= 1, "batch ", batch, " is too small, at least 1 is needed");
  check(options.workers >= 1, "batches: ", options.workers, " worker threads are too few, at least 1 is needed");
  check_as(Exit::Data, size > 0, data.name(), ": has no ", split, " samples");
  const std::int64_t of_all = batch * options.rank.of;
  check(options.keep_rest || of_all <= size, "batch ", of_all, " is larger than the data: ", data.name(), " has ", size,
        " ", split, " samples");
  per_epoch_ = options.keep_rest ? (size + of_all - 1) / of_all : size / of_all;
  dropped_ = options.keep_rest ? 0 : size % of_all;
  taking(message(data.name(), ": the order of ", size, " samples"), size * std::int64_t{sizeof order_[0]},
         [&] { order_.resize(size); });
  for (const SampleInput& input : data.inputs(options.dtype)) inputs_.push_back(input.bytes);
  if (inputs_.empty()) inputs_.push_back(data.sample_bytes(options.dtype));
  if (options.balanced) balanced_.emplace(data);
  slots_.resize(options.workers + 1);
  with_context(message("batches of ", batch, " samples"), [&] {
    for (Slot& slot : slots_) {
      slot.samples = device.host_memory(sample_bytes());
      slot.labels = device.host_memory(label_bytes());
      if (!mixes()) continue;
      slot.other_labels = device.host_memory(label_bytes());
      slot.shares = device.host_memory(batch * std::int64_t{sizeof(float)});
    }
  });
  claimed_ = given_ = freed_ = per_epoch_;  // nothing to do before start()
  for (int i = 0; i < options.workers; ++i)
    readers_.push_back(data.reader({.dtype = options.dtype, .augment = options.augment, .seed = options.seed}));
  for (const auto& reader : readers_) workers_.emplace_back([this, &reader] { work(*reader); });
}

Batches::~Batches() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

std::int64_t Batches::held_bytes() const {
  const std::int64_t of_mixed = mixes() ? label_bytes() + options_.batch * std::int64_t{sizeof(float)} : 0;
  return static_cast<std::int64_t>(slots_.size()) * (sample_bytes() + label_bytes() + of_mixed) +
         static_cast<std::int64_t>(order_.size() * sizeof(order_[0])) + (balanced_ ? balanced_->held_bytes() : 0);
}

void Batches::start(std::int64_t epoch, std::int64_t batch) {
  check(batch >= 0 && batch <= per_epoch_, "epoch ", epoch, " cannot start at batch ", batch, ": it has ", per_epoch_);
  std::unique_lock lock(mutex_);
  claimed_ = per_epoch_;
  changed_.wait(lock, [this] { return busy_ == 0; });
  for (Slot& slot : slots_) slot.ready = false;
  epoch_ = epoch;
  if (balanced_)
    balanced_->draw(options_.seed, epoch, order_);
  else
    std::iota(order_.begin(), order_.end(), 0);
  if (options_.shuffle && !balanced_) shuffle(order_, options_.seed, epoch);
  claimed_ = given_ = freed_ = batch;
  changed_.notify_all();
}

const Batch* Batches::next() {
  std::unique_lock lock(mutex_);
  if (freed_ != given_) {
    slot_of(freed_).ready = false;
    freed_ = given_;
    changed_.notify_all();
  }
  if (given_ == per_epoch_) return nullptr;
  Slot& slot = slot_of(given_);
  changed_.wait(lock, [&] { return slot.ready; });
  if (slot.error) std::rethrow_exception(slot.error);
  ++given_;
  return &slot.batch;
}

void Batches::work(SampleReader& reader) {
  flush_denormals();
  const auto slots = static_cast<std::int64_t>(slots_.size());
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || (claimed_ < per_epoch_ && claimed_ < freed_ + slots); });
    if (closing_) return;
    const std::int64_t batch = claimed_++;
    Slot& slot = slot_of(batch);
    ++busy_;
    lock.unlock();
    slot.error = nullptr;
    try {
      fill(slot, batch, reader);
    } catch (...) {
      slot.error = std::current_exception();
    }
    lock.lock();
    --busy_;
    slot.ready = true;
    changed_.notify_all();
  }
}

void Batches::scatter(const std::byte* sample, std::int64_t row, std::byte* samples) const {
  for (const std::int64_t bytes : inputs_) {
    std::copy(sample, sample + bytes, samples + row * bytes);
    sample += bytes;
    samples += options_.batch * bytes;
  }
}

void Batches::fill_mixed(Slot& slot, std::int64_t batch, SampleReader& reader) const {
  const std::int64_t of_all = options_.batch * options_.rank.of, begin = options_.rank.number * options_.batch,
                     end = begin + options_.batch, bytes = data_.sample_bytes(options_.dtype);
  auto* const labels = reinterpret_cast<std::int32_t*>(slot.labels.get());
  auto* const others = reinterpret_cast<std::int32_t*>(slot.other_labels.get());
  auto* const shares = reinterpret_cast<float*>(slot.shares.get());
  for (std::int64_t first = begin - begin % 2; first < end; first += 2) {
    const std::array<std::int64_t, 2> at = {first, std::min(first + 1, of_all - 1)};
    SamplePair pair{.split = options_.split, .epoch = epoch_, .batch = batch};
    const auto is_own = [&](std::int64_t place) { return place >= begin && place < end; };
    for (const std::size_t of : {0, 1}) {
      pair.index[of] = order_[batch * of_all + at[of]];
      if (is_own(at[of])) pair.samples[of] = slot.samples.get() + (at[of] - begin) * bytes;
    }
    const double share = reader.read_pair(pair);
    for (const std::size_t of : {0, 1}) {
      if (!is_own(at[of])) continue;
      const std::int64_t row = at[of] - begin;
      labels[row] = pair.labels[of];
      others[row] = pair.labels[1 - of];
      shares[row] = static_cast<float>(share);
    }
  }
  slot.batch = {.samples = slot.samples.get(),
                .labels = labels,
                .index = batch,
                .count = options_.batch,
                .other_labels = others,
                .shares = shares};
}

void Batches::fill(Slot& slot, std::int64_t batch, SampleReader& reader) const {
  if (mixes()) return fill_mixed(slot, batch, reader);
  const std::int64_t first = (batch * options_.rank.of + options_.rank.number) * options_.batch,
                     bytes = data_.sample_bytes(options_.dtype);
  const std::int64_t count = std::clamp<std::int64_t>(std::ssize(order_) - first, 0, options_.batch);
  auto* const labels = reinterpret_cast<std::int32_t*>(slot.labels.get());
  const bool one_input = inputs_.size() == 1;
  std::vector<std::byte> apart(static_cast<std::size_t>(one_input ? 0 : bytes));  // a sample of several
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* const sample = one_input ? slot.samples.get() + i * bytes : apart.data();
    const std::int64_t epoch = balanced_ ? epoch_ * std::ssize(order_) + first + i : epoch_;  // each draw has its own
    reader.read(options_.split, order_[first + i], epoch, sample, labels + i * data_.labels());
    if (!one_input) scatter(apart.data(), i, slot.samples.get());
  }
  std::byte* of_input = slot.samples.get();
  for (const std::int64_t input : inputs_) {
    std::fill(of_input + count * input, of_input + options_.batch * input, std::byte{0});
    of_input += options_.batch * input;
  }
  std::fill(labels + count * data_.labels(), labels + options_.batch * data_.labels(), 0);
  slot.batch = {.samples = slot.samples.get(), .labels = labels, .index = batch, .count = count};
}

}  // namespace lethe
