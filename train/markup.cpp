#include "train/markup.h"

namespace lethe {

std::string markup(const std::string& text) {
  std::string all;
  for (const char c : text) switch (c) {
      case '&':
        all += "&amp;";
        break;
      case '<':
        all += "&lt;";
        break;
      case '>':
        all += "&gt;";
        break;
      case '"':
        all += "&quot;";
        break;
      default:
        all.push_back(c);
    }
  return all;
}

}  // namespace lethe
