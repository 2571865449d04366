#include "kernels/conv/conv.h"

#include <algorithm>
#include <string>
#include <vector>

#include "framework/error.h"
#include "kernels/by_kind.h"
#include "kernels/conv/providers.h"
#include "kernels/cuda/tell_once.h"

namespace lethe {
namespace {

std::unique_ptr<Kernel> prepare_on_gpu(ConvPass pass, const ConvShape& s, const Epilogue& epilogue, DType dtype,
                                       const DeviceInfo& device) {
  const EpilogueRows rows{s.batch * s.out[0] * s.out[1], s.filters};
  std::vector<Epilogue> tried = {epilogue};
  if (epilogue.bias && epilogue.relu) tried.push_back({.bias = true});
  if (!epilogue.is_empty()) tried.push_back({});
  for (const Epilogue& on_the_way : tried)
    if (auto kernel = prepare_conv_cudnn(pass, s, on_the_way, dtype, device)) {
      const Epilogue after{.bias = epilogue.bias && !on_the_way.bias, .relu = epilogue.relu && !on_the_way.relu};
      return with_epilogue(std::move(kernel), after, rows, dtype, device);
    }
  auto kernel = prepare_conv_unfold(pass, s, dtype, device);
  tell_once(message("cuDNN has no engine for ", text_of(pass, s), " in ", name_of(dtype), " within ",
                    workspace_limit(device), " bytes of workspace: computed by im2col and cuBLAS in ",
                    kernel->workspace_bytes()));
  return with_epilogue(std::move(kernel), epilogue, rows, dtype, device);
}

/// With fewer channels on either side, transforming tiles takes longer than it saves; with fewer pixels, transforming
/// kernels does.
bool is_for_winograd(const ConvShape& s) {
  constexpr std::int64_t kFewestChannels = 16, kFewestPixels = 768;
  return std::min(s.channels, s.filters) >= kFewestChannels && s.batch * s.out[0] * s.out[1] >= kFewestPixels;
}

/// Whether Winograd's algorithm in f32 takes less time than sums of products in bf16 on a processor with AVX-512's
/// instructions for these: where its tiles reach little over the edge of images, and kernels are neither so small that
/// transforming takes longer nor so large that sums of their gradients leave the cache. Measured on EPYC Zen 4: 0.57 to
/// 0.98 of the time where this holds, 0.97 to 1.8 of it elsewhere.
bool is_winograd_faster_than_bf16(ConvPass pass, const ConvShape& s) {
  if (s.kernel != Extent{3, 3}) return false;
  const Extent made = pass == ConvPass::GradInput ? s.in : s.out;
  const std::int64_t covered = round_up(made[0], 4) * round_up(made[1], 4);  // by tiles
  if (10 * covered > 11 * made[0] * made[1]) return false;
  const auto [fewest, most] = std::minmax(s.channels, s.filters);
  return pass == ConvPass::GradWeight ? fewest >= 32 && most <= 256 : fewest >= 64;
}

/// All algorithms for it, the one that is taken without a trial first.
std::vector<Algorithm> algorithms_on_cpu(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                         const DeviceInfo& device, Provider provider) {
  const bool is_best = provider == Provider::Best, by_onednn = uses_onednn(provider, dtype);
  const Algorithm product = {"product", [=] { return prepare_conv_pointwise(pass, shape, bias, dtype, device); }},
                  winograd = {"winograd",
                              [=] { return prepare_conv_winograd(pass, shape, bias, dtype, device.threads); }};
  const bool may_be_winograd = is_best && (dtype == DType::f32 || dtype == DType::bf16) && device.winograd;
  const bool bf16_is_fast = dtype == DType::bf16 && by_onednn, onednn_has_amx = onednn_has_tiles();
  const bool is_winograd_best =
      is_for_winograd(shape) && (!bf16_is_fast || (!onednn_has_amx && is_winograd_faster_than_bf16(pass, shape)));
  // oneDNN's own gradients of 1x1 kernels take up to 1.4 times as long in f32 (bench_convolutions), of bf16 by AMX 2 to
  // 4 times (2.6.3).
  const bool trusted = is_trusted(pass, shape, dtype);
  const bool is_for_product =
      is_best && by_onednn &&
      (dtype == DType::f32 ? pass == ConvPass::GradWeight : !trusted || (onednn_has_amx && pass != ConvPass::Forward));
  std::vector<Algorithm> algorithms;
  if (device.fast_f32 && is_best && dtype == DType::f32)
    algorithms.push_back(
        {"three bf16 products", [=] { return prepare_conv_fast_f32(pass, shape, bias, device.threads); }});
  if (may_be_winograd && is_winograd_best) algorithms.push_back(winograd);
  if (is_for_product) algorithms.push_back(product);
#ifdef LETHE_HAS_ONEDNN
  if (by_onednn && trusted)
    algorithms.push_back({"onednn", [=] {
                            const bool tiles = may_take_tiles(dtype, is_trusted_with_tiles(shape));
                            return prepare_conv_onednn(pass, shape, bias, dtype, device.threads, tiles);
                          }});
#endif
  if (wide_of(dtype) != dtype)
    algorithms.push_back({"widened", [=] { return prepare_conv_widened(pass, shape, bias, dtype, device); }});
  else
    algorithms.push_back({"im2col", [=] { return prepare_conv_im2col(pass, shape, bias, dtype, device.threads); }});
  if (may_be_winograd && !is_winograd_best) algorithms.push_back(winograd);
  if (is_best && !is_for_product) algorithms.push_back(product);
  return algorithms;
}

std::unique_ptr<Kernel> prepare_on_cpu(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                       const DeviceInfo& device, Provider provider) {
  const std::vector<Algorithm> algorithms = algorithms_on_cpu(pass, shape, bias, dtype, device, provider);
  if (device.trials && provider == Provider::Best) {
    const std::string what =
        message(text_of(pass, shape), bias ? ", bias" : "", ", ", name_of(dtype), ", ", device.threads, " threads",
                device.winograd ? "" : ", no Winograd", device.fast_f32 ? ", fast f32" : "");
    return device.trials->best(what, algorithms, operands_of(pass, shape, dtype), device).kernel;
  }
  for (const Algorithm& algorithm : algorithms)
    if (auto kernel = algorithm.prepare()) return kernel;
  return nullptr;
}

}  // namespace

std::int64_t workspace_limit(const DeviceInfo& device) {
  constexpr std::int64_t kGiB = 1 << 30;
  return device.workspace_limit.value_or(kGiB);
}

bool is_trusted(ConvPass pass, const ConvShape& s, DType dtype) {
  constexpr std::int64_t kVector = 16;  // channels of f32, of the widest instructions
  const bool is_strided_product = s.kernel == Extent{1, 1} && s.stride != Extent{1, 1};
  if (pass == ConvPass::GradWeight && is_strided_product && s.channels / s.groups < kVector) return false;
  if (dtype == DType::f32) return true;
  if (pass == ConvPass::GradInput) return s.kernel != Extent{1, 1} || s.filters / s.groups % 2 == 0;
  return pass == ConvPass::Forward || s.in[1] >= s.stride[1];
}

bool is_trusted_with_tiles(const ConvShape& s) {
  constexpr std::int64_t kDepth = 32;       // of a tile
  constexpr std::int64_t kLeastSteps = 16;  // pixels of an image that has a stride
  const auto is_plain = [&](int axis) {
    const std::int64_t in = s.in[axis], kernel = s.kernel[axis], stride = s.stride[axis];
    return s.dilation[axis] == 1 && in >= kernel && stride <= kernel && (stride == 1 || in >= kLeastSteps);
  };
  return s.channels / s.groups % kDepth == 0 && s.filters / s.groups % kDepth == 0 && is_plain(0) && is_plain(1);
}

std::string text_of(ConvPass pass, const ConvShape& s) {
  const char* const what = pass == ConvPass::Forward     ? "a convolution"
                           : pass == ConvPass::GradInput ? "the input gradient of a convolution"
                                                         : "the weight gradient of a convolution";
  return message(what, " of [", s.batch, ',', s.in[0], ',', s.in[1], ',', s.channels, "] by ", s.filters,
                 " filters of ", s.kernel[0], 'x', s.kernel[1], ", stride ", s.stride[0], 'x', s.stride[1],
                 ", padding ", s.pad[0], 'x', s.pad[1], ", dilation ", s.dilation[0], 'x', s.dilation[1], ", ",
                 s.groups, s.groups == 1 ? " group" : " groups");
}

Operands operands_of(ConvPass pass, const ConvShape& s, DType dtype) {
  const std::int64_t x = x_size(s), y = y_size(s), w = weight_size(s), of_one = bytes_of(dtype);
  switch (pass) {
    case ConvPass::Forward:
      return {{x * of_one, w * of_one, s.filters * of_one}, y * of_one};
    case ConvPass::GradInput:
      return {{y * of_one, w * of_one}, x * of_one};
    default:
      return {{x * of_one, y * of_one}, w * of_one};
  }
}

std::unique_ptr<Kernel> prepare_conv(ConvPass pass, const ConvShape& shape, const Epilogue& epilogue, DType dtype,
                                     const DeviceInfo& device, Provider provider) {
  return by_kind(
      device.kind, [&] { return prepare_on_gpu(pass, shape, epilogue, dtype, device); },
      [&] {
        return with_epilogue(prepare_on_cpu(pass, shape, epilogue.bias, dtype, device, provider),
                             {.relu = epilogue.relu}, {shape.batch * shape.out[0] * shape.out[1], shape.filters}, dtype,
                             device);
      });
}

}  // namespace lethe
