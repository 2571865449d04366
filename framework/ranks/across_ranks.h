// The ops by which ranks give each other what a program has made on each of them. All go to the end of block 0, with
// role Optimize, as what follows from the gradients.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "framework/language/program.h"
#include "framework/ranks/peers.h"

namespace lethe {

class AcrossRanks {
 public:
  /// Small gradients are summed together, in buckets of at least `bucket` bytes. With `shares` each rank gets its share
  /// of the sums alone (size_of_share). Program must outlive it.
  AcrossRanks(Program& program, Rank rank, std::int64_t bucket, bool shares)
      : program_(program), rank_(rank), bucket_(bucket), shares_(shares) {}

  /// Takes a gradient that is complete on this rank. When its bucket is full, that begins to be summed, and what began
  /// before is waited for.
  void sum(VarId gradient);
  /// By gradient taken: its sum over all ranks, or this rank's share of that. Waits for all that was begun.
  const std::map<VarId, VarId>& sums();

  /// The sum over all ranks of what these need before they go on.
  VarId sum_at_once(VarId x);

  /// What all ranks have, one after the other along the first axis.
  VarId gather(VarId x);
  /// By rank: what it has of each value, which travel together.
  std::vector<std::vector<VarId>> gather_each(const std::vector<VarId>& values);

 private:
  struct Bucket {
    std::vector<VarId> gradients;
    VarId pending = kNone, room = kNone;
  };

  void begin();
  void finish(const Bucket& bucket);
  /// The values one after the other, as one axis.
  VarId joined(const std::vector<VarId>& values, std::string name);
  /// Likewise of shares: what each rank is to have of all of them, one rank after the other.
  VarId joined_by_rank(const std::vector<VarId>& values, const std::string& name);
  /// What a rank gets of a gradient's sum.
  Shape shape_of_sum(VarId gradient) const;
  /// A range of what is one axis, in that shape.
  VarId cut_out(VarId from, std::int64_t begin, const Shape& shape, const std::string& name);
  VarId reshaped(VarId x, const Shape& shape, const std::string& name);
  std::vector<VarId> append(const char* type, std::vector<VarId> in, Attrs attrs, const std::string& name);
  bool is_empty() const { return filling_.gradients.empty(); }

  Program& program_;
  Rank rank_;
  std::int64_t bucket_, filled_ = 0;  // bytes
  bool shares_;
  Bucket filling_ = {}, under_way_ = {};
  std::map<VarId, VarId> sums_ = {};
};

}  // namespace lethe
