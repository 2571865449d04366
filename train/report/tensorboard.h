// Records of a run as TensorBoard reads them: event files, `events.out.tfevents.*`.
#pragma once
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "train/report/metrics.h"

namespace lethe {

/// The Castagnoli checksum of RFC 3720, appendix B.4.
std::uint32_t crc32c(std::string_view bytes);

/// A record of an event file: {u64 length, u32 masked crc32c of the length, data, u32 masked crc32c of the data}, all
/// little-endian (tensorflow/core/lib/io/record_writer.h).
std::string framed(std::string_view data);

/// A new event file in a directory. Scalars are called by split and column: train/loss, train/acc, train/lr, train/ms,
/// train/mem_peak and eval/...; they are f32, as the format has it.
class EventFile : public RecordFile {
 public:
  /// Makes the directory if need be. What is in its event files counts no longer, or with `resumed_at` as far as steps
  /// up to that one. Fails with Exit::Usage if the directory cannot be written.
  EventFile(const std::string& directory, std::optional<std::int64_t> resumed_at);
  void append(const Record& record) override;

 private:
  void write(const std::string& event);

  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
};

}  // namespace lethe
