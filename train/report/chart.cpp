#include "train/report/chart.h"

#include <cmath>

#include "train/report/formatted.h"

namespace lethe {

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
