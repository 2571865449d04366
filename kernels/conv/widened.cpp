#include <algorithm>

#include "kernels/conv/providers.h"
#include "kernels/gemm/wide_parts.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

void add_to(float* sum, const float* x, std::int64_t n) {
  parallel_for(Cpu{}, nullptr, n, [=](std::int64_t i) { sum[i] += x[i]; });
}

constexpr std::int64_t kFewestResults = 1024;  // of a filter in a round: fewer keep a kernel less busy

/// Of a quarter of the images wide copies take half of what they copy. All are taken at once if they are few, or if the
/// sums that weight gradients of several rounds need beside the first would take more than is saved.
std::int64_t images_a_round(ConvPass pass, const ConvShape& s, std::int64_t elements_an_image) {
  const std::int64_t all = std::max<std::int64_t>(s.batch, 1), results = s.out[0] * s.out[1];
  const std::int64_t most = std::clamp<std::int64_t>(kRoundBytes / (4 * elements_an_image), 1, all);
  const std::int64_t few = std::max({all / 4, (kFewestResults + results - 1) / results, std::int64_t{1}});
  if (pass == ConvPass::GradWeight && most == all && (all - few) * elements_an_image <= weight_size(s)) return all;
  return std::min(most, few);
}

template <class T>
class WidenedConv final : public Kernel {
 public:
  WidenedConv(ConvPass pass, const ConvShape& s, bool bias, const DeviceInfo& device)
      : pass_(pass),
        images_(s.batch),
        image_(s.in[0] * s.in[1] * s.channels),
        response_(s.out[0] * s.out[1] * s.filters),
        weights_(weight_size(s)),
        filters_(s.filters),
        round_(images_a_round(pass, s, image_ + response_)) {
    const auto prepared = [&](std::int64_t images) {
      ConvShape part = s;
      part.batch = images;
      return prepare_conv(pass, part, {.bias = bias}, DType::f32, device);
    };
    whole_ = prepared(round_);
    std::int64_t inner = whole_->workspace_bytes();
    if (images_ % round_ > 0) {
      rest_ = prepared(images_ % round_);
      inner = std::max(inner, rest_->workspace_bytes());
    }
    x_ = layout_.add_array<float>(round_ * image_);
    y_ = layout_.add_array<float>(round_ * response_);
    w_ = layout_.add_array<float>(weights_);
    bias_ = layout_.add_array<float>(bias ? s.filters : 0);
    part_ = layout_.add_array<float>(pass == ConvPass::GradWeight && images_ > round_ ? weights_ : 0);
    inner_ = layout_.add(inner);
  }
  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return whole_->implementation() + ", widened"; }

  void run(const KernelArgs& args) const override {
    if (pass_ != ConvPass::GradWeight) convert(args.in<T>(1), w_.at<float>(args), weights_);
    if (float* const bias = bias_.at<float>(args)) convert(args.in<T>(2), bias, filters_);
    for (std::int64_t first = 0; first < images_; first += round_) {
      const std::int64_t count = std::min(round_, images_ - first);
      run_round(args, count == round_ ? *whole_ : *rest_, first, count);
    }
    if (pass_ == ConvPass::GradWeight) convert(w_.at<float>(args), args.out<T>(0), weights_);
  }

 private:
  void run_round(const KernelArgs& args, const Kernel& conv, std::int64_t first, std::int64_t count) const {
    float *const x = x_.at<float>(args), *const y = y_.at<float>(args), *const w = w_.at<float>(args);
    const std::int64_t image = first * image_, response = first * response_;
    if (pass_ == ConvPass::Forward) {
      convert(args.in<T>(0) + image, x, count * image_);
      run_kernel(conv, {x, w, bias_.at<float>(args)}, y, inner_.at(args));
      convert(y, args.out<T>(0) + response, count * response_);
    } else if (pass_ == ConvPass::GradInput) {
      convert(args.in<T>(0) + response, y, count * response_);
      run_kernel(conv, {y, w}, x, inner_.at(args));
      convert(x, args.out<T>(0) + image, count * image_);
    } else {
      convert(args.in<T>(0) + image, x, count * image_);
      convert(args.in<T>(1) + response, y, count * response_);
      run_kernel(conv, {x, y}, first == 0 ? w : part_.at<float>(args), inner_.at(args));
      if (first > 0) add_to(w, part_.at<float>(args), weights_);
    }
  }

  ConvPass pass_;
  std::int64_t images_, image_, response_, weights_, filters_;  // elements
  std::int64_t round_;                                          // images
  std::unique_ptr<Kernel> whole_, rest_;
  WorkspaceLayout layout_;
  WorkspacePart x_, y_, w_, bias_, part_, inner_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_conv_widened(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                             const DeviceInfo& device) {
  if (dtype == DType::bf16) return std::make_unique<WidenedConv<Bf16>>(pass, shape, bias, device);
  return std::make_unique<WidenedConv<F16>>(pass, shape, bias, device);
}

}  // namespace lethe
