#include "train/search/step_count.h"

#include <algorithm>
#include <map>

#include "framework/error.h"
#include "framework/language/launch_count.h"
#include "framework/language/op_def.h"
#include "framework/run/calls.h"

namespace lethe {
namespace {

/// A GPU's addresses without its memory.
class AddressesOnly final : public Device {
 public:
  explicit AddressesOnly(DeviceInfo info) : info_(std::move(info)) {}
  const DeviceInfo& info() const override { return info_; }
  void* allocate(std::int64_t bytes) override {
    if (bytes == 0) return nullptr;
    void* const address = reinterpret_cast<void*>(next_);
    next_ += static_cast<std::uintptr_t>(round_up(bytes, info_.alignment));
    return address;
  }
  void release(void*, std::int64_t) override {}
  void copy_in(void*, const void*, std::int64_t) override {}
  void copy_out(void*, const void*, std::int64_t) override {}
  void copy(void*, const void*, std::int64_t) override {}
  unsigned* tickets() override { return tickets_; }

 private:
  DeviceInfo info_;
  std::uintptr_t next_ = std::uintptr_t{1} << 40;
  unsigned* const tickets_ = static_cast<unsigned*>(allocate(kTickets * sizeof(unsigned)));
};

class Counter {
 public:
  explicit Counter(const Program& program) : program_(program) {}

  void add(const Call& call, const std::vector<KernelCall>& group) {
    const LaunchCount counting;
    call.kernel->run_group(group);
    CountRow& row = row_of(call);
    row.launches += counting.launches();
    row.calls += static_cast<std::int64_t>(group.size());
  }
  void add_work(const Call& call) {
    CountRow& row = row_of(call);
    row.flops += 2 * static_cast<double>(mult_adds_of(program_, *call.op));
    const auto once = static_cast<double>(bytes_moved(program_, *call.op));
    const auto again = static_cast<double>(call.kernel->bytes_again());
    row.bytes += once + again;
    row.own_bytes += (row.implementation.starts_with("own") ? once : 0) + again;
  }
  std::vector<CountRow> rows() const {
    std::vector<CountRow> rows;
    for (const auto& [kind, row] : by_kind_) rows.push_back(row);
    std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.bytes > b.bytes; });
    return rows;
  }

 private:
  CountRow& row_of(const Call& call) {
    const std::string implementation = call.kernel->implementation();
    CountRow& row = by_kind_[{call.op->type, implementation}];
    row.op = call.op->type;
    row.implementation = implementation;
    return row;
  }

  const Program& program_;
  std::map<std::pair<std::string, std::string>, CountRow> by_kind_;
};

}  // namespace

StepCount count_step(const ProgramSetting& setting, const DeviceInfo& gpu) {
  check(gpu.kind == DeviceKind::Cuda, "launches are those of a GPU; the device is ", gpu.name);
  Prepared prepared(gpu);
  const Planned planned = planned_program(setting, prepared);
  AddressesOnly device(gpu);
  Store store(device);
  store.add(planned.program);
  PlannedMemory memory(planned.program, planned.plan, store, nullptr);
  const Calls calls = make_calls(planned.program, planned.plan, prepared, memory, device);
  Counter counter(planned.program);
  const auto count_copy = [&](const Call& copy) {
    counter.add(copy, {{copy.kernel, copy.args}});
    counter.add_work(copy);
  };
  for (const Carries& carries : calls.carries) {
    std::for_each(carries.enter.begin(), carries.enter.end(), count_copy);
    for (const std::vector<Call>& leave : carries.leave) std::for_each(leave.begin(), leave.end(), count_copy);
  }
  for (const std::vector<Call>& block : calls.blocks)
    for (std::size_t i = 0; i < block.size();) {
      const Call& first = block[i];
      const std::vector<KernelCall> alone = {{first.kernel, first.args}};
      const std::vector<KernelCall>& group = first.group < 0 ? alone : calls.groups[first.group];
      if (first.kernel) counter.add(first, group);
      for (const std::size_t end = i + group.size(); i < end; ++i)
        if (first.kernel) counter.add_work(block[i]);
    }
  return {.rows = counter.rows(), .loops = planned.program.blocks.size() > 1};
}

}  // namespace lethe
