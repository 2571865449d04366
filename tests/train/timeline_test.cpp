// `train timeline`: the page shows the plan, needs nothing else, and takes names as text.
#include "train/report/timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/train/run_fixture.h"
#include "train/recipe.h"
#include "train/session/device.h"

namespace lethe::testing {
namespace {

using Json = nlohmann::json;

Timeline timeline_for(std::vector<std::string> args) {
  args.insert(args.begin(), {"timeline", "--out", "page.html"});
  const Options options = decided(parse_options(args));
  return timeline_of(options.program, device_info(options.device));
}

/// A value as the page reads it.
struct Box {
  std::int64_t bytes, born, until, offset;
  explicit Box(const Json& v) : bytes(v[2]), born(v[3]), until(v[4]), offset(v[6]) {}
  bool meets(const Box& other) const {
    return born < other.until && other.born < until && offset < other.offset + other.bytes &&
           other.offset < offset + bytes;
  }
};

std::vector<Box> boxes_of(const Json& setting) {
  std::vector<Box> boxes;
  for (const Json& value : setting["values"]) boxes.emplace_back(value);
  return boxes;
}

std::vector<std::int64_t> needed_by_step(const Json& setting) {
  std::vector<std::int64_t> needed(setting["ops"].size());
  for (const Box& box : boxes_of(setting))
    for (std::int64_t s = box.born; s < box.until; ++s) needed.at(static_cast<std::size_t>(s)) += box.bytes;
  return needed;
}

TEST(Timeline, ValuesOnTheMapNeverMeet) {
  for (const char* mode : {"--batch=2", "--eval"}) {
    const Json page = Json::parse(timeline_json(timeline_for({"--model", "resnet20", mode})));
    for (const Json& setting : page["settings"]) {
      std::vector<Box> mapped = boxes_of(setting);
      mapped.erase(std::remove_if(mapped.begin(), mapped.end(), [](const Box& box) { return box.offset < 0; }),
                   mapped.end());
      ASSERT_GT(mapped.size(), 30U);
      for (std::size_t a = 0; a < mapped.size(); ++a) {
        EXPECT_LE(mapped[a].offset + mapped[a].bytes, setting["span"].get<std::int64_t>());
        for (std::size_t b = 0; b < a; ++b)
          EXPECT_FALSE(mapped[a].meets(mapped[b])) << mode << " " << setting["memopt"] << ": " << a << " and " << b;
      }
    }
  }
}

TEST(Timeline, TheStackIsHighestAtThePeakAndNeverAboveWhatIsHeld) {
  const Timeline timeline = timeline_for({"--model", "lenet"});
  const Json page = Json::parse(timeline_json(timeline));
  ASSERT_EQ(page["settings"].size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& setting = page["settings"][i];
    EXPECT_EQ(setting["memopt"], std::vector<std::string>({"none", "level=1", "level=2"})[i]);
    EXPECT_EQ(setting["bytes"], timeline.settings[i].planned.plan.bytes.total());
    const std::vector<std::int64_t> needed = needed_by_step(setting);
    const std::int64_t highest = *std::max_element(needed.begin(), needed.end());
    EXPECT_EQ(needed.at(setting["peak"].get<std::size_t>()), highest);
    EXPECT_EQ(highest, timeline.settings[i].peak.total() - timeline.settings[i].peak.idle);
    EXPECT_LE(highest, setting["bytes"].get<std::int64_t>());
  }
}

TEST(Timeline, NamesAreTextInThePage) {
  Timeline timeline = timeline_for({"--model", "lenet", "--batch", "1"});
  const std::string name = "</script><img src=x onerror=alert(1)>{{script}}\xff";
  timeline.title = name;
  for (TimelineSetting& setting : timeline.settings) setting.planned.program.vars[0].name = name;
  const std::string page = timeline_page(timeline);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = page.find("</script>", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(ends, 2U) << "of the data and of the script";
  const std::string shown = Json::parse(timeline_json(timeline))["vars"][0][0];
  EXPECT_EQ(shown.substr(0, name.size() - 1), name.substr(0, name.size() - 1));
}

TEST(Timeline, ThePageNeedsNothingElseAndStaysSmall) {
  const std::string page = timeline_page(timeline_for({"--model", "resnet110"}));
  for (const char* outside : {"://", "src=\"", "url(", "@import", "fetch("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_EQ(page.find("{{"), std::string::npos);
  EXPECT_NE(page.find("<title>Memory of resnet110, training, batch 128, f32</title>"), std::string::npos);
  EXPECT_LT(page.size(), 2U << 20);
}

class TimelineCommand : public RunTest {};

TEST_F(TimelineCommand, WritesOneFile) {
  const Ended ended = run_train({"timeline", "--model", path("small.json"), "--out", path("page.html")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(bytes_in(path("page.html")).find("<title>Memory of small, training, batch 16, f32</title>"),
            std::string::npos);
  EXPECT_EQ(bytes_in(path("page.html")).substr(bytes_in(path("page.html")).size() - 8), "</html>\n");
}

TEST_F(TimelineCommand, RefusesInOneLineAndLeavesNothing) {
  const auto expect_refused = [](const std::vector<std::string>& args, int code, const std::string& part) {
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  };
  expect_refused({"timeline", "--model", path("small.json")}, 2, "--out");
  expect_refused({"timeline", "--model", "lenett", "--out", path("page.html")}, 2, "lenet");
  expect_refused({"timeline", "--model", "lenet", "--out", path("none/page.html")}, 4, "none/page.html");
  expect_refused({"timeline", "--model", "lenet", "--out", "/dev/null/page.html"}, 4, "/dev/null/page.html");
  expect_refused({"timeline", "--model", "lenet", "--out", home_.string()}, 4, home_.string());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(home_), {}), 1) << "more than small.json is left";
}

TEST_F(TimelineCommand, LeavesNothingHalfWritten) {
  TrainProcess process({"timeline", "--model", "lenet", "--out", path("page.html")}, {.file = 8192});
  EXPECT_EQ(process.wait().code, 4);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(home_), {}), 1) << "more than small.json is left";
}

}  // namespace
}  // namespace lethe::testing
