#include "optimizer/product_update.h"

#include <algorithm>
#include <array>

#include "framework/checked.h"
#include "framework/error.h"
#include "framework/language/block_formats.h"
#include "kernels/gemm/row_blocks.h"
#include "optimizer/stochastic_rounding.h"

namespace lethe {
namespace {

const OpDef& alone_of(const Op& op) {
  return op_def(std::string_view(op.type).substr(std::string_view(kMatmulUpdate).size()));
}

GemmShape product_of(const InferArgs& args) {
  const int slot = alone_of(args.op).gradient;
  const Var &a = args.in(slot), &b = args.in(slot + 1);
  check(a.shape.size() == 2 && b.shape.size() == 2 && a.shape[0] == b.shape[0] && a.dtype == b.dtype, args.op.type,
        ": no gradient of ", text_of(a), " and ", text_of(b), ": expected two matrices with as many rows");
  return {
      .m = a.shape[1], .n = b.shape[1], .k = a.shape[0], .transpose_a = true, .wide_c = wide_of(a.dtype) != a.dtype};
}

/// The update alone: of so many rows of the parameter and its states, and with that of a gradient.
struct UpdateAlone {
  Program program;
  Op op;
};

UpdateAlone update_alone(const InferArgs& args, std::int64_t rows) {
  const OpDef& update = alone_of(args.op);
  const GemmShape product = product_of(args);
  UpdateAlone alone{.program = {}, .op = args.op};
  alone.op.type = update.type;
  alone.op.in.clear();
  for (std::size_t slot = 0; slot < args.op.in.size(); ++slot) {
    if (static_cast<int>(slot) == update.gradient + 1) continue;  // b
    alone.op.in.push_back(args.op.in[slot] == kNone ? kNone : static_cast<VarId>(alone.program.vars.size()));
    if (args.op.in[slot] == kNone) continue;
    Var var = args.in(static_cast<int>(slot));
    if (static_cast<int>(slot) == update.gradient) {
      var.shape = {product.m, product.n};
      var.dtype = wide_of(var.dtype);
    }
    if (var.shape == Shape{product.m, product.n}) var.shape[0] = rows;
    alone.program.vars.push_back(std::move(var));
  }
  alone.op.out.assign(alone.op.in.begin(), alone.op.in.begin() + static_cast<std::ptrdiff_t>(update.outputs.size()));
  return alone;
}

std::vector<Type> infer(const InferArgs& args) {
  check(!args.op.attrs.has(kRanks), args.op.type, ": a rank's share has no rows");
  const UpdateAlone alone = update_alone(args, product_of(args).m);
  return alone_of(args.op).infer({alone.program, alone.op});
}

constexpr std::size_t kMostSlots = 8;

class ProductUpdate final : public Kernel {
 public:
  explicit ProductUpdate(const PrepareArgs& args)
      : states_(static_cast<int>(args.op.out.size())),
        slots_(static_cast<int>(args.op.in.size()) - 1),
        blocks_(product_of({args.program, args.op}), args.in(states_).dtype, args.device),
        row_(elements(args.out(0).shape) / args.out(0).shape[0]) {
    check_as(Exit::Internal, slots_ <= static_cast<int>(kMostSlots), args.op.type, ": ", slots_, " inputs");
    for (int i = 0; i < states_; ++i) formats_.push_back(block_format(args.out(i).dtype, args.out(i).shape));
    const std::int64_t updates =
        args.op.attrs.has(kRoundingFirst) ? blocks_.count() : std::min<std::int64_t>(blocks_.count(), 2);
    for (std::int64_t i = 0; i + 1 < updates; ++i) updates_.push_back(update_of_block(args, i));
    updates_.push_back(update_of_block(args, blocks_.count() - 1));
    std::int64_t for_update = 0;
    for (const auto& update : updates_) for_update = std::max(for_update, update->workspace_bytes());
    gradient_ = layout_.add(blocks_.rows(0) * row_ * bytes_of(wide_of(args.out(0).dtype)));
    for_product_ = layout_.add(blocks_.workspace_bytes());
    for_update_ = layout_.add(for_update);
  }

  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return blocks_.implementation(); }

  void run(const KernelArgs& args) const override {
    std::array<void*, kMostSlots> in{}, out{};
    std::copy_n(args.inputs + states_ + 2, slots_ - states_ - 1, in.begin() + states_ + 1);  // rates
    in[states_] = gradient_.at(args);
    for (std::int64_t block = 0; block < blocks_.count(); ++block) {
      blocks_.run(block, args.inputs[states_], args.inputs[states_ + 1], in[states_], for_product_.at(args));
      const std::int64_t first = blocks_.first_row(block) * row_;
      for (int i = 0; i < states_; ++i)
        in[i] = out[i] = args.out<char>(i) + formats_[static_cast<std::size_t>(i)].offset(first);
      update_of(block).run({.inputs = in.data(), .outputs = out.data(), .workspace = for_update_.at(args)});
    }
  }

 private:
  std::unique_ptr<Kernel> update_of_block(const PrepareArgs& args, std::int64_t block) const {
    UpdateAlone alone = update_alone({args.program, args.op}, blocks_.rows(block));
    if (alone.op.attrs.has(kRoundingFirst))
      alone.op.attrs.set(kRoundingFirst, alone.op.attrs.integer(kRoundingFirst) + blocks_.first_row(block) * row_);
    return alone_of(args.op).kernels.cpu({alone.program, alone.op, args.device});
  }

  /// All blocks but the last are alike, unless each is rounded as what stands there.
  const Kernel& update_of(std::int64_t block) const {
    const bool last = block + 1 == blocks_.count();
    return last ? *updates_.back() : *updates_[std::min(static_cast<std::size_t>(block), updates_.size() - 2)];
  }

  int states_, slots_;  // states_: the parameter and its states, after which a stands; slots_: of the update alone
  RowBlocks blocks_;
  std::int64_t row_;                                   // elements
  std::vector<BlockFormat> formats_ = {};              // of the parameter and its states
  std::vector<std::unique_ptr<Kernel>> updates_ = {};  // of blocks, the last one's last
  WorkspaceLayout layout_;
  WorkspacePart gradient_, for_product_, for_update_;
};

}  // namespace

OpDef with_product(const OpDef& update) {
  OpDef def{.type = kMatmulUpdate + update.type, .inputs = update.inputs, .outputs = update.outputs};
  def.inputs[update.gradient] = "a";
  def.inputs.insert(def.inputs.begin() + update.gradient + 1, "b");
  def.infer = infer;
  def.updates = true;
  def.mult_adds = [](const InferArgs& args) {
    const GemmShape s = product_of(args);
    return checked_mul(elements(args.in(0).shape), s.k, "the number of multiply-adds");
  };
  def.kernels.cpu = [](const PrepareArgs& args) -> std::unique_ptr<Kernel> {
    return std::make_unique<ProductUpdate>(args);
  };
  return def;
}

}  // namespace lethe
