// The way to the simulated GPU's streams for what computes on it: launches of the host shim, and the libraries.
#pragma once
#include <functional>

namespace lethe::simulated {

/// Work for a stream (a cudaStream_t), done when its turn has come and it suits the GPU. What `work` throws is a fault:
/// said on stderr, and the answer to every call from then on.
void submit(void* stream, std::function<void()> work);
/// The same of work that can be done once it is `ready`, which it is asked often.
void submit(void* stream, std::function<void()> work, std::function<bool()> ready);

/// The GPU that the calling thread has turned to, and that of a stream.
int current_gpu();
int gpu_of(void* stream);

/// Whether all of it is memory of the calling thread's GPU that is allocated.
bool is_device_memory(const void* memory, std::size_t bytes);

/// The GPU in cuDNN's words.
const char* properties();

}  // namespace lethe::simulated
