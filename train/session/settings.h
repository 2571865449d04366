// What a session is asked for, in small structs. The rows of the command line fill them in (train/options.h); so may
// any other program.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "framework/builder/lora.h"
#include "framework/ranks/micro_batches.h"
#include "memopt/memopt.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "train/data/class_balance.h"
#include "train/data/samples.h"
#include "train/session/run_setting.h"

namespace lethe {

/// Which network, in which size and numbers.
struct NetworkSetting {
  std::string model = {};                                  // a name of the zoo or a file
  std::shared_ptr<const NetworkFile> file = {};            // that file if it was read already, and counts as it was
  Sets sets = {};                                          // vars of the network file
  std::function<Network(const BuildOptions&)> build = {};  // instead: makes it, for training and for evaluation
  DType dtype = DType::f32;
  bool logits = false;  // in evaluation: BuildOptions::logits
  std::int64_t batch = 1;
  std::uint64_t seed = 0;                 // of initial values, dropout, the order of data and its augmentation
  bool sync_bn = false;                   // batch norm takes its statistics over all parts of a batch
  FrozenSetting frozen = {};              // parameters that training leaves as they are
  std::optional<DType> param_dtype = {};  // BuildOptions::param_dtype
  std::optional<DType> grad_dtype = {};   // of gradients of parameters of two axes or more: `dtype`; none: f32
  std::string keep_f32 = {};  // patterns (weights_named.h) of parameters that stay in f32, and so do their states
  LoraSetting lora = {};      // adapters; all others are frozen then
  // What the data asks for (fed_data.h: fit_to_data).
  std::optional<std::int64_t> ignore = {};  // BuildOptions::ignore
  bool packed = false;                      // samples of symbols hold several texts (framework/builder/packed_texts.h)
  ClassWeights class_weights = {};
};

/// How parameters are updated.
struct UpdateSetting {
  std::string name = "momentum";  // of the optimizer, for reports
  OptimizerSettings rule = optimizer_named("momentum");
  std::optional<double> loss_scale = {};  // of f16: what the loss is scaled by at first
  RateSetting rates = {};                 // of parameters that have their own
  double ema = 0;                         // decay of averages of weights, which are evaluated then; 0: there are none
};

struct GuestMemory;

/// What is asked of the memory stage, or of a guest instead (train/session/memory_guest.h).
struct MemorySetting {
  std::string text = "level=2";                    // as it was written
  MemoptOptions levels = parse_memopt("level=2");  // with pins by name; what is fetched is for the session to know
  std::shared_ptr<const GuestMemory> guest = {};   // instead of the levels; null: none
  bool keeps_prediction = false;                   // evaluation's plan keeps the prediction for whoever fetches it
};
/// Reads `none`, `level=...` (memopt/options.h) or the setting of a guest, and keeps the pins and whatever else
/// `before` asks for. Fails on anything else, saying what is known.
MemorySetting memory_setting(const std::string& text, MemorySetting before = {});

/// Programs and their plans.
struct ProgramSetting {
  NetworkSetting network = {};
  UpdateSetting update = {};
  std::int64_t micro_batch = 0;  // samples that a training step, or evaluation beside it, takes at once; 0: a shard
  Shards shards = {};            // of the batch, and whose programs these are; micro-batches cut them further
  MemorySetting memory = {};
  bool training = true;   // false: evaluation alone
  bool evaluated = true;  // training stops to evaluate
  bool mixes = false;     // samples in training (DataSetting::augment): losses compare with two labels of each
  /// If set, programs normalise images that are fed as bytes: on a GPU. Empty if not known yet, as in plans.
  std::optional<PixelNorm> pixels = {};
};

struct DataSetting {
  /// "mnist:DIR", "shapes" (train/data/dataset.h); none: made to the network's size.
  std::optional<std::string> spec = {};
  /// A folder whose tokenizer makes tokens of text:FILE and tsv:PATH, where the spec names none; "": none does.
  std::string tokenizer = {};
  std::shared_ptr<const Samples> samples = {};  // instead: these
  Augmentation augment = {};
  bool balanced = false;  // training draws each class alike (BalancedOrder)
  Meaning known = {};     // what labels, pixels and symbols have to mean, as far as it says that
};

struct DeviceSetting {
  std::string name = "cpu";                    // cpu, cuda, cuda:1; to plan for: also a GPU by description
  int threads = 0;                             // of a CPU; 0: one a processor
  bool no_winograd = false, fast_f32 = false;  // of a CPU; without AMX fast_f32 changes nothing
  std::shared_ptr<Trials> trials = {};         // choose among algorithms; null: by rule
  bool tf32 = false, fast_conv = false, deterministic = false, eager = false;  // of a GPU
  std::optional<std::int64_t> workspace_limit = {}, memory = {};  // of a convolution; instead of a description's; bytes
};

}  // namespace lethe
