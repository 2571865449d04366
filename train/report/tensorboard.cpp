#include "train/report/tensorboard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "framework/error.h"
#include "train/session/atomic_file.h"

namespace lethe {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";
constexpr std::ptrdiff_t kDigits = 10;  // after it: the seconds since 1970, until 2286

/// A message of Protocol Buffers, field by field (https://protobuf.dev/programming-guides/encoding).
class Message {
 public:
  void add_int(int field, std::uint64_t value) { key(field, 0), varint(value); }
  void add_double(int field, double value) { key(field, 1), fixed(std::bit_cast<std::uint64_t>(value)); }
  void add_float(int field, float value) { key(field, 5), fixed(std::bit_cast<std::uint32_t>(value)); }
  void add_bytes(int field, std::string_view value) { key(field, 2), varint(value.size()), bytes_.append(value); }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, unsigned wire_type) { varint(static_cast<unsigned>(field) << 3 | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  template <class T>
  void fixed(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }

  std::string bytes_;
};

// Numbers of fields: tensorflow/core/util/event.proto and tensorflow/core/framework/summary.proto.
enum EventField { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7 };
enum SessionLogField { kStatus = 1 };
enum SummaryField { kValue = 1 };
enum ValueField { kTag = 1, kSimpleValue = 2 };
constexpr std::uint64_t kStart = 1;  // SessionLog.SessionStatus: what was written before of this step and later is void

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Message event(std::int64_t step) {
  Message made;
  made.add_double(kWallTime, seconds_now());
  made.add_int(kStep, static_cast<std::uint64_t>(step));
  return made;
}

void add_scalar(Message& summary, const Record& record, const char* column, double value) {
  Message scalar;
  scalar.add_bytes(kTag, message(record.split, '/', column));
  scalar.add_float(kSimpleValue, static_cast<float>(value));
  summary.add_bytes(kValue, scalar.bytes());
}

/// TensorBoard reads the files of a directory in the order of their names and goes back to none, so a new one stands
/// after all others, whatever the clock says.
std::string next_file(const std::string& directory) {
  auto number = static_cast<std::int64_t>(seconds_now());
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    std::int64_t there = 0;
    const char* const digits = name.data() + kPrefix.size();
    const char* const end = std::from_chars(digits, name.data() + name.size(), there).ptr;
    if (end - digits == kDigits) number = std::max(number, there + 1);
  }
  return (std::filesystem::path(directory) / message(kPrefix, number, ".lethe")).string();
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

/// Masks a checksum for data that hold checksums themselves, as tensorflow/core/lib/hash/crc32c.h does.
std::string masked(std::uint32_t crc) { return little_endian(std::rotr(crc, 15) + 0xa282ead8U, 4); }

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> rows{};
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      rows[i] = i;
      for (int bit = 0; bit < 8; ++bit) rows[i] = rows[i] >> 1 ^ (rows[i] & 1 ? 0x82f63b78U : 0);
    }
    return rows;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<std::uint8_t>(byte)) & 0xff];
  return ~crc;
}

std::string framed(std::string_view data) {
  const std::string length = little_endian(data.size(), 8);
  return length + masked(crc32c(length)) + std::string(data) + masked(crc32c(data));
}

EventFile::EventFile(const std::string& directory, std::optional<std::int64_t> resumed_at) {
  check_writable(directory);
  path_ = next_file(directory);
  file_.reset(std::fopen(path_.c_str(), "wx"));
  check(file_ != nullptr, path_, ": cannot be written: ", std::strerror(errno));
  Message version = event(0);
  version.add_bytes(kFileVersion, "brain.Event:2");
  write(version.bytes());
  Message log;
  log.add_int(kStatus, kStart);
  Message start = event(resumed_at ? *resumed_at + 1 : 0);
  start.add_bytes(kSessionLog, log.bytes());
  write(start.bytes());
}

void EventFile::append(const Record& record) {
  Message summary;
  add_scalar(summary, record, "loss", record.loss);
  if (record.accuracy) add_scalar(summary, record, "acc", *record.accuracy);
  add_scalar(summary, record, "lr", record.lr);
  add_scalar(summary, record, "ms", record.ms);
  add_scalar(summary, record, "mem_peak", static_cast<double>(record.mem_peak));
  Message all = event(record.step);
  all.add_bytes(kSummary, summary.bytes());
  write(all.bytes());
}

void EventFile::write(const std::string& event) {
  const std::string bytes = framed(event);
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size() && std::fflush(file_.get()) == 0;
  check_as(Exit::Data, written, path_, ": cannot be written: ", std::strerror(errno));
}

}  // namespace lethe
