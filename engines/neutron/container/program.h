// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernel list for the Neutron NPU: kernels at planned addresses. In a delegate payload it replaces
// the vendor's microcode (docs/neutron.md, "Payload"). It has its own magic, so that the two cannot
// be confused. The first words are at the same positions as in the vendor's published header, so
// that one delegate and one driver interface support both.
//
// All numbers are little-endian. The program block contains Header, inputs, outputs (IoRecord),
// kernels (KernelRecord); sections start at multiples of 16. The weights block contains constants.
// All tensors are int8; a channels-last image is [N, H, W, C]. docs/neutron.md, "Program",
// describes each byte and the formula of each kernel.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engines/neutron/container/payload.h"

namespace thimble::neutron {

inline constexpr char kDelegateId[] = "ThimbleNeutronModel";
inline constexpr char kVendorDelegateId[] = "NeutronBackend";

inline constexpr uint32_t kMagic = abi::neutron::kKernelListMagic;
inline constexpr uint32_t kVendorMagic = abi::neutron::kMicrocodeMagic;
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kBlockAlignment = abi::neutron::kPayloadAlignment;
inline constexpr uint32_t kRankMax = 6;
inline constexpr uint32_t kIoMax = 127;  // inputs, and outputs; a limit of Thimble
inline constexpr uint32_t kKernelsMax = 4096;
inline constexpr uint32_t kOperandsMax = 2;
inline constexpr uint32_t kBytesMax = abi::neutron::kBlockMax;  // bound of any block and memory
inline constexpr uint32_t kAbsent = 0xFFFFFFFF;                 // offset of an absent constant

/// Type of a kernel: one row of kernels.def each.
enum class Kernel : uint8_t {
#define NEUTRON_KERNEL(name, number, operands, check, run) k##name = (number),
#include "engines/neutron/container/kernels.def"
#undef NEUTRON_KERNEL
};
constexpr bool is_elementwise(Kernel kernel) {
  return kernel >= Kernel::kAdd && kernel <= Kernel::kRescale;
}
/// Returns true for kernels that only copy a view to a view.
constexpr bool is_copy(Kernel kernel) {
  return kernel >= Kernel::kTranspose && kernel <= Kernel::kCopy;
}
/// Returns true for kernels that write an element after all reads of that element.
constexpr bool may_be_in_place(Kernel kernel) {
  return is_elementwise(kernel) || kernel == Kernel::kSoftmax;
}

/// Name of the function that a table contains, for reports only: kernels read the table.
enum class Function : uint8_t {
#define NEUTRON_TABLE_FUNCTION(name, number, text) k##name = (number),
#include "engines/neutron/container/functions.def"
#undef NEUTRON_TABLE_FUNCTION
};

enum class Memory : uint8_t {
  kNone = 0,
  kInput = 1,    // input View::index of the call; read only
  kOutput = 2,   // output View::index of the call; kernels may read what they wrote
  kScratch = 3,  // memory that belongs to the kernel list during a run
  kWeights = 4,  // the weights block
};

/// Elements of a tensor. Dimension k has dims[k] elements, strides[k] bytes apart. Stride 0 repeats
/// one element; a negative stride runs backward. Unused dimensions have extent 1 and stride 0.
struct View {
  Memory memory;
  uint8_t rank;     // 1 to kRankMax
  uint16_t index;   // kInput, kOutput: index of the input or output
  uint32_t offset;  // of element [0, 0, ...], in bytes
  uint32_t dims[kRankMax];
  int32_t strides[kRankMax];
};
static_assert(sizeof(View) == 56);

struct Header {
  uint32_t magic;           // word 0
  uint32_t version;         // 1
  uint32_t kernel_count;    // 2
  uint32_t io_offset;       // 3: inputs, then outputs
  uint32_t kernels_offset;  // 4
  uint32_t cycles;          // 5: estimated cycles of one run
  uint32_t program_bytes;   // 6: size of this block without padding
  uint32_t weight_bytes;    // 7: size of the weights block without padding
  uint32_t content_hash;    // 8: FNV-1a of the program (this field zero), then of the weights
  uint32_t scratch_bytes;   // 9: a multiple of 16
  uint32_t profile_bytes;   // 10: 16 per kernel plus 16, or 0
  uint32_t debug_bytes;     // 11: 0
  uint32_t prefetch_bytes;  // 12: SRAM for weights prefetched from flash; a multiple of 16
  uint32_t input_count;     // 13
  uint32_t output_count;    // 14
  uint32_t reserved;        // 15
};
static_assert(sizeof(Header) == 64 && offsetof(Header, scratch_bytes) == 36);

/// An input or output: a dense tensor, dims in logical order ([N, C, H, W]).
struct IoRecord {
  uint8_t rank;           // 1 to kRankMax
  uint8_t channels_last;  // 1: dimension 1 is innermost in memory
  uint16_t reserved;
  uint32_t dims[kRankMax];
  float scale;  // real = scale * (q - zero_point); 0: unknown
  int32_t zero_point;
  uint32_t bytes;
};
static_assert(sizeof(IoRecord) == 40);

/// Offsets are relative to the weights block; those of int32 data are multiples of 4; kAbsent: not
/// present. docs/neutron.md lists the constants of each kernel.
struct KernelRecord {
  Kernel kernel;
  Function function;  // names the function of `table`: kTable's own, or applied to each result
  uint8_t operand_count;
  uint8_t rounding;  // 0 double, 1 single (docs/numerics.md)
  uint8_t reduced;   // kReduce*: number of reduced dimensions
  uint8_t reserved0[3];
  uint16_t kernel_h, kernel_w;
  uint16_t stride_h, stride_w;
  uint16_t dilation_h, dilation_w;
  uint16_t pad_top, pad_left;  // padding at the end follows from the output's size
  int32_t a_zero_point, b_zero_point, y_zero_point;
  int32_t min, max;       // bounds of the result, before the table
  int32_t multiplier[3];  // scales of a, b, y; a single scale is [2]
  int32_t shift[3];       // scale = multiplier * 2^(shift - 31)
  uint32_t scale_count;   // entries of multipliers and shifts: 0, 1 or the number of channels
  uint32_t multipliers;   // int32 [scale_count]
  uint32_t shifts;        // int32 [scale_count]
  uint32_t weights;       // int8
  uint32_t bias;   // int32 [channels]; the correction for the input's zero point is not folded in
  uint32_t table;  // int8 [256]
  uint32_t data;   // int32: kMirrorPad before[rank]; kResize* the integer graph's tables
  int32_t fill;    // kPad: the value; kSoftmax: diff_min, smaller differences contribute 0
  uint32_t prefetch_from;   // [from, from + bytes) of the weights block is read from the prefetch
  uint32_t prefetch_bytes;  // memory, beginning at prefetch_to; 0 bytes: no prefetch;
  uint32_t prefetch_to;     // prefetch_from and prefetch_to are multiples of 16
  uint32_t macs;
  uint32_t cycles;  // estimated
  uint32_t reserved1;
  View operands[kOperandsMax];
  View output;
  View padded;  // kPad: the whole padded tensor, filled before the copy
};
static_assert(sizeof(KernelRecord) == 8 + 16 + 20 + 24 + 28 + 4 + 12 + 12 + 4 * 56);

enum class Status : uint8_t {
#define NEUTRON_STATUS(name, number, text) k##name = (number),
#include "engines/neutron/container/status.def"
#undef NEUTRON_STATUS
};

const char* status_text(Status status);
const char* kernel_name(Kernel kernel);        // "Conv2DStandard"
const char* function_name(Function function);  // "LOGISTIC"

/// Checks that every memory access of a run is inside the memories given by the header. `program`
/// and `weights` must be 16-byte aligned. If a kernel is invalid, `kernel` is its index.
[[nodiscard]] Status check(const uint8_t* program, uint32_t program_bytes, const uint8_t* weights,
                           uint32_t weight_bytes, uint32_t& kernel);

/// Checks header, inputs and outputs; sufficient for code that does not execute kernels.
[[nodiscard]] Status check_interface(const uint8_t* program, uint32_t program_bytes);

[[nodiscard]] uint32_t content_hash(const uint8_t* program, uint32_t program_bytes,
                                    const uint8_t* weights, uint32_t weight_bytes);

/// Read access to a program that check() has accepted.
class Program {
 public:
  explicit Program(const uint8_t* data = nullptr) : data_(data) {}
  [[nodiscard]] Header header() const { return read<Header>(0); }
  [[nodiscard]] IoRecord input(uint32_t index) const {
    return read<IoRecord>(header().io_offset + index * static_cast<uint32_t>(sizeof(IoRecord)));
  }
  [[nodiscard]] IoRecord output(uint32_t index) const {
    return input(header().input_count + index);
  }
  [[nodiscard]] KernelRecord kernel(uint32_t index) const {
    return read<KernelRecord>(header().kernels_offset +
                              index * static_cast<uint32_t>(sizeof(KernelRecord)));
  }

 private:
  template <class Record>
  [[nodiscard]] Record read(uint32_t offset) const {
    Record record;
    memcpy(&record, data_ + offset, sizeof record);
    return record;
  }
  const uint8_t* data_;
};

constexpr uint32_t aligned(uint32_t bytes, uint32_t to = kBlockAlignment) {
  return (bytes + to - 1) / to * to;
}

}  // namespace thimble::neutron
