// Parts of pictures, as SVG.
#pragma once
#include <string>

namespace lethe {

/// A line of a class.
std::string line(const char* name, double x1, double y1, double x2, double y2);
/// `anchor`: start, middle or end.
std::string label(const char* anchor, double x, double y, const std::string& text);
/// A round number of which at most five make `span`.
double tick_step(double span);

}  // namespace lethe
