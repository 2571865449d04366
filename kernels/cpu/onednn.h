// What our oneDNN kernels share, and the one place that knows which major version is compiled against.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// Of f32 and bf16.
dnnl::memory::data_type onednn_type(DType dtype);
/// Whether the processor has instructions for products of bf16 with sums in f32, and oneDNN knows them.
bool onednn_multiplies_bf16();
/// Whether it has AMX, likewise.
bool onednn_multiplies_tiles();

/// Goes on, from the code that oneDNN likes best for a description, to the first that is not its slow reference and
/// does not multiply tiles where there is AMX, unless `tiles` may be taken. False if there is none.
bool find_code(dnnl::primitive_desc& desc, bool tiles);

/// Engine and stream of one kernel; on the CPU both are handles without threads or memory of their own.
struct OnednnContext {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

/// Scratch memory is handed in, not taken.
dnnl::primitive_attr scratch_from_caller();

/// Version 3 takes the facts of a primitive at once, version 2 in a descriptor of their own.
template <class Primitive, class... Facts>
typename Primitive::primitive_desc describe_with(const dnnl::primitive_attr& attr, const dnnl::engine& engine,
                                                 const Facts&... facts) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, facts..., attr};
#else
  return {typename Primitive::desc(facts...), attr, engine};
#endif
}
template <class Primitive, class... Facts>
typename Primitive::primitive_desc describe(const dnnl::engine& engine, const Facts&... facts) {
  return describe_with<Primitive>(scratch_from_caller(), engine, facts...);
}
/// The same for a backward primitive, which follows its forward one.
template <class Primitive, class Forward, class... Facts>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine, const Forward& forward,
                                                     const Facts&... facts) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, facts..., forward, scratch_from_caller()};
#else
  return {typename Primitive::desc(facts...), scratch_from_caller(), engine, forward};
#endif
}

/// A primitive with its argument list made at prepare: a run sets addresses and allocates nothing of ours (which
/// dnnl::primitive::execute would).
class OnednnCall {
 public:
  struct Argument {
    int name;                 // DNNL_ARG_*
    dnnl::memory::desc desc;  // of no bytes: the primitive does without it
  };
  OnednnCall() = default;
  OnednnCall(const OnednnContext& context, const dnnl::primitive& primitive, std::initializer_list<Argument> arguments);

  /// Addresses in the order of the arguments, those of no bytes included.
  void run(const OnednnContext& context, std::initializer_list<const void*> addresses) const;

 private:
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;      // null: of no bytes
  std::vector<dnnl_exec_arg_t> arguments_;  // of the others
};

/// A copy into another layout. Does nothing if the layouts are equal.
class OnednnReorder {
 public:
  OnednnReorder() = default;
  OnednnReorder(const OnednnContext& context, const dnnl::memory::desc& from, const dnnl::memory::desc& to);
  bool needed() const { return needed_; }
  std::int64_t scratch_bytes() const { return scratch_bytes_; }
  void run(const OnednnContext& context, const void* from, void* to, void* scratch) const {
    call_.run(context, {from, to, scratch});
  }

 private:
  bool needed_ = false;
  std::int64_t scratch_bytes_ = 0;
  OnednnCall call_;
};

}  // namespace lethe
