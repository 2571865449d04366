// Heads of attention, and what hides keys from their rows.
#pragma once
#include "onnx/import_state.h"

namespace lethe::onnx {

/// Queries, keys and values [N, heads, T, size], and what is added to the scores.
struct Heads {
  View q, k, v;
  double scale = 1;
  double cap = 0;  // scores become cap * tanh(scores / cap)
  double dropout = 0;
  std::int64_t before = 0;  // keys that were there before the rows
  std::size_t rank = 4;     // of the scores in the model, which a mask that is a value has
  bool causal = false;
  std::string mask = {};  // a value, or a constant, that broadcasts to [N, heads, T, keys] and is added
  bool mask_is_constant = false;
};

/// Whether it says that each row sees keys up to its own alone: 0 there, and less than any score elsewhere.
bool is_causal_mask(const ReadTensor& mask);
/// Whether a row of so many sees nothing.
bool hides_a_row(const std::vector<float>& mask, std::int64_t keys);
/// What is added to the scores, [heads or 1, rows or 1, keys] of each sample or of all.
std::string mask_layer(ImportState& state, const ReadNode& node, const Heads& heads);
/// A constant of truth values as numbers that are added.
void hide_by_numbers(ImportState& state, const ReadNode& node, Heads& heads);
/// Rows and keys are counted from the first one, as ONNX does where there are not as many of both, but for those
/// before.
void hide_later_keys(ImportState& state, const ReadNode& node, Heads& heads, std::int64_t rows, std::int64_t keys);

}  // namespace lethe::onnx
