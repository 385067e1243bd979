#pragma once
// A partition for the Neutron NPU as Thimble stores it: a list of kernels on planned addresses. It
// takes the place that the vendor's microcode has in a delegate payload (docs/neutron.md,
// "Payload") and has its own magic, so that neither is ever taken for the other. The first words
// stand where the vendor's published header has the same sizes, so that one delegate and one driver
// interface carry both.
//
// All numbers are little-endian. The program block: Header, inputs, outputs (IoRecord), kernels
// (KernelRecord); sections start at multiples of 16. The weights block holds constants. All tensors
// are int8; what lies channels last is [N, H, W, C]. docs/neutron.md, "Program", has each byte and
// each kernel's formula.

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
inline constexpr uint32_t kIoMax = 127;  // inputs, and outputs: the payload counts in bytes
inline constexpr uint32_t kKernelsMax = 4096;
inline constexpr uint32_t kOperandsMax = 2;
inline constexpr uint32_t kBytesMax = abi::neutron::kBlockMax;  // of any block and any memory
inline constexpr uint32_t kAbsent = 0xFFFFFFFF;                 // an offset that leads nowhere

/// What a kernel computes: a row of kernels.def each.
enum class Kernel : uint8_t {
#define NEUTRON_KERNEL(name, number, operands, shape, run) k##name = (number),
#include "engines/neutron/container/kernels.def"
#undef NEUTRON_KERNEL
};

/// What a table computes; it changes nothing in the model.
enum class Function : uint8_t {
  kNone = 0,
  kAbs = 1,
  kClamp = 2,
  kExp = 3,
  kHardSwish = 4,
  kLeakyRelu = 5,
  kLog = 6,
  kLogistic = 7,
  kNeg = 8,
  kRelu = 9,
  kRsqrt = 10,
  kTanh = 11,
  kRescale = 12,
};

enum class Memory : uint8_t {
  kNone = 0,
  kInput = 1,    // the caller's, read only; View::index counts inputs
  kOutput = 2,   // the caller's; kernels may read what they wrote there
  kScratch = 3,  // the partition's during a run
  kWeights = 4,  // the weights block
};

/// Elements of a tensor: dimension k of dims[k] elements, strides[k] bytes apart; 0 repeats one
/// element, negative ones run backward. Unused dimensions are 1 with stride 0.
struct View {
  Memory memory;
  uint8_t rank;     // 1 to kRankMax
  uint16_t index;   // kInput, kOutput: which
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
  uint32_t cycles;          // 5: estimated, of one run
  uint32_t program_bytes;   // 6: of this block, before it is padded
  uint32_t weight_bytes;    // 7: of the weights block, likewise
  uint32_t content_hash;    // 8: FNV-1a of the program (this field zero), then of the weights
  uint32_t scratch_bytes;   // 9: a multiple of 16
  uint32_t profile_bytes;   // 10: 16 per kernel and 16 more, or 0
  uint32_t debug_bytes;     // 11: 0
  uint32_t prefetch_bytes;  // 12: SRAM for weights brought from flash; a multiple of 16
  uint32_t input_count;     // 13
  uint32_t output_count;    // 14
  uint32_t reserved;        // 15
};
static_assert(sizeof(Header) == 64 && offsetof(Header, scratch_bytes) == 36);

/// An input or output: dense, dims in logical order ([N, C, H, W]).
struct IoRecord {
  uint8_t rank;           // 1 to kRankMax
  uint8_t channels_last;  // its bytes lie with dimension 1 innermost
  uint16_t reserved;
  uint32_t dims[kRankMax];
  float scale;  // real = scale * (q - zero_point); 0: not known
  int32_t zero_point;
  uint32_t bytes;
};
static_assert(sizeof(IoRecord) == 40);

/// Offsets are in the weights block: int32 at multiples of 4; kAbsent: there is none. What each
/// kernel has: docs/neutron.md.
struct KernelRecord {
  Kernel kernel;
  Function function;  // kTable: which; others: of the table at `table`, applied to each result
  uint8_t operand_count;
  uint8_t rounding;  // 0 double, 1 single (docs/numerics.md)
  uint8_t reduced;   // kReduce*: how many dimensions
  uint8_t reserved0[3];
  uint16_t kernel_h, kernel_w;
  uint16_t stride_h, stride_w;
  uint16_t dilation_h, dilation_w;
  uint16_t pad_top, pad_left;  // what lies behind follows from the output's size
  int32_t a_zero_point, b_zero_point, y_zero_point;
  int32_t min, max;         // of the result, before the table
  int32_t multiplier[3];    // a, b, y; one factor: [2]
  int32_t shift[3];         // value = multiplier * 2^(shift - 31)
  uint32_t scale_count;     // entries of multipliers and shifts: 0, 1 or the channels
  uint32_t multipliers;     // int32 [scale_count]
  uint32_t shifts;          // int32 [scale_count]
  uint32_t weights;         // int8
  uint32_t bias;            // int32 [channels], without the zero point of the input
  uint32_t table;           // int8 [256]
  uint32_t data;            // int32: kMirrorPad before[rank]; kResize* the evaluator's tables
  int32_t fill;             // kPad: the code; kSoftmax: the least difference that counts
  uint32_t prefetch_from;   // weights block; what [from, from + bytes) holds is read in the
  uint32_t prefetch_bytes;  // prefetch memory from prefetch_to on. 0 bytes: nothing is
  uint32_t prefetch_to;     // prefetched, a multiple of 16
  uint32_t macs;
  uint32_t cycles;  // estimated
  uint32_t reserved1;
  View operands[kOperandsMax];
  View output;
  View outside;  // kPad: what is filled
};
static_assert(sizeof(KernelRecord) == 8 + 16 + 20 + 24 + 28 + 4 + 12 + 12 + 4 * 56);

enum class Status : uint8_t {
  kOk,
  kMisaligned,   // the bytes are at no multiple of 16
  kTruncated,    // shorter than the header says
  kNoProgram,    // another magic
  kBadVersion,   // of a later writer
  kBadHeader,    // counts or sections
  kBadIo,        // an input or output
  kBadView,      // leaves its memory, or not the kernel's shape
  kBadKernel,    // shape, window or numbers do not fit the kernel
  kBadScale,     // multipliers or shifts
  kBadOverlap,   // a kernel writes over what it still reads
  kBadPrefetch,  // leaves a memory, or overwrites what the one before it brought
  kBadHash,      // the content is not what was written
};

const char* status_text(Status status);
const char* kernel_name(Kernel kernel);        // "Conv2DStandard"
const char* function_name(Function function);  // "LOGISTIC"

/// Proves that every access of a run lies inside the memories that the header announces.
/// `program` is 16-byte aligned, `weights` too; `kernel` is the one at fault, if it is one.
[[nodiscard]] Status check(const uint8_t* program, uint32_t program_bytes, const uint8_t* weights,
                           uint32_t weight_bytes, uint32_t& kernel);

/// Header, inputs and outputs alone: all that someone touches who does not execute kernels.
[[nodiscard]] Status check_interface(const uint8_t* program, uint32_t program_bytes);

[[nodiscard]] uint32_t content_hash(const uint8_t* program, uint32_t program_bytes,
                                    const uint8_t* weights, uint32_t weight_bytes);

/// Reads what check() has accepted.
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
