#include "kernels/cpu/onednn.h"

#include <string>

#include "framework/error.h"

namespace lethe {

dnnl::memory::data_type onednn_type(DType dtype) {
  check(dtype == DType::f32 || dtype == DType::bf16, "oneDNN: no ", name_of(dtype));
  return dtype == DType::f32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

namespace {

bool has(dnnl::cpu_isa needed) {
  const auto all = static_cast<unsigned>(dnnl::get_effective_cpu_isa()), asked = static_cast<unsigned>(needed);
  return (all & asked) == asked;  // each instruction set names all those that it goes beyond
}

/// Of code by its name; the general product multiplies tiles of bf16, too, without saying so.
bool may_have_tiles(const std::string& code) {
  return code.find("amx") != std::string::npos || code.find(":gemm:") != std::string::npos || code.starts_with("gemm:");
}

}  // namespace

bool onednn_multiplies_bf16() { return has(dnnl::cpu_isa::avx512_core_bf16); }

bool onednn_multiplies_tiles() { return has(dnnl::cpu_isa::avx512_core_amx); }

bool find_code(dnnl::primitive_desc& desc, bool tiles) {
  while (!tiles && may_have_tiles(desc.impl_info_str()))
    if (!desc.next_impl()) return false;
  return !std::string(desc.impl_info_str()).starts_with("ref");
}

dnnl::primitive_attr scratch_from_caller() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

OnednnCall::OnednnCall(const OnednnContext& context, const dnnl::primitive& primitive,
                       std::initializer_list<Argument> arguments)
    : primitive_(primitive) {
  for (const Argument& argument : arguments) {
    memories_.emplace_back();
    if (argument.desc.get_size() == 0) continue;
    memories_.back() = dnnl::memory(argument.desc, context.engine, DNNL_MEMORY_NONE);
    arguments_.push_back({argument.name, memories_.back().get()});
  }
}

void OnednnCall::run(const OnednnContext& context, std::initializer_list<const void*> addresses) const {
  auto memory = memories_.begin();
  for (const void* address : addresses) {
    if (*memory) dnnl_memory_set_data_handle(memory->get(), const_cast<void*>(address));
    ++memory;
  }
  const dnnl_status_t status = dnnl_primitive_execute(primitive_.get(), context.stream.get(),
                                                      static_cast<int>(arguments_.size()), arguments_.data());
  check_as(Exit::Internal, status == dnnl_success, "oneDNN: execution failed with status ", static_cast<int>(status));
}

OnednnReorder::OnednnReorder(const OnednnContext& context, const dnnl::memory::desc& from, const dnnl::memory::desc& to)
    : needed_(from != to) {
  if (!needed_) return;
  const dnnl::reorder::primitive_desc desc(context.engine, from, context.engine, to, scratch_from_caller());
  const dnnl::memory::desc scratch = desc.scratchpad_desc();
  scratch_bytes_ = static_cast<std::int64_t>(scratch.get_size());
  call_ = OnednnCall(context, dnnl::reorder(desc),
                     {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, scratch}});
}

}  // namespace lethe
