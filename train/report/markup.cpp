#include "train/report/markup.h"

#include <cmath>

#include "framework/formatted.h"

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

std::string line(const char* name, double x1, double y1, double x2, double y2) {
  return formatted(R"(<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>)", name, x1, y1, x2, y2) + "\n";
}

std::string label(const char* anchor, double x, double y, const std::string& text) {
  return formatted(R"(<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>)", x, y, anchor, text.c_str()) + "\n";
}

double tick_step(double span) {
  double step = std::pow(10, std::floor(std::log10(span / 5)));
  for (const double factor : {2.0, 2.5, 2.0})
    if (span / step > 5) step *= factor;
  return step;
}

}  // namespace lethe
