// What lies where in the buffers of a plan while its program runs: who wrote each byte last, and which values are lost.
// Where several ways through the program meet, a byte may hold what any of them has left there.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lethe {

/// The bytes [begin, end) of a buffer, or only the rows among them.
struct Extent {
  int buffer = -1;
  std::int64_t begin = 0, end = 0;
  std::int64_t pitch = 0;           // from row to row; 0: it has no gaps
  std::int64_t first = 0, row = 0;  // a byte that a row begins with; bytes of a row
  /// Whether they may have a byte in common: rows that are equally far apart may lie beside each other.
  bool meets(const Extent& other) const;
};

class HeldBytes {
 public:
  /// There are `values` values, and none of them is written yet.
  explicit HeldBytes(std::size_t values) : lost_to_(values) {}

  /// `value` is written there: whatever else had a byte of it is lost to `name`.
  void write(const Extent& extent, int value, const std::string& name);
  /// Something that nobody reads is written there.
  void clobber(const Extent& extent, const std::string& name);
  /// `value` is what lies there already.
  void show(const Extent& extent, int value);

  /// `value` is as if it had never been written; what lies there is nobody's or that of others.
  void forget(const Extent& extent, int value);

  bool is_lost(int value) const { return !lost_to_[value].empty(); }
  /// What was written over it; "" if it is not lost.
  const std::string& lost_to(int value) const { return lost_to_[value]; }

  /// Keeps what may be so in either: a value that one of them has lost is lost.
  void join(const HeldBytes& other);
  bool operator==(const HeldBytes&) const = default;

 private:
  /// What may lie in the bytes of each row from `begin` to the next strip.
  struct Strip {
    std::int64_t begin = 0;
    std::vector<int> values = {};
    bool operator==(const Strip&) const = default;
  };
  /// Bytes up to `end`. They are rows of `pitch` bytes, of which one begins at `origin`; without rows (0) one strip.
  struct Piece {
    std::int64_t end = 0, pitch = 0, origin = 0;
    std::vector<Strip> strips = {{}};
    bool operator==(const Piece&) const = default;
  };
  using Pieces = std::map<std::pair<int, std::int64_t>, Piece>;  // by buffer and first byte; disjoint

  void split(int buffer, std::int64_t at);
  /// Gives the pieces that make up an extent, also those without values: the first, and the one after the last.
  std::pair<Pieces::iterator, Pieces::iterator> cover(const Extent& extent);
  /// Calls f for each strip of a piece that an extent may have bytes of. A piece without rows gets those of the extent.
  template <class F>
  static void for_strips(Piece& piece, const Extent& extent, const F& f);
  static void add(Strip& strip, int value);

  Pieces pieces_;
  std::vector<std::string> lost_to_;  // by value
};

}  // namespace lethe
