// A library that is loaded when it is first asked for, so that one program serves machines with and without it.
#pragma once
#include <string>

namespace lethe {

class SharedLibrary {
 public:
  /// Fails with Exit::Device, naming `what`, if the dynamic linker does not find it. It stays loaded to the end of the
  /// process.
  SharedLibrary(std::string what, const std::string& file);

  /// Sets `function` to the library's of that name; fails if it has none.
  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(address(name));
  }

 private:
  void* address(const char* name) const;

  std::string what_;
  void* handle_ = nullptr;
};

}  // namespace lethe
