#include <algorithm>
#include <vector>

#include "kernels/by_kind.h"
#include "kernels/conv/cuda_launches.h"
#include "kernels/conv/providers.h"
#include "kernels/conv/windows.h"
#include "kernels/dtypes.h"
#include "kernels/gemm/gemm.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

void unfold(const DeviceInfo& device, void* stream, DType dtype, const Windows& w, const void* image, void* columns) {
  const auto on_cpu = [&](auto zero) {
    using T = decltype(zero);
    unfold_windows(Cpu{}, stream, w, static_cast<const T*>(image), static_cast<T*>(columns));
  };
  by_kind(
      device.kind, [&] { launch_unfold(stream, dtype, w, image, columns); }, [&] { for_wide(dtype, on_cpu); });
}

/// From columns of wide_of(dtype).
void fold(const DeviceInfo& device, void* stream, DType dtype, const Windows& w, const void* columns, void* image) {
  const auto on_cpu = [&](auto zero) {
    using T = decltype(zero);
    fold_windows(Cpu{}, stream, w, static_cast<const T*>(columns), static_cast<T*>(image));
  };
  by_kind(
      device.kind, [&] { launch_fold(stream, dtype, w, columns, image); }, [&] { for_wide(dtype, on_cpu); });
}

/// A few images at a time, group by group, as the product of their windows with the weights. What is summed beyond a
/// product, gradients of weights over rounds and of pixels over windows, is f32 where the dtype is bf16 or f16.
/// Workspace: the columns of a round, the weight gradient if it is summed in another dtype, that of the product.
class UnfoldConv final : public Kernel {
 public:
  UnfoldConv(ConvPass pass, const ConvShape& s, DType dtype, const DeviceInfo& device)
      : pass_(pass), s_(s), dtype_(dtype), device_(device) {
    const bool sums_columns = pass == ConvPass::GradInput;
    const std::int64_t of_image = positions(1) * depth() * bytes_of(sums_columns ? wide_of(dtype) : dtype);
    const std::int64_t images = std::clamp<std::int64_t>(workspace_limit(device) / 2 / of_image, 1, s.batch);
    columns_ = layout_.add(images * of_image);
    sum_ = layout_.add(sums_apart() ? weights() * bytes_of(wide_of(dtype)) : 0);
    for (std::int64_t first = 0; first < s.batch; first += images) add_round(first, std::min(images, s.batch - first));
    std::int64_t most = 0;
    for (const Round& round : rounds_) most = std::max(most, round.product->workspace_bytes());
    inner_ = layout_.add(most);
  }

  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  /// Columns, written and read.
  std::int64_t bytes_again() const override {
    const DType of_columns = pass_ == ConvPass::GradInput ? wide_of(dtype_) : dtype_;
    return 2 * s_.groups * positions(s_.batch) * depth() * bytes_of(of_columns);
  }
  std::string implementation() const override { return "unfolded, " + rounds_.front().product->implementation(); }

  void run(const KernelArgs& args) const override {
    for (const Round& round : rounds_)
      for (std::int64_t group = 0; group < s_.groups; ++group) multiply_group(args, round, group);
    if (sums_apart())
      by_kind(
          device_.kind, [&] { launch_narrow(args.stream, dtype_, weights(), weight_sum(args), args.outputs[0]); },
          [] {});
  }

 private:
  struct Round {
    std::int64_t first = 0, images = 0;
    std::shared_ptr<const Kernel> product;
  };

  std::int64_t positions(std::int64_t images) const { return images * s_.out[0] * s_.out[1]; }
  std::int64_t group_channels() const { return s_.channels / s_.groups; }
  std::int64_t group_filters() const { return s_.filters / s_.groups; }
  std::int64_t depth() const { return s_.kernel[0] * s_.kernel[1] * group_channels(); }

  std::int64_t weights() const { return s_.filters * depth(); }
  bool sums_apart() const { return pass_ == ConvPass::GradWeight && wide_of(dtype_) != dtype_; }
  void* weight_sum(const KernelArgs& args) const { return sums_apart() ? sum_.at(args) : args.outputs[0]; }

  GemmShape product_of(const Round& round) const {
    const std::int64_t rows = positions(round.images);
    if (pass_ == ConvPass::Forward)
      return {.m = rows,
              .n = group_filters(),
              .k = depth(),
              .transpose_b = true,
              .stride_c = s_.filters,
              .unaligned = true};
    if (pass_ == ConvPass::GradInput)
      return {.m = rows, .n = depth(), .k = group_filters(), .wide_c = true, .stride_a = s_.filters, .unaligned = true};
    return {.m = group_filters(),
            .n = depth(),
            .k = rows,
            .transpose_a = true,
            .wide_c = true,
            .accumulate = round.first > 0,
            .stride_a = s_.filters,
            .unaligned = true};
  }

  void add_round(std::int64_t first, std::int64_t images) {
    Round round{first, images, nullptr};
    const auto same = std::find_if(rounds_.begin(), rounds_.end(), [&](const Round& other) {
      return other.images == images && (pass_ != ConvPass::GradWeight || other.first > 0);
    });
    round.product = same == rounds_.end() ? prepare_gemm(product_of(round), dtype_, device_) : same->product;
    rounds_.push_back(std::move(round));
  }

  Windows windows_of(const Round& round, std::int64_t group) const {
    const auto axis = [&](int a) {
      return WindowAxis{.in = s_.in[a],
                        .out = s_.out[a],
                        .k = s_.kernel[a],
                        .stride = s_.stride[a],
                        .pad = s_.pad[a],
                        .dilation = s_.dilation[a]};
    };
    return {.images = round.images,
            .channels = group_channels(),
            .height = axis(0),
            .width = axis(1),
            .first = group * group_channels(),
            .stride = s_.channels};
  }

  /// So many elements after an address.
  static void* at(void* memory, std::int64_t elements, DType dtype) {
    return static_cast<char*>(memory) + elements * bytes_of(dtype);
  }

  void multiply_group(const KernelArgs& args, const Round& round, std::int64_t group) const {
    const Windows windows = windows_of(round, group);
    const std::int64_t image = round.first * s_.in[0] * s_.in[1] * s_.channels;
    const std::int64_t response = positions(round.first) * s_.filters + group * group_filters();
    const std::int64_t weight = group * group_filters() * depth();
    void* const columns = columns_.at(args);
    if (pass_ == ConvPass::GradInput) {
      multiply(args, round, at(args.inputs[0], response, dtype_), at(args.inputs[1], weight, dtype_), columns);
      fold(device_, args.stream, dtype_, windows, columns, at(args.outputs[0], image, dtype_));
      return;
    }
    unfold(device_, args.stream, dtype_, windows, at(args.inputs[0], image, dtype_), columns);
    if (pass_ == ConvPass::Forward)
      multiply(args, round, columns, at(args.inputs[1], weight, dtype_), at(args.outputs[0], response, dtype_));
    else
      multiply(args, round, at(args.inputs[1], response, dtype_), columns,
               at(weight_sum(args), weight, wide_of(dtype_)));
  }

  void multiply(const KernelArgs& args, const Round& round, void* a, void* b, void* c) const {
    void* const inputs[] = {a, b};
    round.product->run({.inputs = inputs, .outputs = &c, .workspace = inner_.at(args), .stream = args.stream});
  }

  ConvPass pass_;
  ConvShape s_;
  DType dtype_;
  DeviceInfo device_;
  WorkspaceLayout layout_{kGpuAlignment};
  WorkspacePart columns_, sum_, inner_;
  std::vector<Round> rounds_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_conv_unfold(ConvPass pass, const ConvShape& shape, DType dtype,
                                            const DeviceInfo& device) {
  return std::make_unique<UnfoldConv>(pass, shape, dtype, device);
}

}  // namespace lethe
