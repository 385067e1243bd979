// SPDX-License-Identifier: Apache-2.0
// Checks the header, the sections, inputs and outputs of a kernel list.

#include "engines/neutron/container/program.h"
#include "engines/neutron/container/view.h"

namespace thimble::neutron {
namespace {

/// Returns true if sections are consecutive, with gaps only for their alignment.
bool has_sections(const Header& header) {
  const uint32_t tensors = header.input_count + header.output_count;
  const uint32_t kernels =
      aligned(static_cast<uint32_t>(sizeof(Header) + tensors * sizeof(IoRecord)));
  const uint32_t end = kernels + header.kernel_count * static_cast<uint32_t>(sizeof(KernelRecord));
  return header.io_offset == sizeof(Header) && header.kernels_offset == kernels &&
         header.program_bytes == end;
}

Status check_header(const uint8_t* program, uint32_t program_bytes, Header& header) {
  if (reinterpret_cast<uintptr_t>(program) % kBlockAlignment != 0) return Status::kMisaligned;
  if (program_bytes < sizeof(Header)) return Status::kTruncated;
  memcpy(&header, program, sizeof header);
  if (header.magic != kMagic) return Status::kNoProgram;
  if (header.version != kVersion) return Status::kBadVersion;
  const bool counts = header.kernel_count != 0 && header.kernel_count <= kKernelsMax &&
                      header.input_count <= kIoMax && header.output_count != 0 &&
                      header.output_count <= kIoMax;
  const bool sizes = header.weight_bytes <= kBytesMax && header.scratch_bytes <= kBytesMax &&
                     header.prefetch_bytes <= kBytesMax &&
                     (header.scratch_bytes | header.prefetch_bytes) % kBlockAlignment == 0;
  const bool profile = header.profile_bytes == 0 ||
                       header.profile_bytes == kBlockAlignment * (header.kernel_count + 1);
  const bool spare = header.debug_bytes == 0 && header.reserved == 0;
  if (!counts || !sizes || !profile || !spare || !has_sections(header)) return Status::kBadHeader;
  return header.program_bytes <= program_bytes ? Status::kOk : Status::kTruncated;
}

/// Returns true for 0 and for positive finite numbers. Tests the bits, so that cores without an FPU
/// need no floating-point code.
bool is_scale(float scale) {
  uint32_t bits;
  memcpy(&bits, &scale, sizeof bits);
  constexpr uint32_t kInfinity = 0x7F800000;
  return bits < kInfinity;
}

bool is_io(const IoRecord& io) {
  if (io.rank == 0 || io.rank > kRankMax || io.reserved != 0) return false;
  uint64_t bytes = 1;
  for (uint32_t k = 0; k < kRankMax; ++k) {
    if (io.dims[k] == 0 || io.dims[k] > kBytesMax || (k >= io.rank && io.dims[k] != 1)) {
      return false;
    }
    bytes = limited_product(bytes, io.dims[k]);
  }
  const bool order = io.channels_last == 0 || (io.channels_last == 1 && io.rank >= 3);
  return order && bytes <= kBytesMax && bytes == io.bytes && is_scale(io.scale) &&
         io.zero_point == static_cast<int8_t>(io.zero_point);
}

}  // namespace

Status check_interface(const uint8_t* program, uint32_t program_bytes) {
  Header header;
  const Status status = check_header(program, program_bytes, header);
  if (status != Status::kOk) return status;
  const Program list(program);
  for (uint32_t i = 0; i < header.input_count + header.output_count; ++i) {
    if (!is_io(list.input(i))) return Status::kBadIo;
  }
  return Status::kOk;
}

}  // namespace thimble::neutron
