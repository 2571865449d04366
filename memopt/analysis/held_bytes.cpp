#include "memopt/analysis/held_bytes.h"

#include <algorithm>

namespace lethe {

void HeldBytes::write(const Extent& extent, int value, const std::string& name) {
  clobber(extent, name);
  lost_to_[value].clear();
  if (extent.begin < extent.end) pieces_[{extent.buffer, extent.begin}] = {extent.end, {value}};
}

void HeldBytes::clobber(const Extent& extent, const std::string& name) {
  const auto [first, behind] = cover(extent);
  for (auto piece = first; piece != behind; ++piece)
    for (const int value : piece->second.values)
      if (lost_to_[value].empty()) lost_to_[value] = name;
  pieces_.erase(first, behind);
}

void HeldBytes::show(const Extent& extent, int value) {
  lost_to_[value].clear();
  const auto [first, behind] = cover(extent);
  for (auto piece = first; piece != behind; ++piece) add(piece->second, value);
}

void HeldBytes::forget(const Extent& extent, int value) {
  lost_to_[value].clear();
  const auto [first, behind] = cover(extent);
  for (auto piece = first; piece != behind; ++piece)
    piece->second.values.erase(std::remove(piece->second.values.begin(), piece->second.values.end(), value),
                               piece->second.values.end());
}

void HeldBytes::join(const HeldBytes& other) {
  for (std::size_t value = 0; value < lost_to_.size(); ++value)
    if (lost_to_[value].empty()) lost_to_[value] = other.lost_to_[value];
  for (const auto& [at, piece] : other.pieces_) {
    const auto [first, behind] = cover({at.first, at.second, piece.end});
    for (auto mine = first; mine != behind; ++mine)
      for (const int value : piece.values) add(mine->second, value);
  }
}

/// So that no piece lies across a byte.
void HeldBytes::split(int buffer, std::int64_t at) {
  const auto behind = pieces_.upper_bound({buffer, at});
  if (behind == pieces_.begin()) return;
  const auto piece = std::prev(behind);
  if (piece->first.first != buffer || piece->first.second == at || piece->second.end <= at) return;
  pieces_.emplace_hint(behind, std::pair{buffer, at}, piece->second);
  piece->second.end = at;
}

std::pair<HeldBytes::Pieces::iterator, HeldBytes::Pieces::iterator> HeldBytes::cover(const Extent& extent) {
  const auto [buffer, begin, end] = extent;
  split(buffer, begin);
  split(buffer, end);
  std::int64_t at = begin;
  for (auto piece = pieces_.lower_bound({buffer, begin}); at < end;) {
    const bool here = piece != pieces_.end() && piece->first.first == buffer && piece->first.second < end;
    const std::int64_t next = here ? piece->first.second : end;
    if (at < next) pieces_.emplace_hint(piece, std::pair{buffer, at}, Piece{next, {}});
    at = here ? piece->second.end : end;
    if (here) ++piece;
  }
  return {pieces_.lower_bound({buffer, begin}), pieces_.lower_bound({buffer, end})};
}

/// In the order of their ids, so that equal sets are equal.
void HeldBytes::add(Piece& piece, int value) {
  const auto place = std::lower_bound(piece.values.begin(), piece.values.end(), value);
  if (place == piece.values.end() || *place != value) piece.values.insert(place, value);
}

}  // namespace lethe
