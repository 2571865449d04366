// libnccl as far as the project calls it: ranks, which are threads or processes of one machine, leave each other files
// in a folder whose name is the id. What a group receives it waits for in the stream, as the real one does.
#include "kernels/cuda/nccl.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/simulated/numbers.h"
#include "tests/simulated/submit.h"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace lethe::simulated {
namespace {

constexpr int kSystemError = 2, kInvalidArgument = 4, kRemoteError = 6;

/// What a rank has of all, which work that is under way needs for longer than the program may.
struct Rank {
  fs::path folder;
  int number = 0, of = 1;
  std::map<int, std::int64_t> sent = {}, received = {};  // messages so far, by the other rank
  bool aborted = false;

  fs::path file(int from, int to, std::int64_t message) const {
    std::ostringstream name;
    name << from << '-' << to << '-' << message;
    return folder / name.str();
  }
  fs::path own_file() const { return folder / ("rank" + std::to_string(number)); }
};

struct Call {
  bool sends;
  void* data;
  std::size_t bytes;
  int other;
};
struct Group {
  int depth = 0;
  std::shared_ptr<Rank> rank;
  void* stream = nullptr;
  std::vector<Call> calls;
};
thread_local Group group;

void send(Rank& rank, const Call& call) {
  const fs::path file = rank.file(rank.number, call.other, rank.sent[call.other]++);
  const fs::path half = file.string() + ".half";
  std::ofstream(half, std::ios::binary)
      .write(static_cast<const char*>(call.data), static_cast<std::streamsize>(call.bytes));
  fs::rename(half, file);
}

bool has_come(const Rank& rank, const std::vector<Call>& calls) {
  std::map<int, std::int64_t> next = rank.received;
  for (const Call& call : calls)
    if (!call.sends && !fs::exists(rank.file(call.other, rank.number, next[call.other]++))) return false;
  return true;
}

void receive(Rank& rank, const Call& call) {
  const fs::path file = rank.file(call.other, rank.number, rank.received[call.other]++);
  expect(fs::file_size(file) == call.bytes, "NCCL: as many bytes are received as sent");
  std::ifstream(file, std::ios::binary).read(static_cast<char*>(call.data), static_cast<std::streamsize>(call.bytes));
  fs::remove(file);
}

}  // namespace
}  // namespace lethe::simulated

using namespace lethe::simulated;

struct ncclComm {
  std::shared_ptr<lethe::simulated::Rank> rank;
};

extern "C" {

int ncclGetVersion(int* version) {
  *version = fails_at("nccl version") ? 21500 : 22304;
  return 0;
}
const char* ncclGetErrorString(int result) {
  return result == kSystemError   ? "unhandled system error"
         : result == kRemoteError ? "remote process exited"
                                  : "an error";
}
const char* ncclGetLastError(ncclComm*) { return "the simulated GPU\nfails"; }

int ncclGetUniqueId(lethe::NcclId* id) {
  std::string folder = (fs::temp_directory_path() / "simulated_nccl_XXXXXX").string();
  if (folder.size() >= sizeof id->bytes || !mkdtemp(folder.data())) return kSystemError;
  std::strcpy(id->bytes, folder.c_str());
  return 0;
}

int ncclCommInitRank(ncclComm** comm, int of, lethe::NcclId id, int number) {
  if (fails_at("nccl join")) return kSystemError;
  auto rank = std::make_shared<Rank>(Rank{.folder = id.bytes, .number = number, .of = of});
  std::ofstream(rank->own_file()) << number;
  for (int other = 0; other < of; ++other)
    while (!fs::exists(rank->folder / ("rank" + std::to_string(other)))) std::this_thread::sleep_for(1ms);
  *comm = new ncclComm{rank};
  return 0;
}

int ncclGroupStart() {
  ++group.depth;
  return 0;
}

static int add_call(ncclComm* comm, void* stream, const Call& call, int type) {
  const std::shared_ptr<Rank>& rank = comm->rank;
  const bool fits = type == lethe::kNcclBytes && call.other >= 0 && call.other < rank->of && call.other != rank->number;
  if (group.depth == 0 || !fits || !is_device_memory(call.data, call.bytes)) return kInvalidArgument;
  if (call.sends && fails_at("nccl send")) return kSystemError;
  group.rank = rank;
  group.stream = stream;
  group.calls.push_back(call);
  return 0;
}
int ncclSend(const void* from, std::size_t count, int type, int to_rank, ncclComm* comm, void* stream) {
  return add_call(comm, stream, {true, const_cast<void*>(from), count, to_rank}, type);
}
int ncclRecv(void* to, std::size_t count, int type, int from_rank, ncclComm* comm, void* stream) {
  return add_call(comm, stream, {false, to, count, from_rank}, type);
}

/// All is sent before anything is received: else two ranks would wait for each other.
int ncclGroupEnd() {
  if (--group.depth > 0) return 0;
  const std::shared_ptr<Rank> rank = std::move(group.rank);
  const std::vector<Call> calls = std::exchange(group.calls, {});
  if (calls.empty()) return 0;
  submit(group.stream, [rank, calls] {
    for (const Call& call : calls)
      if (call.sends && !rank->aborted) send(*rank, call);
  });
  submit(
      group.stream,
      [rank, calls] {
        for (const Call& call : calls)
          if (!call.sends && !rank->aborted) receive(*rank, call);
      },
      [rank, calls] { return rank->aborted || has_come(*rank, calls); });
  return 0;
}

int ncclCommGetAsyncError(ncclComm*, int* result) {
  *result = fails_at("nccl later") ? kRemoteError : 0;
  return 0;
}

int ncclCommDestroy(ncclComm* comm) {
  std::error_code still_used;
  fs::remove(comm->rank->own_file(), still_used);
  fs::remove(comm->rank->folder, still_used);  // by the last one
  delete comm;
  return 0;
}
int ncclCommAbort(ncclComm* comm) {
  comm->rank->aborted = true;
  return ncclCommDestroy(comm);
}

}  // extern "C"
