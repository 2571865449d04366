#include "kernels/cuda/shared_library.h"

#include <dlfcn.h>

#include "framework/error.h"

namespace lethe {

SharedLibrary::SharedLibrary(std::string what, const std::string& file)
    : what_(std::move(what)), handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  check_as(Exit::Device, handle_, what_, " cannot be loaded: ", handle_ ? "" : dlerror());
}

void* SharedLibrary::address(const char* name) const {
  void* const found = dlsym(handle_, name);
  check_as(Exit::Device, found != nullptr, what_, " has no function ", name, ": too old");
  return found;
}

}  // namespace lethe
