// Pages and pictures for a browser: the files of pages that are part of the program, text in them, and parts of SVG.
#pragma once
#include <map>
#include <string>

namespace lethe {

extern const char* const kPageCss;
extern const char* const kTimelineHtml;
extern const char* const kTimelineCss;
extern const char* const kTimelineJs;
extern const char* const kLrFindHtml;

/// Writes & < > " as entities, for HTML and for the labels of graphviz that are like it.
std::string markup(const std::string& text);

/// Replaces each {{name}} of the template by its text, which is not looked at again.
std::string filled(const std::string& form, const std::map<std::string, std::string>& texts);

/// A line of the class `name`.
std::string line(const char* name, double x1, double y1, double x2, double y2);
/// `anchor`: start, middle or end.
std::string label(const char* anchor, double x, double y, const std::string& text);
/// A round number of which at most five make `span`.
double tick_step(double span);

}  // namespace lethe
