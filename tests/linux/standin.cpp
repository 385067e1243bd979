// SPDX-License-Identifier: Apache-2.0
// A stand-in for the Linux kernel's driver of an Ethos-U, for LD_PRELOAD: the device
// /dev/accel/accel0 exists, and its jobs are executed by the simulator. The layouts are written out
// again from the kernel's header (docs/linux.md), and the checks are those of the kernel's driver.
//
//   LD_PRELOAD=libethosu_standin.so THIMBLE_STANDIN=ethos-u65-256[,FAULT] thimble run ...
//
// FAULT: `driver` another driver; `version` a later version of it; `timeout` jobs do not end;
// `refused` jobs are refused; `memory` buffers are refused; `sram` the NPU has 1 MiB of SRAM.

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/ethos_u/delegate/stream_scan.h"
#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/isa/registers.h"
#include "engines/ethos_u/sim/device.h"
#include "engines/ethos_u/sim/memory.h"

namespace {

namespace isa = thimble::ethos_u;
namespace reg = thimble::ethos_u::reg;
namespace sim = thimble::ethos_u::sim;

constexpr char kDevice[] = "/dev/accel/accel0";
constexpr uint64_t kOffsetUnit = uint64_t{1} << 32;  // the offset for mmap of handle 1
constexpr int kRegions = 8;
constexpr int kSram = 2;

struct Buffer {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  bool is_stream = false;
  int file = -1;
};

struct Npu {
  const isa::Config* config = nullptr;
  std::string fault;
  std::vector<uint8_t> sram;
  std::map<uint32_t, Buffer> buffers;
  uint32_t next = 1;
  int file = -1;
};

Npu& npu() {
  static Npu one;
  if (one.config == nullptr) {
    const char* const text = std::getenv("THIMBLE_STANDIN");
    const std::string words = text != nullptr ? text : "";
    const size_t comma = words.find(',');
    one.config = isa::find_config(words.substr(0, comma).c_str());
    if (comma != std::string::npos) one.fault = words.substr(comma + 1);
    if (one.config == nullptr) {
      std::fprintf(stderr, "standin: THIMBLE_STANDIN is not a configuration: '%s'\n",
                   words.c_str());
      std::abort();
    }
    if (one.fault == "sram") one.sram.resize(size_t{1} << 20);
  }
  return one;
}

int fail(int error) {
  errno = error;
  return -1;
}

template <class T>
T& word(void* arguments, size_t offset) {
  return *reinterpret_cast<T*>(static_cast<uint8_t*>(arguments) + offset);
}

uint32_t add_buffer(size_t bytes, bool is_stream) {
  Buffer buffer;
  buffer.bytes = (bytes + 4095) / 4096 * 4096;
  buffer.is_stream = is_stream;
  buffer.file = memfd_create("buffer", MFD_CLOEXEC);
  if (buffer.file < 0 || ftruncate(buffer.file, static_cast<off_t>(buffer.bytes)) != 0)
    std::abort();
  static const auto next =
      reinterpret_cast<void* (*)(void*, size_t, int, int, int, off_t)>(dlsym(RTLD_NEXT, "mmap"));
  buffer.data = static_cast<uint8_t*>(
      next(nullptr, buffer.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.file, 0));
  npu().buffers[npu().next] = buffer;
  return npu().next++;
}

int version(void* arguments) {  // struct drm_version
  const char* const name = npu().fault == "driver" ? "rocket" : "ethosu";
  word<int32_t>(arguments, 0) = npu().fault == "version" ? 2 : 1;
  const size_t room = word<size_t>(arguments, 16);
  char* const to = word<char*>(arguments, 24);
  if (to != nullptr) std::memcpy(to, name, room < std::strlen(name) ? room : std::strlen(name));
  word<size_t>(arguments, 16) = std::strlen(name);
  return 0;
}

int query(void* arguments) {  // type, size, pointer
  if (word<uint32_t>(arguments, 0) != 0 || word<uint32_t>(arguments, 4) < 12) return fail(EINVAL);
  const uint32_t info[] = {isa::id_word(npu().config->generation), isa::config_word(*npu().config),
                           static_cast<uint32_t>(npu().sram.size())};
  std::memcpy(reinterpret_cast<void*>(word<uint64_t>(arguments, 8)), info, sizeof info);
  return 0;
}

int create(void* arguments) {  // size, flags, handle
  const uint64_t bytes = word<uint64_t>(arguments, 0);
  if (bytes == 0 || word<uint32_t>(arguments, 8) > 1) return fail(EINVAL);
  if (npu().fault == "memory") return fail(ENOMEM);
  const uint32_t handle = add_buffer(bytes, false);
  word<uint64_t>(arguments, 0) = npu().buffers[handle].bytes;
  word<uint32_t>(arguments, 12) = handle;
  return 0;
}

int create_stream(void* arguments) {  // size, flags, data, handle, pad
  const uint32_t bytes = word<uint32_t>(arguments, 0);
  const void* const data = reinterpret_cast<const void*>(word<uint64_t>(arguments, 8));
  if (bytes == 0 || data == nullptr || word<uint32_t>(arguments, 20) != 0 ||
      word<uint32_t>(arguments, 4) != 0) {
    return fail(EINVAL);
  }
  const uint32_t handle = add_buffer(bytes, true);
  Buffer& buffer = npu().buffers[handle];
  std::memcpy(buffer.data, data, bytes);
  buffer.bytes = bytes;
  word<uint32_t>(arguments, 16) = handle;
  return 0;
}

/// Executes a job: stream, size of SRAM, a buffer for each region.
int run_job(const uint32_t* job) {
  const auto stream = npu().buffers.find(job[0]);
  if (stream == npu().buffers.end()) return fail(ENOENT);
  if (!stream->second.is_stream) return fail(EINVAL);
  if ((job[2 + kSram] != 0 && job[1] != 0) || job[1] > npu().sram.size()) return fail(EINVAL);
  const auto* const words = reinterpret_cast<const uint32_t*>(stream->second.data);
  size_t bytes = 0;
  const auto count = static_cast<uint32_t>(stream->second.bytes / 4);
  if (!sim::workspace_bytes(*npu().config, words, count, &bytes).none()) return fail(EINVAL);
  std::vector<uint8_t> workspace(bytes + 16);
  uint8_t* const aligned =
      workspace.data() + (16 - reinterpret_cast<uintptr_t>(workspace.data()) % 16) % 16;
  sim::Device device(*npu().config, aligned, bytes);
  namespace delegate = thimble::runtime::ethos_u;
  delegate::StreamFacts facts;
  const delegate::Bytes text = {stream->second.data, static_cast<uint32_t>(stream->second.bytes)};
  if (delegate::scan_stream(text, npu().config->generation == isa::Generation::kU85, facts) !=
      thimble::abi::Status::kOk) {
    return fail(EINVAL);
  }
  const auto base = [&](uint32_t offset, const void* data) {
    const auto address = reinterpret_cast<uintptr_t>(data);
    device.write(offset, static_cast<uint32_t>(address));
    device.write(offset + 4, static_cast<uint32_t>(static_cast<uint64_t>(address) >> 32));
  };
  device.write(reg::kReset, reg::kPrivileged);
  device.connect({stream->second.data, stream->second.bytes, true});
  for (uint32_t i = 0; i < kRegions; ++i) {
    const bool used = ((facts.reads | facts.writes) >> i & 1) != 0;
    if (job[2 + i] == 0 && used && !(i == kSram && job[1] != 0)) return fail(ENOENT);
    if (job[2 + i] == 0) continue;
    if (!used) return fail(EINVAL);
    const auto buffer = npu().buffers.find(job[2 + i]);
    if (buffer == npu().buffers.end()) return fail(ENOENT);
    if (buffer->second.is_stream) return fail(EINVAL);
    device.connect({buffer->second.data, buffer->second.bytes, false});
    base(reg::kBase0 + 8 * i, buffer->second.data);
  }
  if (job[1] != 0) {
    device.connect({npu().sram.data(), npu().sram.size(), false});
    base(reg::kBase0 + 8 * kSram, npu().sram.data());
  }
  base(reg::kQueueBase, words);
  device.write(reg::kQueueBytes, static_cast<uint32_t>(stream->second.bytes));
  device.write(reg::kCommand, reg::kRun);
  // The kernel signals the end of a failed job too.
  if ((device.read(reg::kStatus) & reg::kFaults) != 0) {
    std::fprintf(stderr, "standin: %s\n", device.fault().detail);
  }
  return 0;
}

int submit(void* arguments) {  // jobs, count, pad
  if (word<uint32_t>(arguments, 12) != 0 || npu().fault == "refused") return fail(EINVAL);
  const auto* const jobs = reinterpret_cast<const uint32_t*>(word<uint64_t>(arguments, 0));
  for (uint32_t i = 0; i < word<uint32_t>(arguments, 8); ++i) {
    if (run_job(jobs + (2 + kRegions) * i) != 0) return -1;
  }
  return 0;
}

int wait(void* arguments) {  // handle, pad, time
  if (word<uint32_t>(arguments, 4) != 0) return fail(EINVAL);
  if (npu().buffers.count(word<uint32_t>(arguments, 0)) == 0) return fail(ENOENT);
  return npu().fault == "timeout" ? fail(ETIME) : 0;
}

int map_offset(void* arguments) {  // handle, pad, offset
  if (word<uint32_t>(arguments, 4) != 0) return fail(EINVAL);
  if (npu().buffers.count(word<uint32_t>(arguments, 0)) == 0) return fail(ENOENT);
  word<uint64_t>(arguments, 8) = kOffsetUnit * word<uint32_t>(arguments, 0);
  return 0;
}

int close_buffer(void* arguments) {
  const auto found = npu().buffers.find(word<uint32_t>(arguments, 0));
  if (found == npu().buffers.end()) return fail(EINVAL);
  munmap(found->second.data, found->second.bytes);
  ::close(found->second.file);
  npu().buffers.erase(found);
  return 0;
}

int open_device(const char* path) {
  if (std::strcmp(path, kDevice) != 0) return fail(ENOENT);
  return npu().file = memfd_create("accel0", MFD_CLOEXEC);
}

bool is_device(const char* path) {
  return std::strncmp(path, "/dev/accel/", 11) == 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  if (is_device(path)) return open_device(path);
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  static const auto next =
      reinterpret_cast<int (*)(const char*, int, ...)>(dlsym(RTLD_NEXT, "open"));
  return next(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  if (is_device(path)) return open_device(path);
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  static const auto next =
      reinterpret_cast<int (*)(const char*, int, ...)>(dlsym(RTLD_NEXT, "open64"));
  return next(path, flags, mode);
}

int access(const char* path, int mode) noexcept {
  if (is_device(path)) return std::strcmp(path, kDevice) == 0 ? 0 : fail(ENOENT);
  static const auto next = reinterpret_cast<int (*)(const char*, int)>(dlsym(RTLD_NEXT, "access"));
  return next(path, mode);
}

int ioctl(int file, unsigned long request, ...) noexcept {
  va_list rest;
  va_start(rest, request);
  void* const arguments = va_arg(rest, void*);
  va_end(rest);
  if (std::getenv("THIMBLE_STANDIN") == nullptr || file != npu().file) {
    static const auto next =
        reinterpret_cast<int (*)(int, unsigned long, ...)>(dlsym(RTLD_NEXT, "ioctl"));
    return next(file, request, arguments);
  }
  // Direction, size of the argument, type, number: each must be that of the kernel.
  switch (request) {
    case 0xC0406400:
      return version(arguments);
    case 0x40086409:
      return close_buffer(arguments);
    case 0xC0106440:
      return query(arguments);
    case 0xC0106441:
      return create(arguments);
    case 0xC0106442:
      return wait(arguments);
    case 0xC0106443:
      return map_offset(arguments);
    case 0xC0186444:
      return create_stream(arguments);
    case 0xC0106445:
      return submit(arguments);
    default:
      return fail(ENOTTY);
  }
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  static const auto next =
      reinterpret_cast<void* (*)(void*, size_t, int, int, int, off_t)>(dlsym(RTLD_NEXT, "mmap"));
  if (std::getenv("THIMBLE_STANDIN") != nullptr && file >= 0 && file == npu().file) {
    const auto found =
        npu().buffers.find(static_cast<uint32_t>(static_cast<uint64_t>(offset) / kOffsetUnit));
    if (found == npu().buffers.end() || found->second.is_stream) {
      errno = EINVAL;
      return MAP_FAILED;
    }
    return next(address, bytes, protection, flags, found->second.file, 0);
  }
  return next(address, bytes, protection, flags, file, offset);
}

}  // extern "C"
