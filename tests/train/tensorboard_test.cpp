#include "train/report/tensorboard.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "framework/error.h"
#include "tests/train/file_limit.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

std::uint64_t little_endian_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes.at(at + i));
  return value;
}

/// crc32c as TensorFlow masks it, the other way round than the writer does it.
std::uint32_t unmasked(std::uint64_t stored) { return std::rotl(static_cast<std::uint32_t>(stored) - 0xa282ead8U, 15); }

/// The data of a file's records; every length and checksum must be right.
std::vector<std::string> unframed(const std::string& bytes) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = little_endian_at(bytes, at, 8);
    EXPECT_EQ(unmasked(little_endian_at(bytes, at + 8, 4)), crc32c(bytes.substr(at, 8)));
    all.push_back(bytes.substr(at + 12, size));
    EXPECT_EQ(unmasked(little_endian_at(bytes, at + 12 + size, 4)), crc32c(all.back()));
    at += size + 16;
  }
  return all;
}

/// Fields of a message by number: numbers as they are stored, strings and messages as bytes.
struct Fields {
  std::map<int, std::uint64_t> numbers;
  std::multimap<int, std::string> texts;

  explicit Fields(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const std::uint64_t key = varint(bytes, at);
      const int field = static_cast<int>(key >> 3);
      if (const unsigned type = key & 7; type == 0) {
        numbers[field] = varint(bytes, at);
      } else if (type == 2) {
        const std::size_t size = varint(bytes, at);
        texts.emplace(field, bytes.substr(at, size));
        at += size;
      } else {
        const std::size_t size = type == 1 ? 8 : 4;
        numbers[field] = little_endian_at(bytes, at, size);
        at += size;
      }
    }
  }

 private:
  static std::uint64_t varint(const std::string& bytes, std::size_t& at) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(bytes.at(at++));
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
};

class TensorBoard : public RunTest {
 protected:
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path("board"))) names.insert(entry.path().string());
    return names;
  }
  std::vector<std::string> events_of(const std::string& file) const { return unframed(bytes_in(file)); }
  static bool is_installed() { return std::system("python3 -c 'import tensorboard' >/dev/null 2>&1") == 0; }
  /// The scalars that TensorBoard shows, "tag step value" in each line.
  std::string read_back() const {
    const std::string command = "python3 " LETHE_SOURCE_DIR "/tests/train/read_events.py '" + path("board") + "' >'" +
                                path("shown") + "' 2>'" + path("said") + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << bytes_in(path("said"));
    return bytes_in(path("shown"));
  }
};

TEST_F(TensorBoard, TheChecksumIsThatOfRfc3720) {
  std::string up, down;
  for (int i = 0; i < 32; ++i) up.push_back(static_cast<char>(i)), down.push_back(static_cast<char>(31 - i));
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc32c(up), 0x46dd794eU);
  EXPECT_EQ(crc32c(down), 0x113fdb5cU);
}

TEST_F(TensorBoard, EventsHoldTheRecordsColumns) {
  EventFile file(path("board"), std::nullopt);
  file.append({.step = 300,
               .epoch = 2,
               .split = "eval",
               .loss = 0.25,
               .accuracy = 0.5,
               .lr = 0.125,
               .ms = 2,
               .mem_peak = 1024});
  const std::vector<std::string> events = events_of(*files().begin());
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(Fields(events[0]).texts.find(3)->second, "brain.Event:2");
  EXPECT_EQ(Fields(Fields(events[1]).texts.find(7)->second).numbers.at(1), 1U);
  EXPECT_EQ(Fields(events[1]).numbers.at(2), 0U);
  const Fields event(events[2]);
  EXPECT_GT(std::bit_cast<double>(event.numbers.at(1)), 1.6e9) << "seconds since 1970";
  EXPECT_EQ(event.numbers.at(2), 300U);
  std::map<std::string, float> scalars;
  const Fields summary(event.texts.find(5)->second);
  for (const auto& [field, bytes] : summary.texts) {
    const Fields value(bytes);
    scalars[value.texts.find(1)->second] = std::bit_cast<float>(static_cast<std::uint32_t>(value.numbers.at(2)));
  }
  EXPECT_EQ(
      scalars,
      (std::map<std::string, float>{
          {"eval/loss", 0.25F}, {"eval/acc", 0.5F}, {"eval/lr", 0.125F}, {"eval/ms", 2}, {"eval/mem_peak", 1024}}));
}

TEST_F(TensorBoard, EachEventIsInTheFileAtOnceAndWithoutAccuracyThereIsNone) {
  EventFile file(path("board"), std::nullopt);
  for (std::size_t n = 1; n < 4; ++n) {
    file.append({.step = static_cast<std::int64_t>(n)});
    EXPECT_EQ(events_of(*files().begin()).size(), n + 2);
  }
  EXPECT_EQ(bytes_in(*files().begin()).find("/acc"), std::string::npos);
}

TEST_F(TensorBoard, AResumedRunWritesAfterTheOtherFilesAndShadowsWhatItRepeats) {
  EventFile(path("board"), std::nullopt).append({.step = 10});
  const std::string first = *files().begin();
  std::filesystem::rename(first, path("board/events.out.tfevents.9000000000.elsewhere"));  // by a clock that is ahead
  EventFile(path("board"), 5).append({.step = 6});
  ASSERT_EQ(files().size(), 2U);
  const std::string second = path("board/events.out.tfevents.9000000001.lethe");
  ASSERT_EQ(files().count(second), 1U) << *files().rbegin();
  EXPECT_EQ(Fields(events_of(second).at(1)).numbers.at(2), 6U);
}

TEST_F(TensorBoard, ANameWithAnotherNumberThanATimeIsNoMatter) {
  const std::string odd = "events.out.tfevents.9223372036854775807";
  std::ofstream(path(odd)) << "";
  EventFile(home_.string(), std::nullopt);
  for (const auto& entry : std::filesystem::directory_iterator(home_))
    if (const std::string name = entry.path().filename().string(); name != odd && name != "small.json") {
      EXPECT_EQ(name.find(".lethe"), std::string_view("events.out.tfevents.").size() + 10) << name;
    }
}

TEST_F(TensorBoard, WhatCannotBeWrittenIsSaidInOneLine) {
  std::ofstream(path("file")) << "no directory";
  EXPECT_EQ(run_train(small({"--steps", "1", "--tensorboard", path("file")})).code, 2);
  EventFile file(path("board"), std::nullopt);
  const FileLimit full(static_cast<rlim_t>(bytes_in(*files().begin()).size()));
  try {
    file.append({.step = 1});
    ADD_FAILURE() << "written on a full disk";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, Exit::Data);
  }
}

using Scalars = std::map<std::pair<std::string, std::int64_t>, double>;  // by tag and step

Scalars scalars_in_csv(const std::string& csv) {
  Scalars all;
  std::istringstream rows(csv);
  std::string row;
  std::getline(rows, row);
  while (std::getline(rows, row)) {
    std::vector<std::string> cells;
    std::istringstream parts(row);
    for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
    const char* const names[] = {"loss", "acc", "lr", "ms", "mem_peak"};
    for (std::size_t i = 0; i < 5; ++i)
      all[{message(cells[2], '/', names[i]), std::stoll(cells[0])}] = std::stod(cells.at(3 + i));
  }
  return all;
}

/// Reads lines "tag step value".
Scalars scalars_shown(const std::string& text) {
  Scalars all;
  std::istringstream lines(text);
  std::int64_t step = 0;
  double value = 0;
  for (std::string tag; lines >> tag >> step >> value;)
    EXPECT_TRUE(all.insert({{tag, step}, value}).second) << tag << " has step " << step << " twice";
  return all;
}

TEST_F(TensorBoard, ItsOwnReaderShowsWhatTheCsvFileHasAfterAResume) {
  if (!is_installed()) GTEST_SKIP() << "python3 has no package tensorboard";
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--log-every", "2", "--eval-every", "4", "--metrics", path("m.csv"), "--tensorboard",
                             path("board"), "--save-every", "5", "--keep", "9"});
    const Ended ended = run_train(small(more));
    EXPECT_EQ(ended.code, 0) << ended.err;
  };
  run({"--steps", "13", "--save", path("run")});
  run({"--steps", "16", "--resume", path("run/step-000005")});
  const Scalars shown = scalars_shown(read_back()), written = scalars_in_csv(bytes_in(path("m.csv")));
  EXPECT_EQ(shown.size(), written.size());
  EXPECT_EQ(shown.count({"train/loss", 16}), 1U);
  for (const auto& [at, value] : written) {
    ASSERT_EQ(shown.count(at), 1U) << at.first << " has no step " << at.second;
    EXPECT_NEAR(shown.at(at), value, 1e-5 * value) << at.first << " at step " << at.second;
  }
}

}  // namespace
}  // namespace lethe::testing
