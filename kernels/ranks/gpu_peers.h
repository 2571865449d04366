// The other ranks of one that trains on a GPU.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "framework/language/device_info.h"
#include "framework/ranks/peers.h"

namespace lethe {

/// Peers for values in the memory of an opened GPU, which each of the hosts calls at once, and whose stream they take
/// turns in. What is exchanged goes over a stream of its own, by NCCL, and is added up there. Fails with Exit::Device
/// if NCCL is not there, if two ranks have the same GPU, or if a rank does not come within `patience`; in
/// wait_for_device() if the stream does not come to its end within that and another host does not answer then, or not
/// within so many times of it.
std::unique_ptr<Peers> connect_gpus(const DeviceInfo& gpu, std::shared_ptr<Peers> hosts, std::chrono::seconds patience,
                                    int times = 10);

}  // namespace lethe
