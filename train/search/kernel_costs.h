// What the kernels of a device take, measured one by one.
#pragma once
#include <string>

#include "framework/run/device.h"
#include "framework/run/prepared.h"
#include "memopt/recompute/seconds.h"
#include "train/session/settings.h"

namespace lethe {

/// Seconds of the fastest of a few runs of the op's kernel, on memory of its own, with inputs of zeros; lengths of
/// samples are whole. `prepared` is for the device. Fails if the device has no room.
double seconds_of_kernel(Device& device, Prepared& prepared, const Program& program, const Op& op);

/// Whether `costs` is what a kind of processors is called, of which costs are shipped or not, and no file.
bool is_processor(const std::string& costs);
/// Of a kind of processors (train/search/processor_costs.h). Fails if there are none of it, or the device is a GPU.
SecondsOf shipped_costs(const std::string& processor, const DeviceSetting& device);

/// Seconds of ops on the device. Known ones are read from `file`, a JSON file, if it is there; each other kernel is
/// measured when it is asked for, as above, and the file then holds it, too. Fails if it cannot be written,
/// if the device is described only, if the file holds no such costs, and if they were measured on another processor,
/// device or number of threads, or under other settings of the device.
SecondsOf measured_costs(const DeviceSetting& device, const std::string& file);

}  // namespace lethe
