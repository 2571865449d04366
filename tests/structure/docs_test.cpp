// The pages: lines that a reader can see whole, links that lead somewhere, and an index from which all are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> pages() {
  std::vector<std::string> found = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") found.push_back(fs::relative(entry.path(), kRoot).generic_string());
  std::sort(found.begin(), found.end());
  return found;
}

struct Line {
  int number;
  std::string text;
  bool printed;  // by the command that a comment above it names
};

/// What a page says in words, without code blocks and comments.
std::vector<Line> prose_of(const std::string& page) {
  std::vector<Line> prose;
  bool code = false, comment = false, printed = false;
  int number = 0;
  for (const std::string& line : lines_of(page)) {
    ++number;
    const auto has = [&](const char* mark) { return line.find(mark) != std::string::npos; };
    const bool fence = line.find_first_not_of(' ') == line.find("```") && has("```");
    if (fence && !comment) code = !code;
    if (!code && has("<!--")) comment = true;
    if (comment && has("-->")) printed = has("<!-- figures");
    if (!fence && !code && !comment) prose.push_back({number, line, printed});
    if (has("-->")) comment = false;
  }
  return prose;
}

/// The names by which GitHub knows a page's headings.
std::set<std::string> headings_of(const std::string& page) {
  std::set<std::string> names;
  for (const auto& [number, line, printed] : prose_of(page)) {
    const std::size_t from = line.find_first_not_of('#');
    if (from == 0 || from == std::string::npos || line[from] != ' ') continue;
    std::string name;
    for (const char c : line.substr(from + 1)) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      else if (c == ' ')
        name += '-';
    }
    names.insert(name);
  }
  return names;
}

struct Link {
  int line;
  std::string file, heading;  // the file relative to the root
};

std::vector<Link> links_of(const std::string& page) {
  static const std::regex link(R"(\]\(([^)\s#]*)(?:#([^)\s]*))?\))"), quoted("`[^`]*`");
  std::vector<Link> links;
  for (const auto& [number, line, printed] : prose_of(page)) {
    const std::string text = std::regex_replace(line, quoted, "code");
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string file = (*at)[1];
      if (file.find("://") != std::string::npos) continue;
      const fs::path to = file.empty() ? fs::path(page) : fs::path(page).parent_path() / file;
      links.push_back({number, to.lexically_normal().generic_string(), (*at)[2]});
    }
  }
  return links;
}

TEST(Docs, LinesAreAtMost120Characters) {
  for (const std::string& page : pages())
    for (const auto& [number, line, printed] : prose_of(page)) {
      const auto characters = std::count_if(line.begin(), line.end(),
                                            [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
      EXPECT_TRUE(printed || line.rfind('|', 0) == 0 || characters <= 120)
          << page << ':' << number << ": " << characters;
    }
}

TEST(Docs, LinksLeadToFilesAndHeadings) {
  int links = 0;
  for (const std::string& page : pages())
    for (const Link& link : links_of(page)) {
      ++links;
      const bool there = fs::exists(kRoot / link.file);
      EXPECT_TRUE(there) << page << ':' << link.line << ": no " << link.file;
      if (there && !link.heading.empty()) {
        EXPECT_EQ(headings_of(link.file).count(link.heading), 1U)
            << page << ':' << link.line << ": no heading '" << link.heading << "' in " << link.file;
      }
    }
  EXPECT_GT(links, 100);
}

TEST(Docs, EveryPageIsReachableFromTheIndex) {
  std::set<std::string> seen;
  std::vector<std::string> open = {"docs/README.md"};
  while (!open.empty()) {
    const std::string page = open.back();
    open.pop_back();
    if (!seen.insert(page).second || fs::path(page).extension() != ".md") continue;
    for (const Link& link : links_of(page))
      if (fs::exists(kRoot / link.file)) open.push_back(link.file);
  }
  for (const std::string& page : pages()) EXPECT_TRUE(page == "README.md" || seen.count(page) == 1) << page;
}

TEST(Docs, SourcesThatPagesNameExist) {
  static const std::regex named(
      "`((?:framework|kernels|ops|optimizer|memopt|models|train|tests|bench|examples|scripts)/"
      "[A-Za-z0-9_/.-]+\\.(?:h|cpp|py|json|sh))[` ]");
  int found = 0;
  for (const std::string& page : pages())
    for (const auto& [number, line, printed] : prose_of(page))
      for (std::sregex_iterator at(line.begin(), line.end(), named), end; at != end; ++at, ++found) {
        const std::string file = (*at)[1];
        EXPECT_TRUE(file.find("NAME") != std::string::npos || fs::exists(kRoot / file))
            << page << ':' << number << ": " << file;
      }
  EXPECT_GT(found, 100);
}

TEST(Docs, PagesThatSourcesNameExist) {
  static const std::regex named(R"(docs/[A-Za-z0-9_/-]+\.(?:md|py|svg))");
  std::vector<std::string> files = all_sources();
  for (const char* script :
       {"dev", "bench/run", "bench/plans.py", "scripts/changed_ops", "tests/bundle", "tests/compile_time/run",
        "tests/tutorial", "examples/draw_images.py", "examples/draw_masks.py"})
    files.emplace_back(script);
  int found = 0;
  for (const std::string& file : files)
    for (const std::string& line : lines_of(file))
      for (std::sregex_iterator at(line.begin(), line.end(), named), end; at != end; ++at, ++found)
        EXPECT_TRUE(fs::exists(kRoot / at->str())) << file << ": " << at->str();
  EXPECT_GT(found, 5);
}

}  // namespace
}  // namespace lethe::testing
