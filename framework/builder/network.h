// A network as it is built: the forward Program and what training needs to know of it.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/builder/adapter.h"
#include "framework/builder/weight_names.h"
#include "framework/language/layer.h"
#include "framework/language/program.h"
#include "framework/language/sample_layout.h"

namespace lethe {

struct BuildOptions {
  std::int64_t batch = 1;
  DType dtype = DType::f32;
  bool training = true;                     // false: batch norm reads running statistics, dropout is nothing
  std::int64_t seed = 0;                    // of dropout; parameters take theirs at initialisation
  bool logits = false;                      // as the prediction, too, where the loss is a layer that does without them
  std::optional<std::int64_t> ignore = {};  // the label that does not count where a loss of labels names none
  std::int64_t joint_parts =
      1;  // of a batch cut into parts (micro_batches.h): over how many batch norm takes statistics
  std::set<std::string> frozen = {};  // parameters and running statistics that stay as they are (frozen.h)
  std::map<std::string, DType> frozen_dtypes = {};  // of such parameters; of one that is not named as of all others
  std::optional<DType> param_dtype = {};  // of all other parameters of two axes or more: bf16; none: wide_of(dtype)
  std::set<std::string> keep_f32 = {};    // but for these
  std::vector<Adapter> adapters = {};     // of weights that layers make (lora.h)
  bool class_weights = false;             // training weighs labels by their class (Network::class_weights)
};

/// A forward Program and what training needs to know of it.
struct Network {
  std::string name;
  Program program;
  std::vector<VarId> inputs;    // fed: in the order they were declared
  std::vector<VarId> outputs;   // what the network is for, in the order that its file or finish() names
  VarId prediction = kNone;     // what the first loss reads: logits, log-probabilities or values; kNone without a loss
                                // or if it is a layer that never has all logits
  VarId loss = kNone;           // scalar: the weighted sum of the losses' means; kNone without a loss
  VarId sample_loss = kNone;    // as the first loss's labels: its share of each; [N] without labels
  VarId correct = kNone;        // u8, as the labels: 1 where the label is the largest logit; kNone without labels
  std::int64_t classes = 0;     // that labels name; 0 without labels
  VarId target = kNone;         // the input that holds labels or targets
  VarId class_weights = kNone;  // State [classes]: how much a label counts in the mean of losses; whoever trains fills
                                // it in; kNone: all count alike
  VarId positions = kNone;  // the input that says where texts begin in a sample (packed_texts.h), if it holds several
  std::optional<std::int64_t> ignored = {};    // the label that does not count: no loss, never correct
  std::vector<ParamInfo> params;               // Params and States in order of creation
  std::set<VarId> frozen = {};                 // of the Params: those that stay as they are
  std::vector<Adapter> adapters = {};          // that BuildOptions asked for; their parameters are among `params`
  std::map<VarId, Layout> layouts = {};        // of values with at least four axes
  std::vector<WeightNames> weight_names = {};  // of libraries, as the network's file states them
  std::vector<std::string> depth = {};         // which weights are of which layer: optimizer/rate_scales.h
  VarId embedding = kNone;                     // [N, T, C]: what becomes of each token, if the file says so
  std::vector<std::string> left_out = {};      // parameters of a whole that this is a part of (network_part.h)
};

/// Whether a value is [N, H, W, C].
bool is_image(const Network& network, VarId var);
/// A sample's shape as files state it: without the batch, images as [C, H, W].
Shape sample_shape(const Network& network, VarId var);

}  // namespace lethe
