// What a pass decided and why, for --print-log.
#pragma once
#include <string>
#include <vector>

#include "framework/error.h"

namespace lethe {

class Log {
 public:
  explicit Log(bool wanted = false) : wanted_(wanted) {}
  /// A line of these parts, unless nobody wants it.
  template <class... Parts>
  void add(const Parts&... parts) {
    if (wanted_) lines_.push_back(message(parts...));
  }
  bool wanted() const { return wanted_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  bool wanted_;
  std::vector<std::string> lines_;
};

}  // namespace lethe
