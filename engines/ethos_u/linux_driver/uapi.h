// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of the Linux kernel's accelerator driver `ethosu`: request numbers and layouts of
// their arguments, as far as Npu uses them. Source: include/uapi/drm/ethosu_accel.h of the mainline
// kernel, and include/uapi/drm/drm.h for those of all drivers (docs/linux.md); the names there are
// in the comments.

#include <stddef.h>
#include <stdint.h>

#include <linux/ioctl.h>

namespace thimble::linux_npu {

/// Name and version in the result of kRequestVersion.
inline constexpr char kDriverName[] = "ethosu";
inline constexpr int kDriverMajor = 1;

/// Region that the driver maps to the NPU's SRAM if a job has no buffer for it.
inline constexpr uint32_t kSramRegion = 2;
inline constexpr uint32_t kRegions = 8;

struct Version {  // drm_version
  int major, minor, patch;
  size_t name_bytes;
  char* name;
  size_t date_bytes;
  char* date;
  size_t text_bytes;
  char* text;
};
struct CloseBuffer {  // drm_gem_close
  uint32_t handle;
  uint32_t zero;
};
struct NpuInfo {  // drm_ethosu_npu_info
  uint32_t id;    // register ID
  uint32_t config;
  uint32_t sram_bytes;
};
struct Query {  // drm_ethosu_dev_query
  uint32_t type;
  uint32_t bytes;
  uint64_t result;  // address of a NpuInfo
};
inline constexpr uint32_t kQueryNpu = 0;

struct CreateBuffer {  // drm_ethosu_bo_create
  uint64_t bytes;      // in: requested; out: whole pages
  uint32_t flags;
  uint32_t handle;  // out
};
struct WaitForBuffer {  // drm_ethosu_bo_wait
  uint32_t handle;
  uint32_t zero;
  int64_t until_ns;  // of CLOCK_MONOTONIC
};
struct MapBuffer {  // drm_ethosu_bo_mmap_offset
  uint32_t handle;
  uint32_t zero;
  uint64_t offset;  // out: for mmap
};
struct CreateStream {  // drm_ethosu_cmdstream_bo_create
  uint32_t bytes;
  uint32_t flags;
  uint64_t data;
  uint32_t handle;  // out
  uint32_t zero;
};
struct JobDescription {  // drm_ethosu_job
  uint32_t stream;       // handle
  uint32_t sram_bytes;
  uint32_t regions[kRegions];  // handles; 0: the stream does not use the region, or uses the SRAM
};
struct Submit {   // drm_ethosu_submit
  uint64_t jobs;  // address of JobDescriptions
  uint32_t count;
  uint32_t zero;
};
static_assert(sizeof(NpuInfo) == 12 && sizeof(Query) == 16 && sizeof(CreateBuffer) == 16 &&
              sizeof(WaitForBuffer) == 16 && sizeof(MapBuffer) == 16 &&
              sizeof(CreateStream) == 24 && sizeof(JobDescription) == 40 && sizeof(Submit) == 16);

inline constexpr unsigned long kRequestVersion = _IOWR('d', 0x00, Version);
inline constexpr unsigned long kRequestClose = _IOW('d', 0x09, CloseBuffer);
// The requests of a driver begin at 0x40, in this order.
inline constexpr unsigned long kRequestQuery = _IOWR('d', 0x40 + 0, Query);
inline constexpr unsigned long kRequestCreateBuffer = _IOWR('d', 0x40 + 1, CreateBuffer);
inline constexpr unsigned long kRequestWait = _IOWR('d', 0x40 + 2, WaitForBuffer);
inline constexpr unsigned long kRequestMap = _IOWR('d', 0x40 + 3, MapBuffer);
inline constexpr unsigned long kRequestCreateStream = _IOWR('d', 0x40 + 4, CreateStream);
inline constexpr unsigned long kRequestSubmit = _IOWR('d', 0x40 + 5, Submit);

}  // namespace thimble::linux_npu
