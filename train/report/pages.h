// The files of pages for a browser, as text in the program: page.css is of all of them.
#pragma once

namespace lethe {

extern const char* const kPageCss;
extern const char* const kTimelineHtml;
extern const char* const kTimelineCss;
extern const char* const kTimelineJs;
extern const char* const kLrFindHtml;

}  // namespace lethe
