#include "kernels/cuda/nccl.h"

#include "framework/error.h"
#include "kernels/cuda/shared_library.h"

namespace lethe {
namespace {

constexpr int kLeastVersion = 21600;  // 2.16.0, of the first CUDA 12; it records what is sent between two ranks

std::string version_of_nccl(int version) {
  return message(version / 10000, '.', version / 100 % 100, '.', version % 100);
}

Nccl load_nccl() {
  const SharedLibrary library("NCCL, by which GPUs of several ranks exchange bytes,", "libnccl.so.2");
  Nccl n{};
  library.find(n.version, "ncclGetVersion");
  library.find(n.error_string, "ncclGetErrorString");
  int version = 0;
  n.version(&version);
  check_as(Exit::Device, version >= kLeastVersion, "NCCL is ", version_of_nccl(version), ", needed is ",
           version_of_nccl(kLeastVersion), " or later");
  library.find(n.last_error, "ncclGetLastError");
  library.find(n.make_id, "ncclGetUniqueId");
  library.find(n.join, "ncclCommInitRank");
  library.find(n.group_start, "ncclGroupStart");
  library.find(n.group_end, "ncclGroupEnd");
  library.find(n.send, "ncclSend");
  library.find(n.receive, "ncclRecv");
  library.find(n.async_error, "ncclCommGetAsyncError");
  library.find(n.destroy, "ncclCommDestroy");
  library.find(n.abort, "ncclCommAbort");
  return n;
}

}  // namespace

const Nccl& nccl() {
  static const Nccl loaded = load_nccl();
  return loaded;
}

void check_nccl(int result, const char* doing, ncclComm* comm) {
  if (result == kNcclSuccess) return;
  const char* const last = nccl().last_error(comm);
  std::string more = last ? last : "";
  for (char& c : more)
    if (c == '\n') c = ' ';
  fail_as(Exit::Device, "NCCL: ", doing, ": ", nccl().error_string(result), more.empty() ? "" : ": ", more);
}

}  // namespace lethe
