// Batches of samples, made ahead by threads of their own while the step runs.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "framework/run/device.h"
#include "train/data/batch_options.h"
#include "train/data/class_balance.h"

namespace lethe {

struct Batch {
  const void* samples = nullptr;  // as the network takes them: normalised images [batch, H, W, C], symbols; of several
                                  // inputs all samples' values of the first, then those of the next
  const std::int32_t* labels = nullptr;  // [batch, labels of a sample]
  std::int64_t index = 0;                // in its epoch, on this rank
  std::int64_t count = 0;                // the first so many are samples; after them: zeros with label 0
  // Where samples are mixed, each with the other of its pair: that one's label, and the share that it keeps of itself.
  const std::int32_t* other_labels = nullptr;  // [batch]
  const float* shares = nullptr;               // [batch]
};

class Batches {
 public:
  /// The data must outlive it. Fails with Exit::Usage on batch < 1 or one larger than a split whose rest is dropped,
  /// with Exit::Data on an empty split.
  /// They are made in host memory of the device that they are fed to.
  Batches(const Samples& data, const BatchOptions& options, Device& device);
  ~Batches();
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  std::int64_t per_epoch() const { return per_epoch_; }
  std::int64_t sample_bytes() const { return options_.batch * data_.sample_bytes(options_.dtype); }  // of one batch
  std::int64_t label_bytes() const { return options_.batch * data_.labels() * 4; }
  /// Samples an epoch leaves out: those of the last, smaller batch. (Others in the next epoch, if shuffled.)
  std::int64_t dropped() const { return dropped_; }
  /// Host memory of the batches made ahead.
  std::int64_t held_bytes() const;

  /// Begins an epoch at a batch, both counted from 0: what follows is the same as if all before had been taken.
  void start(std::int64_t epoch, std::int64_t batch = 0);
  /// The next batch, valid until the next call of next() or start(); null when the epoch is over. Rethrows what a
  /// worker met while making this batch.
  const Batch* next();

 private:
  struct Slot {
    HostMemory samples, labels, other_labels, shares;  // of mixed samples alone: the two last
    Batch batch;
    std::exception_ptr error;
    bool ready = false;
  };
  void work(SampleReader& reader);
  void fill(Slot& slot, std::int64_t batch, SampleReader& reader) const;
  /// Fills it in pairs: samples 2 i and 2 i + 1 of the batch of all ranks are mixed with each other, the last one of an
  /// odd number with itself.
  void fill_mixed(Slot& slot, std::int64_t batch, SampleReader& reader) const;
  bool mixes() const { return options_.augment.mixing.any(); }
  void scatter(const std::byte* sample, std::int64_t row, std::byte* samples) const;  // among those of their inputs
  Slot& slot_of(std::int64_t batch) { return slots_[batch % static_cast<std::int64_t>(slots_.size())]; }

  const Samples& data_;
  const BatchOptions options_;
  std::vector<std::int64_t> inputs_;  // bytes of each in a sample
  std::int64_t per_epoch_ = 0, dropped_ = 0;
  std::int64_t epoch_ = 0;
  std::vector<std::int32_t> order_;  // of the epoch: batch b is samples [b * batch, (b + 1) * batch)
  std::optional<BalancedOrder> balanced_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::int64_t claimed_ = 0;  // batches below it are made or being made
  std::int64_t given_ = 0;    // the next batch for the consumer
  std::int64_t freed_ = 0;    // batches below it may be overwritten
  int busy_ = 0;
  bool closing_ = false;
  std::vector<std::unique_ptr<SampleReader>> readers_;  // one a worker
  std::vector<std::thread> workers_;                    // last: they use all of the above
};

}  // namespace lethe
