#include "train/report/markup.h"

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

std::string filled(const std::string& form, const std::map<std::string, std::string>& texts) {
  std::string page;
  std::size_t at = 0;
  for (std::size_t open; (open = form.find("{{", at)) != std::string::npos;) {
    const std::size_t close = form.find("}}", open);
    page.append(form, at, open - at).append(texts.at(form.substr(open + 2, close - open - 2)));
    at = close + 2;
  }
  return page.append(form, at);
}

}  // namespace lethe
