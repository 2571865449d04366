#include "framework/foreign_words.h"

#include <algorithm>
#include <cctype>

namespace lethe {
namespace {

struct Foreign {
  std::vector<std::string> theirs;  // in lower case
  std::string ours;
};

const std::vector<Foreign>& foreign_words() {
  static const std::vector<Foreign> words = {
      // Keys of layers.
      {{"out_channels", "out_features", "filters", "units", "num_filters", "num_output", "num_outputs", "hidden_size",
        "embedding_dim", "output_dim", "n_out"},
       "out"},
      {{"kernel_size", "kernel_shape", "kernel", "pool_size", "ksize", "filter_size"}, "k"},
      {{"strides"}, "stride"},
      {{"padding", "pads"}, "pad"},
      {{"dilations", "dilation_rate"}, "dilation"},
      {{"group", "num_groups"}, "groups"},
      {{"use_bias", "has_bias", "add_bias"}, "bias"},
      {{"num_embeddings", "input_dim", "vocab_size"}, "vocab"},
      {{"rate", "prob", "ratio", "drop", "dropout_rate", "dropout_p", "attention_dropout"}, "p"},
      {{"dropout_rate", "dropout_p", "attention_dropout"}, "dropout"},
      {{"negative_slope", "alpha"}, "slope"},
      {{"epsilon", "layer_norm_eps", "rms_norm_eps"}, "eps"},
      {{"elementwise_affine"}, "affine"},
      {{"num_heads", "n_head", "n_heads", "nhead", "num_attention_heads", "q_num_heads"}, "heads"},
      {{"num_kv_heads", "n_kv_heads", "num_key_value_heads", "kv_num_heads"}, "kv_heads"},
      {{"is_causal", "use_causal_mask"}, "causal"},
      {{"attn_mask", "attention_mask", "attn_bias"}, "mask"},
      {{"logit_softcap", "attn_logit_softcapping"}, "softcap"},
      {{"kernel_initializer", "embeddings_initializer", "initializer", "weight_init"}, "init"},
      {{"axes", "dim", "dims"}, "axis"},
      {{"axes", "dims", "permutation"}, "perm"},
      {{"keepdim", "keepdims", "keep_dims"}, "keep"},
      {{"min_val", "min_value"}, "min"},
      {{"max_val", "max_value"}, "max"},
      {{"scale_factor"}, "scale"},
      {{"target_shape", "new_shape", "input_shape", "size", "dims"}, "shape"},
      {{"start", "starts"}, "begin"},
      {{"stop", "ends"}, "end"},
      {{"theta", "rope_theta"}, "base"},
      {{"original_max_position_embeddings"}, "original_length"},
      {{"sliding_window"}, "window"},
      {{"transa", "trans_a", "transpose_x"}, "transpose_a"},
      {{"transb", "trans_b", "transpose_y"}, "transpose_b"},
      // Keys of entries and losses.
      {{"type", "to", "data_type"}, "dtype"},
      {{"type", "layer", "class_name"}, "op"},
      {{"input", "inputs", "bottom", "inbound_nodes"}, "in"},
      {{"ignore_index", "ignore_class"}, "ignore"},
      {{"smoothing"}, "label_smoothing"},
      // Layers.
      {{"conv1d", "conv2d", "convolution", "convolution2d"}, "conv"},
      {{"conv2dtranspose", "convtranspose2d", "deconvolution"}, "conv_transpose"},
      {{"linear", "dense", "innerproduct", "fullyconnected", "fully_connected"}, "fc"},
      {{"batchnorm", "batchnorm1d", "batchnorm2d", "batch_norm", "syncbatchnorm"}, "bn"},
      {{"layernorm"}, "layer_norm"},
      {{"rmsnorm"}, "rms_norm"},
      {{"maxpool2d", "maxpooling2d", "maxpool"}, "max_pool"},
      {{"avgpool2d", "averagepooling2d", "avgpool"}, "avg_pool"},
      {{"adaptiveavgpool2d", "globalaveragepooling2d", "globalavgpool2d", "gap"}, "global_avg_pool"},
      {{"adaptivemaxpool2d", "globalmaxpooling2d", "globalmaxpool2d"}, "global_max_pool"},
      {{"groupnorm"}, "group_norm"},
      {{"instancenorm", "instancenorm1d", "instancenorm2d"}, "instance_norm"},
      {{"dropout2d", "spatialdropout2d"}, "dropout"},
      {{"leakyrelu"}, "leaky_relu"},
      {{"relu"}, "relu"},
      {{"gelu"}, "gelu"},
      {{"logsoftmax"}, "log_softmax"},
      {{"multiheadattention"}, "attention"},
      {{"concatenate", "cat"}, "concat"},
      {{"multiply"}, "mul"},
      {{"subtract"}, "sub"},
      {{"divide"}, "div"},
      {{"power"}, "pow"},
      {{"maximum"}, "max"},
      {{"minimum"}, "min"},
      {{"fmod", "remainder"}, "mod"},
      {{"broadcast_to", "expand_as"}, "expand"},
      {{"hardsigmoid"}, "hard_sigmoid"},
      {{"hardswish"}, "hard_swish"},
      {{"softshrink", "hardshrink"}, "shrink"},
      {{"zeropadding2d", "zeropad2d"}, "pad"},
      {{"upsampling2d"}, "upsample"},
      {{"pixelshuffle"}, "pixel_shuffle"},
      {{"permute"}, "transpose"},
      // Losses.
      {{"crossentropyloss", "categorical_crossentropy", "sparse_categorical_crossentropy", "softmax_cross_entropy"},
       "cross_entropy"},
      {{"nllloss"}, "nll"},
      {{"mseloss", "mean_squared_error"}, "mse"},
      {{"l1loss", "mae", "mean_absolute_error"}, "l1"},
      {{"huberloss", "smoothl1loss"}, "huber"},
      {{"bcewithlogitsloss", "bceloss", "binary_crossentropy"}, "bce"},
      // Settings of training, as keys and as options.
      {{"learning_rate"}, "lr"},
      {{"batch_size"}, "batch"},
      {{"num_epochs", "max_epochs", "num_train_epochs"}, "epochs"},
      {{"max_steps", "num_steps", "max_iter"}, "steps"},
      {{"lr_schedule", "scheduler", "lr_scheduler"}, "schedule"},
      {{"clip_grad_norm", "max_grad_norm", "grad_clip", "clipnorm"}, "clip_norm"},
      {{"clip_grad_norm", "max_grad_norm", "grad_clip", "clipnorm"}, "clip-norm"},
      {{"wd"}, "weight_decay"},
      {{"wd"}, "weight-decay"},
  };
  return words;
}

struct Absent {
  std::vector<std::string> theirs;  // in lower case
  std::string why;
};

const std::vector<Absent>& absent_words() {
  static const std::vector<Absent> words = {
      {{"in_channels", "in_features", "input_size", "input_shape", "input_dim", "num_features", "normalized_shape",
        "embed_dim", "batch_input_shape"},
       "a layer sees the sizes of its input itself; leave the key out"},
      {{"activation", "act", "nonlinearity"}, R"(an activation is a layer of its own after this one: {"op": "relu"})"},
      {{"inplace"}, "what shares memory is for the memory stage to find; leave the key out"},
      {{"data_format"}, "shapes are [C,H,W] in every file; leave the key out"},
      {{"device", "requires_grad", "trainable", "track_running_stats"}, "no layer says that here; leave the key out"},
  };
  return words;
}

std::string in_one_form(std::string_view word) {
  std::string form(word);
  std::ranges::transform(form, form.begin(), [](unsigned char c) { return c == '-' ? '_' : std::tolower(c); });
  return form;
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::vector<std::string> words_for(std::string_view theirs) {
  const std::string word = in_one_form(theirs);
  std::vector<std::string> ours;
  for (const Foreign& foreign : foreign_words())
    if (has_word(foreign.theirs, word)) ours.push_back(foreign.ours);
  return ours;
}

std::string why_absent(std::string_view key) {
  const std::string word = in_one_form(key);
  for (const Absent& absent : absent_words())
    if (has_word(absent.theirs, word)) return absent.why;
  return "";
}

}  // namespace lethe
