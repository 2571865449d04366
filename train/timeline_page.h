// The files timeline_page.html, .css and .js, as text in the program.
#pragma once

namespace lethe {

extern const char* const kTimelineHtml;
extern const char* const kTimelineCss;
extern const char* const kTimelineJs;

}  // namespace lethe
