// Low-rank adapters (LoRA; Hu et al. 2021, arXiv 2106.09685): beside a weight W, which mostly stays as it is, a product
// of two small matrices trains, and a layer gives W x + scale B A x.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lethe {

/// What reads the weight: fc, conv or embedding.
enum class AdapterKind : std::uint8_t { Linear, Conv, Embedding };

/// One adapter. Its parameters, in memory and in our files:
///   Linear     a [rank, inputs], b [rows, rank], as PEFT's lora_A and lora_B
///   Conv       a [rank, kh, kw, C / groups], b [rows, 1, 1, rank]; in files OIHW, as PEFT's
///   Embedding  a [vocab, rank], b [width, rank]; PEFT's lora_embedding_A is a transposed, its lora_embedding_B is b
/// In training a's input loses numbers with probability `dropout`, that of each adapter its own; embedding's none.
struct Adapter {
  AdapterKind kind = AdapterKind::Linear;
  std::string weight = {};           // the name of the parameter that it is beside: "layer/0/attention/qkv.weight"
  std::string module = {};           // what a library calls these rows; without one our layer: "h.0.attn.c_attn"
  std::string a = {}, b = {};        // the names of its own parameters: "layer/0/attention/qkv.q_proj.lora_A"
  std::int64_t first = 0, rows = 0;  // of the weight's rows (its first axis): those that it adds to
  std::int64_t rank = 0;
  double alpha = 0, scale = 0, dropout = 0;  // scale: alpha / rank, or alpha / sqrt(rank) with rslora
  bool operator==(const Adapter&) const = default;
};

}  // namespace lethe
