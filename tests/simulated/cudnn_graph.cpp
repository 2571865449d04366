#include "tests/simulated/cudnn_graph.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/simulated/numbers.h"
#include "tests/simulated/submit.h"

namespace lethe::simulated {
namespace {

DType dtype_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE     ? DType::f64
         : type == CUDNN_DATA_BFLOAT16 ? DType::bf16
         : type == CUDNN_DATA_HALF     ? DType::f16
                                       : DType::f32;
}

/// Sizes in the order N, C, H, W; in memory C is innermost.
struct Tensor {
  std::int64_t id, n, c, h, w;
  DType dtype;
  bool in_memory;

  explicit Tensor(const Described& d)
      : id(d.one<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
        dtype(dtype_of(d.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE))),
        in_memory(d.all<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != std::vector{char{1}}) {
    const auto sizes = d.all<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    n = sizes.at(0), c = sizes.at(1), h = sizes.at(2), w = sizes.at(3);
    expect(d.all<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES) == std::vector{c * h * w, std::int64_t{1}, c * w, c},
           "strides of another layout than NHWC");
    alignment = static_cast<std::size_t>(d.one<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT));
  }
  std::int64_t elements() const { return n * c * h * w; }
  std::size_t alignment;
};

using Numbers = std::vector<double>;

/// Tensors by id while the graph is computed.
class Values {
 public:
  explicit Values(const std::map<std::int64_t, void*>& addresses) : addresses_(addresses) {}

  const Numbers& of(const Tensor& t) {
    auto found = made_.find(t.id);
    if (found == made_.end()) {
      expect(t.in_memory, "a virtual tensor that no operation has written");
      found = made_.emplace(t.id, load(t.dtype, address(t), t.elements())).first;
    }
    return found->second;
  }
  void set(const Tensor& t, Numbers numbers) {
    if (t.in_memory) store(t.dtype, address(t), 0, numbers.data(), t.elements());
    made_[t.id] = std::move(numbers);
  }
  bool all_used() const { return used_.size() == addresses_.size(); }

 private:
  void* address(const Tensor& t) {
    used_.insert(t.id);
    const auto found = addresses_.find(t.id);
    expect(found != addresses_.end(), "no address for a tensor");
    expect(is_aligned(found->second, t.alignment), "alignment of a tensor");
    expect(is_device_memory(found->second, static_cast<std::size_t>(t.elements() * bytes_of(t.dtype))),
           "a tensor is not on the GPU");
    return found->second;
  }
  const std::map<std::int64_t, void*>& addresses_;
  std::map<std::int64_t, Numbers> made_;
  std::set<std::int64_t> used_;
};

struct Conv {
  std::int64_t pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;

  explicit Conv(const Described& d) {
    const auto two = [&](cudnnBackendAttributeName_t name, std::int64_t& h, std::int64_t& w) {
      const auto read = d.all<std::int64_t>(name);
      h = read.at(0), w = read.at(1);
    };
    expect(d.one<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == CUDNN_CROSS_CORRELATION, "mode");
    two(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, pad_h, pad_w);
    two(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride_h, stride_w);
    two(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation_h, dilation_w);
  }
};

/// Weights [k][r][s][c] with c and k of a group innermost, [group][r][s][c][k], or back.
Numbers regrouped(const Tensor& w, std::int64_t groups, const Numbers& from, bool back) {
  Numbers to(from.size());
  const std::int64_t filters = w.n / groups;
  for (std::int64_t k = 0; k < w.n; ++k)
    for (std::int64_t tap = 0; tap < w.h * w.w; ++tap)
      for (std::int64_t c = 0; c < w.c; ++c) {
        const std::int64_t theirs = (k * w.h * w.w + tap) * w.c + c;
        const std::int64_t ours = ((k / filters * w.h * w.w + tap) * w.c + c) * filters + k % filters;
        to[back ? theirs : ours] = from[back ? ours : theirs];
      }
  return to;
}

/// Calls visit(x, w, y, c, k) for each group of each pair of pixels that a tap joins, with where its channels begin in
/// the image, the regrouped weights and the response, and how many there are.
template <class Visit>
void for_each_tap(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& y, const Visit& visit) {
  const std::int64_t groups = x.c / w.c, filters = w.n / groups;
  for (std::int64_t n = 0; n < y.n; ++n)
    for (std::int64_t oy = 0; oy < y.h; ++oy)
      for (std::int64_t ox = 0; ox < y.w; ++ox)
        for (std::int64_t r = 0; r < w.h; ++r)
          for (std::int64_t s = 0; s < w.w; ++s) {
            const std::int64_t iy = oy * conv.stride_h - conv.pad_h + r * conv.dilation_h;
            const std::int64_t ix = ox * conv.stride_w - conv.pad_w + s * conv.dilation_w;
            if (iy < 0 || iy >= x.h || ix < 0 || ix >= x.w) continue;
            for (std::int64_t g = 0; g < groups; ++g)
              visit(((n * x.h + iy) * x.w + ix) * x.c + g * w.c, ((g * w.h + r) * w.w + s) * w.c * filters,
                    ((n * y.h + oy) * y.w + ox) * y.c + g * filters, w.c, filters);
          }
}

Numbers zeros(const Tensor& t) { return Numbers(static_cast<std::size_t>(t.elements())); }

void forward(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& y, Values& values) {
  const Numbers &xs = values.of(x), ws = regrouped(w, x.c / w.c, values.of(w), false);
  Numbers ys = zeros(y);
  for_each_tap(conv, x, w, y, [&](auto x0, auto w0, auto y0, auto channels, auto filters) {
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t k = 0; k < filters; ++k) ys[y0 + k] += xs[x0 + c] * ws[w0 + c * filters + k];
  });
  values.set(y, std::move(ys));
}

void input_gradient(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& y, Values& values) {
  const Numbers &ys = values.of(y), ws = regrouped(w, x.c / w.c, values.of(w), false);
  Numbers xs = zeros(x);
  for_each_tap(conv, x, w, y, [&](auto x0, auto w0, auto y0, auto channels, auto filters) {
    for (std::int64_t c = 0; c < channels; ++c) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t k = 0; k < filters; ++k) sum += ys[y0 + k] * ws[w0 + c * filters + k];
      xs[x0 + c] += sum;
    }
  });
  values.set(x, std::move(xs));
}

void weight_gradient(const Conv& conv, const Tensor& x, const Tensor& w, const Tensor& y, Values& values) {
  const Numbers &ys = values.of(y), &xs = values.of(x);
  Numbers ws = zeros(w);
  for_each_tap(conv, x, w, y, [&](auto x0, auto w0, auto y0, auto channels, auto filters) {
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t k = 0; k < filters; ++k) ws[w0 + c * filters + k] += xs[x0 + c] * ys[y0 + k];
  });
  values.set(w, regrouped(w, x.c / w.c, ws, true));
}

/// Where an operation on a convolution keeps its attributes.
struct Pass {
  cudnnBackendAttributeName_t conv, alpha, beta, x, w, y;
  void (*compute)(const Conv&, const Tensor& x, const Tensor& w, const Tensor& y, Values&);
};

/// A factor, which cuDNN reads in the type that the convolution is computed in; fails if it was set as another.
double factor(const Described& op, const Pass& pass, cudnnBackendAttributeName_t name) {
  const auto type = op.part(pass.conv).one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  return type == CUDNN_DATA_DOUBLE ? op.one<double>(name) : op.one<float>(name);
}

void convolve(const Described& op, const Pass& pass, Values& values) {
  expect(factor(op, pass, pass.alpha) == 1 && factor(op, pass, pass.beta) == 0, "other factors than 1 and 0");
  pass.compute(Conv(op.part(pass.conv)), Tensor(op.part(pass.x)), Tensor(op.part(pass.w)), Tensor(op.part(pass.y)),
               values);
}

void pointwise(const Described& op, Values& values) {
  const Described& kind = op.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const auto mode = kind.one<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  const Tensor x(op.part(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)), y(op.part(CUDNN_ATTR_OPERATION_POINTWISE_YDESC));
  Numbers numbers = values.of(x);
  if (mode == CUDNN_POINTWISE_ADD) {
    const Tensor b(op.part(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
    expect(b.elements() == b.c && b.c == x.c, "what is added is not one number a channel");
    const Numbers& bias = values.of(b);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += bias[i % bias.size()];
  } else {
    expect(mode == CUDNN_POINTWISE_RELU_FWD, "a pointwise operation that is neither sum nor relu");
    const auto nan = kind.all<cudnnNanPropagation_t>(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION);
    const bool keeps_nan = nan == std::vector{CUDNN_PROPAGATE_NAN};
    for (double& value : numbers) value = std::isnan(value) ? (keeps_nan ? value : 0) : std::max(value, 0.0);
  }
  values.set(y, std::move(numbers));
}

}  // namespace

void compute_graph(const Described& graph, const std::map<std::int64_t, void*>& addresses) {
  static const std::map<cudnnBackendDescriptorType_t, Pass> passes = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, forward}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, input_gradient}},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
        weight_gradient}}};
  Values values(addresses);
  for (const auto& op : graph.parts.at(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    const auto pass = passes.find(op->type);
    if (pass != passes.end())
      convolve(*op, pass->second, values);
    else
      pointwise(*op, values);
  }
  expect(values.all_used(), "an address for a tensor that is not in memory");
}

}  // namespace lethe::simulated
