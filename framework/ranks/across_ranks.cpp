#include "framework/ranks/across_ranks.h"

#include <utility>

#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {

void AcrossRanks::sum(VarId gradient) {
  const Var var = program_.vars[gradient];
  if (!is_empty() && program_.vars[filling_.gradients.front()].dtype != var.dtype) begin();
  filling_.gradients.push_back(gradient);
  filled_ += bytes_of(var);
  if (filled_ >= bucket_) begin();
}

const std::map<VarId, VarId>& AcrossRanks::sums() {
  if (!is_empty()) begin();
  finish(std::exchange(under_way_, {}));
  return sums_;
}

void AcrossRanks::begin() {
  Bucket bucket = std::exchange(filling_, {});
  filled_ = 0;
  const std::string name = program_.vars[bucket.gradients.front()].name + "@RANKS";
  const VarId x = bucket.gradients.size() == 1 ? bucket.gradients.front()
                  : shares_                    ? joined_by_rank(bucket.gradients, name)
                                               : joined(bucket.gradients, name);
  const std::vector<VarId> started =
      append(shares_ ? kReduceScatterStart : kAllReduceStart, {x}, {{kRanks, rank_.of}}, name);
  bucket.pending = started[0];
  bucket.room = started[1];
  finish(std::exchange(under_way_, std::move(bucket)));
}

void AcrossRanks::finish(const Bucket& bucket) {
  if (bucket.gradients.empty()) return;
  const std::string name = program_.vars[bucket.gradients.front()].name + "@RANKS";
  const VarId summed =
      shares_ ? append(kReduceScatterWait, {bucket.pending, bucket.room}, {{kRanks, rank_.of}}, name).front()
              : append(kAllReduceWait, {bucket.pending, bucket.room}, {}, name).front();
  if (bucket.gradients.size() == 1) {
    sums_[bucket.gradients.front()] = summed;
    return;
  }
  std::int64_t at = 0;
  for (const VarId gradient : bucket.gradients) {
    const Shape shape = shape_of_sum(gradient);
    sums_[gradient] = cut_out(summed, at, shape, program_.vars[gradient].name + "@ALL");
    at += elements(shape);
  }
}

VarId AcrossRanks::sum_at_once(VarId x) {
  const std::string name = program_.vars[x].name + "@RANKS";
  const std::vector<VarId> started = append(kAllReduceStart, {x}, {{kRanks, rank_.of}}, name);
  return append(kAllReduceWait, {started[0], started[1]}, {}, name).front();
}

VarId AcrossRanks::gather(VarId x) {
  const std::string name = program_.vars[x].name + "@RANKS";
  const VarId pending = append(kAllGatherStart, {x}, {{kRanks, rank_.of}}, name).front();
  return append(kAllGatherWait, {pending}, {}, name).front();
}

std::vector<std::vector<VarId>> AcrossRanks::gather_each(const std::vector<VarId>& values) {
  std::map<DType, std::vector<std::size_t>> by_dtype;
  for (std::size_t i = 0; i < values.size(); ++i) by_dtype[program_.vars[values[i]].dtype].push_back(i);
  std::vector<std::vector<VarId>> by_rank(static_cast<std::size_t>(rank_.of), std::vector<VarId>(values.size()));
  for (const auto& [dtype, indices] : by_dtype) {
    std::vector<VarId> own;
    for (const std::size_t i : indices) own.push_back(values[i]);
    const VarId all = gather(joined(own, program_.vars[own.front()].name));
    std::int64_t at = 0;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
      for (const std::size_t i : indices) {
        const Var var = program_.vars[values[i]];
        by_rank[rank][i] = cut_out(all, at, var.shape, message(var.name, "@RANK", rank + 1));
        at += elements(var.shape);
      }
  }
  return by_rank;
}

VarId AcrossRanks::joined(const std::vector<VarId>& values, std::string name) {
  std::vector<VarId> flat;
  for (const VarId v : values)
    flat.push_back(reshaped(v, {elements(program_.vars[v].shape)}, program_.vars[v].name + "/flat"));
  return flat.size() == 1 ? flat.front() : append(kConcat, std::move(flat), {{"axis", 0}}, name += "/joined").front();
}

VarId AcrossRanks::joined_by_rank(const std::vector<VarId>& values, const std::string& name) {
  std::vector<VarId> by_rank;  // [ranks, size of a share]
  std::int64_t all = 0;        // elements of each rank's shares
  for (const VarId v : values) {
    const Var var = program_.vars[v];
    const std::int64_t count = elements(var.shape), share = size_of_share(count, rank_.of);
    VarId flat = reshaped(v, {count}, var.name + "/flat");
    if (const std::int64_t missing = share * rank_.of - count; missing > 0)
      flat = append(kPad, {flat}, {{"before", Ints{0}}, {"after", Ints{missing}}}, var.name + "/filled").front();
    by_rank.push_back(reshaped(flat, {rank_.of, share}, var.name + "/by_rank"));
    all += share;
  }
  if (const std::int64_t missing = size_of_share(rank_.of * all, rank_.of) - all; missing > 0) {
    const Attrs none{{"shape", Ints{rank_.of, missing}},
                     {"dtype", std::string(name_of(program_.vars[by_rank.front()].dtype))},
                     {"value", 0.0}};
    by_rank.push_back(append(kFillConstant, {}, none, name + "/filled").front());
  }
  return append(kConcat, std::move(by_rank), {{"axis", 1}}, name + "/joined").front();
}

Shape AcrossRanks::shape_of_sum(VarId gradient) const {
  const Shape& whole = program_.vars[gradient].shape;
  return shares_ ? Shape{size_of_share(elements(whole), rank_.of)} : whole;
}

VarId AcrossRanks::cut_out(VarId from, std::int64_t begin, const Shape& shape, const std::string& name) {
  const VarId flat =
      append(kSlice, {from}, {{"axis", 0}, {"begin", begin}, {"end", begin + elements(shape)}}, name + "/flat").front();
  return reshaped(flat, shape, name);
}

VarId AcrossRanks::reshaped(VarId x, const Shape& shape, const std::string& name) {
  return program_.vars[x].shape == shape ? x : append(kReshape, {x}, {{"shape", shape}}, name).front();
}

std::vector<VarId> AcrossRanks::append(const char* type, std::vector<VarId> in, Attrs attrs, const std::string& name) {
  return append_op(program_, 0, Role::Optimize, type, std::move(in), std::move(attrs), name);
}

}  // namespace lethe
