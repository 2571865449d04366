// What lies where in the buffers of a plan while its program runs: who wrote each byte last, and which values are lost.
// Where ways through the program meet, a byte may hold what any of them has left there.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lethe {

/// Bytes [begin, end) of a buffer.
struct Extent {
  int buffer = -1;
  std::int64_t begin = 0, end = 0;
  bool meets(const Extent& other) const { return buffer == other.buffer && begin < other.end && other.begin < end; }
};

class HeldBytes {
 public:
  /// Of so many values, none of which is written yet.
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

  /// What may be so if either may: all that one of them has lost is lost.
  void join(const HeldBytes& other);
  bool operator==(const HeldBytes&) const = default;

 private:
  struct Piece {
    std::int64_t end;
    std::vector<int> values;
    bool operator==(const Piece&) const = default;
  };
  using Pieces = std::map<std::pair<int, std::int64_t>, Piece>;  // by buffer and first byte; disjoint

  void split(int buffer, std::int64_t at);
  /// The pieces that make up an extent, those without values among them: from the one to before the other.
  std::pair<Pieces::iterator, Pieces::iterator> cover(const Extent& extent);
  static void add(Piece& piece, int value);

  Pieces pieces_;
  std::vector<std::string> lost_to_;  // by value
};

}  // namespace lethe
