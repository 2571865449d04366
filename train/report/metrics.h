// Records of a run in files: CSV and JSON lines.
#pragma once
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "train/session/listener.h"

namespace lethe {

inline constexpr const char* kCsvHeader = "step,epoch,split,loss,acc,lr,ms,mem_peak,recorded";
std::string csv_row(const Record& record);
/// {"step":1,"epoch":1,"split":"train","loss":2.3,"acc":0.1,"lr":0.1,"ms":54,"mem_peak":1024,"recorded":true}; acc and
/// recorded null if there is none.
std::string json_line(const Record& record);

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// A file that records are appended to, each written out at once.
class RecordFile {
 public:
  virtual ~RecordFile() = default;
  virtual void append(const Record& record) = 0;
};

class MetricsFile : public RecordFile {
 public:
  enum class Form { Csv, Json };
  /// Begins the file anew; with `resumed_at` goes on in it after the records up to that step, of which none is lost
  /// whenever the process dies. Lines there that are no records are moved to FILE.bad, and one line to `notify` says
  /// so. Fails if it cannot be written.
  MetricsFile(std::string path, Form form, std::optional<std::int64_t> resumed_at,
              const std::function<void(const std::string& line)>& notify = {});
  void append(const Record& record) override;

 private:
  void write(const std::string& line);

  std::string path_;
  Form form_;
  std::unique_ptr<std::FILE, CloseFile> file_;
};

}  // namespace lethe
