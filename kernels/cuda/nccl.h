// NCCL, loaded when first asked for. What is called of it is declared here, so that building needs no header of it.
#pragma once
#include <cstddef>
#include <string>

struct ncclComm;

namespace lethe {

/// By which ranks find each other: one makes it, all are given it.
struct NcclId {
  char bytes[128];
};

inline constexpr int kNcclSuccess = 0, kNcclInProgress = 7;  // of ncclResult_t
inline constexpr int kNcclBytes = 1;                         // ncclUint8 of ncclDataType_t

/// What is called of libnccl; streams are cudaStream_t, results ncclResult_t.
struct Nccl {
  int (*version)(int* version);
  const char* (*error_string)(int result);
  const char* (*last_error)(ncclComm* comm);
  int (*make_id)(NcclId* id);
  int (*join)(ncclComm** comm, int ranks, NcclId id, int rank);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void* from, std::size_t count, int type, int to_rank, ncclComm* comm, void* stream);
  int (*receive)(void* to, std::size_t count, int type, int from_rank, ncclComm* comm, void* stream);
  int (*async_error)(ncclComm* comm, int* result);
  int (*destroy)(ncclComm* comm);
  int (*abort)(ncclComm* comm);
};
/// Fails with Exit::Device if there is none, or one that is too old.
const Nccl& nccl();
/// Fails with NCCL's words; `comm` may be null.
void check_nccl(int result, const char* doing, ncclComm* comm = nullptr);

}  // namespace lethe
