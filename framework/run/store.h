// Params and States on a device, by name. Training and evaluation are two Programs over one Store.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "framework/language/layer.h"
#include "framework/language/program.h"
#include "framework/run/device.h"

namespace lethe {

class Store {
 public:
  explicit Store(Device& device) : device_(device) {}

  /// Memory for every Param and State of the program that is not there yet; fails if one is there in another shape.
  void add(const Program& program);
  /// Sets initial values of those that `params` names; all others are zero. Where one of several ranks has a share of
  /// one already, that is what it gets.
  void initialize(const Program& program, const std::vector<ParamInfo>& params, std::uint64_t seed);

  bool has(const std::string& name) const { return entries_.count(name) != 0; }
  const Var& var(const std::string& name) const { return entry(name).var; }
  void* data(const std::string& name) const { return entry(name).memory.data(); }
  std::vector<std::string> names() const;  // sorted
  /// Host copies in memory layout: `bytes_of(var)` bytes.
  std::vector<std::byte> read(const std::string& name) const;
  void write(const std::string& name, const void* data, std::int64_t bytes);
  /// The same of a var of which this rank may have a share alone (framework/ranks/peers.h), of which all ranks read
  /// together.
  std::vector<std::byte> read_whole(const Var& whole) const;
  void write_whole(const Var& whole, const void* data);
  std::int64_t bytes(Kind kind) const;
  Device& device() const { return device_; }

 private:
  struct Entry {
    Var var;
    Buffer memory;
  };
  const Entry& entry(const std::string& name) const;
  void add(const Var& var);
  bool has_share(const Var& whole) const { return bytes_of(entry(whole.name).var) != bytes_of(whole); }

  Device& device_;
  std::map<std::string, Entry> entries_;
};

}  // namespace lethe
