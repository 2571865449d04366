#include "memopt/analysis/held_bytes.h"

#include <algorithm>

namespace lethe {

namespace {

/// Where a byte lies in rows of `pitch` bytes, of which one begins at `origin`.
std::int64_t column_of(std::int64_t byte, std::int64_t origin, std::int64_t pitch) {
  return ((byte - origin) % pitch + pitch) % pitch;
}

}  // namespace

bool Extent::meets(const Extent& other) const {
  if (buffer != other.buffer || begin >= other.end || other.begin >= end) return false;
  if (pitch == 0 || pitch != other.pitch) return true;
  const std::int64_t column = column_of(other.first, first, pitch);  // where in my rows the other's begin
  return column < row || column + other.row > pitch;
}

void HeldBytes::write(const Extent& extent, int value, const std::string& name) {
  clobber(extent, name);
  show(extent, value);
}

void HeldBytes::clobber(const Extent& extent, const std::string& name) {
  const auto [first, after] = cover(extent);
  for (auto at = first; at != after; ++at) {
    Piece& piece = at->second;
    for_strips(piece, extent, [&](Strip& strip) {
      for (const int value : strip.values)
        if (lost_to_[value].empty()) lost_to_[value] = name;
      strip.values.clear();
    });
    if (std::all_of(piece.strips.begin(), piece.strips.end(), [](const Strip& s) { return s.values.empty(); }))
      piece = {.end = piece.end};  // which may have other rows next
  }
  if (extent.pitch == 0) pieces_.erase(first, after);
}

void HeldBytes::show(const Extent& extent, int value) {
  lost_to_[value].clear();
  const auto [first, after] = cover(extent);
  for (auto piece = first; piece != after; ++piece)
    for_strips(piece->second, extent, [value](Strip& strip) { add(strip, value); });
}

void HeldBytes::forget(const Extent& extent, int value) {
  lost_to_[value].clear();
  const auto [first, after] = cover(extent);
  for (auto piece = first; piece != after; ++piece)
    for (Strip& strip : piece->second.strips)
      strip.values.erase(std::remove(strip.values.begin(), strip.values.end(), value), strip.values.end());
}

void HeldBytes::join(const HeldBytes& other) {
  for (std::size_t value = 0; value < lost_to_.size(); ++value)
    if (lost_to_[value].empty()) lost_to_[value] = other.lost_to_[value];
  for (const auto& [at, piece] : other.pieces_) {
    for (std::size_t i = 0; i < piece.strips.size(); ++i) {
      const std::int64_t begin = piece.strips[i].begin,
                         end = i + 1 < piece.strips.size() ? piece.strips[i + 1].begin : piece.pitch;
      const Extent extent{at.first, at.second, piece.end, piece.pitch, piece.origin + begin, end - begin};
      const auto [first, after] = cover(extent);
      for (auto mine = first; mine != after; ++mine)
        for (const int value : piece.strips[i].values)
          for_strips(mine->second, extent, [value](Strip& strip) { add(strip, value); });
    }
  }
}

template <class F>
void HeldBytes::for_strips(Piece& piece, const Extent& extent, const F& f) {
  if (piece.pitch == 0 && extent.pitch > 0) piece.pitch = extent.pitch, piece.origin = extent.first;
  if (piece.pitch != extent.pitch || extent.pitch == 0) {
    for (Strip& strip : piece.strips) f(strip);
    return;
  }
  const std::int64_t begin = column_of(extent.first, piece.origin, piece.pitch), end = begin + extent.row;
  const auto cut = [&piece](std::int64_t column) {
    const auto after = std::find_if(piece.strips.begin(), piece.strips.end(),
                                    [column](const Strip& strip) { return strip.begin >= column; });
    if (after == piece.strips.end() ? column < piece.pitch : after->begin > column)
      piece.strips.insert(after, {column, std::prev(after)->values});
  };
  cut(begin);
  cut(end > piece.pitch ? end - piece.pitch : end);  // rows may begin before the piece's and end in the next
  for (Strip& strip : piece.strips)
    if ((begin <= strip.begin && strip.begin < end) || strip.begin < end - piece.pitch) f(strip);
}

/// So that no piece lies across a byte.
void HeldBytes::split(int buffer, std::int64_t at) {
  const auto after = pieces_.upper_bound({buffer, at});
  if (after == pieces_.begin()) return;
  const auto piece = std::prev(after);
  if (piece->first.first != buffer || piece->first.second == at || piece->second.end <= at) return;
  pieces_.emplace_hint(after, std::pair{buffer, at}, piece->second);
  piece->second.end = at;
}

std::pair<HeldBytes::Pieces::iterator, HeldBytes::Pieces::iterator> HeldBytes::cover(const Extent& extent) {
  const int buffer = extent.buffer;
  const std::int64_t begin = extent.begin, end = extent.end;
  split(buffer, begin);
  split(buffer, end);
  std::int64_t at = begin;
  for (auto piece = pieces_.lower_bound({buffer, begin}); at < end;) {
    const bool here = piece != pieces_.end() && piece->first.first == buffer && piece->first.second < end;
    const std::int64_t next = here ? piece->first.second : end;
    if (at < next) pieces_.emplace_hint(piece, std::pair{buffer, at}, Piece{.end = next});
    at = here ? piece->second.end : end;
    if (here) ++piece;
  }
  return {pieces_.lower_bound({buffer, begin}), pieces_.lower_bound({buffer, end})};
}

/// In the order of their ids, so that equal sets are equal.
void HeldBytes::add(Strip& strip, int value) {
  const auto place = std::lower_bound(strip.values.begin(), strip.values.end(), value);
  if (place == strip.values.end() || *place != value) strip.values.insert(place, value);
}

}  // namespace lethe
