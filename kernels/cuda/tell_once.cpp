#include "kernels/cuda/tell_once.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

namespace lethe {

namespace {

std::function<void(const std::string&)>& listener_of_kernels() {
  static std::function<void(const std::string&)> listener = [](const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
  };
  return listener;
}

}  // namespace

void tell_to(std::function<void(const std::string&)> listener) { listener_of_kernels() = std::move(listener); }

void tell_once(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  if (told.insert(line).second) listener_of_kernels()(line);
}

}  // namespace lethe
