#include "kernels/cuda/cudnn_graph.h"

#include <algorithm>
#include <array>

#include "framework/error.h"
#include "kernels/cuda/shared_library.h"

namespace lethe {
namespace {

Cudnn load() {
  const SharedLibrary library("cuDNN 9", "libcudnn.so.9");
  Cudnn c{};
  library.find(c.version, "cudnnGetVersion");
  library.find(c.error_string, "cudnnGetErrorString");
  library.find(c.last_error_string, "cudnnGetLastErrorString");
  library.find(c.create, "cudnnCreate");
  library.find(c.destroy, "cudnnDestroy");
  library.find(c.set_stream, "cudnnSetStream");
  library.find(c.create_descriptor, "cudnnBackendCreateDescriptor");
  library.find(c.destroy_descriptor, "cudnnBackendDestroyDescriptor");
  library.find(c.set_attribute, "cudnnBackendSetAttribute");
  library.find(c.get_attribute, "cudnnBackendGetAttribute");
  library.find(c.finalize, "cudnnBackendFinalize");
  library.find(c.execute, "cudnnBackendExecute");
  return c;
}

}  // namespace

const Cudnn& cudnn() {
  static const Cudnn loaded = load();
  return loaded;
}

void check_cudnn(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 1024> more{};
  cudnn().last_error_string(more.data(), more.size());
  std::replace(more.begin(), more.end(), '\n', ' ');
  fail_as(Exit::Device, "cuDNN: ", what, ": ", cudnn().error_string(status), more[0] ? ": " : "", more.data());
}

std::string describe_gpu(int index) {
  const auto id = static_cast<std::int32_t>(index);
  CudnnDescriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &id);
  device.finalize("a GPU's properties");
  const auto read = [&](std::int64_t room, std::int64_t& count, char* to) {
    check_cudnn(cudnn().get_attribute(device.raw(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, room,
                                      &count, to),
                "a GPU's description");
  };
  std::int64_t length = 0;
  read(0, length, nullptr);
  std::string json(static_cast<std::size_t>(length), '\0');
  read(length, length, json.data());
  return json.substr(0, json.find('\0'));
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  check_cudnn(cudnn().create_descriptor(type, &raw_), "descriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (raw_) cudnn().destroy_descriptor(raw_);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                          const void* values) {
  check_cudnn(cudnn().set_attribute(raw_, name, type, count, values), "attribute");
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
  set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
  set(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
  const cudnnBackendDescriptor_t raw = value.raw();
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
}

void CudnnDescriptor::finalize(const char* what) { check_cudnn(cudnn().finalize(raw_), what); }

std::int64_t CudnnDescriptor::integer(cudnnBackendAttributeName_t name) const {
  std::int64_t value = 0, count = 0;
  check_cudnn(cudnn().get_attribute(raw_, name, CUDNN_TYPE_INT64, 1, &count, &value), "integer");
  return value;
}

}  // namespace lethe
