// Which batches are made of samples.
#pragma once
#include <cstdint>

#include "framework/ranks/peers.h"
#include "train/data/samples.h"

namespace lethe {

struct BatchOptions {
  Split split = Split::Train;
  std::int64_t batch = 0;    // samples in a batch; of several ranks that of one
  DType dtype = DType::f32;  // of the images
  bool shuffle = false;      // a new order each epoch, from (seed, epoch); otherwise as stored
  bool balanced = false;     // instead: each class alike (class_balance.h)
  bool keep_rest = false;    // false: the last, smaller batch is dropped; true: it is padded, on a rank maybe empty
  Augmentation augment = {};
  std::uint64_t seed = 0;
  Rank rank = {};   // batch b of rank r of R is the one that one rank would have as b * R + r
  int workers = 1;  // threads; the batches do not depend on it. Host memory: workers + 1 batches
};
/// Shuffled and augmented, the rest dropped.
BatchOptions training_batches(std::int64_t batch, DType dtype, const Augmentation& augment, std::uint64_t seed);
/// All of the test split in its order, as it is.
BatchOptions evaluation_batches(std::int64_t batch, DType dtype);

}  // namespace lethe
