#pragma once
// Packed parameters of native operators: one constant of the `.pte` per call, read in place from
// flash. Little-endian, 16-byte aligned at its start; a header below, then the arrays it names, in
// order, each 4-byte aligned. A change of any of this raises kKernelLayoutVersion: a runtime
// refuses a file of another version.
//
// Direct operators (every other thimble:: row of pte_ops.def): the parameters are the attributes of
// the IR operator as int32 words, in the order of its row in src/ir/ops.def: i and b one word; is
// its count, then the items; d two words, the IEEE double, low word first. Defaults are written
// out. No attributes: no such operand. Other constants are in logical order.

#include <cstdint>

namespace thimble::abi {

inline constexpr uint32_t kKernelLayoutVersion = 1;

/// conv2d and depthwise_conv2d. Activations are NHWC in memory (dim_order 0,2,3,1).
/// Then: int32 bias[out_channels], int32 mult[out_channels], int8 shift[out_channels] (padded to
/// 4), int8 weights: conv2d [out_channels][kernel_h][kernel_w][in_channels/groups],
///               depthwise [kernel_h][kernel_w][out_channels], channel o reads input o / (out/in).
struct ConvParams {
  int32_t out_channels, groups;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int32_t pad_top, pad_left;   // bottom and right follow from the output's shape
  int32_t x_offset, y_offset;  // -zero_point of x, +zero_point of y
  int32_t min, max;
};

/// What a packed convolution or pool does, for operators that get no more than the places of their
/// operands: 36 bytes, a constant of its own so that pieces of one layer share its weights.
/// Activations are NHWC, of one image.
struct WindowGeometry {
  uint16_t in_h, in_w, in_c;
  uint16_t out_h, out_w, out_c;
  uint8_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  uint8_t pad_top, pad_left;  // bottom and right follow from the output's shape
  uint8_t reserved[2];
  int16_t x_zero_point, y_zero_point;
  int16_t min, max;
  uint16_t reserved2[3];
};
static_assert(sizeof(WindowGeometry) == 36);

/// linear: x is [rows, in_features] (all leading dimensions are rows), weights
/// [out_features][in_features]. Then: int32 bias[out_features], int32 mult[scales], int8
/// shift[scales] (padded to 4), weights.
struct LinearParams {
  int32_t in_features, out_features;
  int32_t scales;  // 1, or out_features
  int32_t x_offset, y_offset;
  int32_t min, max;
};

/// What a packed linear does: 20 bytes, a constant of its own. x is [rows][in_features], y
/// [rows][out_features].
struct LinearGeometry {
  uint32_t rows, in_features, out_features;
  int16_t x_zero_point, y_zero_point;
  int16_t min, max;
};
static_assert(sizeof(LinearGeometry) == 20);

/// add; with b_negate = 1 the code of b counts as its negative (subtraction). Broadcasting by
/// logical shape.
struct AddParams {
  int32_t a_offset, a_mult, a_shift;  // offsets are -zero_point
  int32_t b_offset, b_mult, b_shift;
  int32_t y_offset, y_mult, y_shift;  // +zero_point
  int32_t min, max, b_negate;
};

/// mul. Broadcasting by logical shape.
struct MulParams {
  int32_t a_offset, b_offset, y_offset, mult, shift, min, max;
};

/// avg_pool2d, max_pool2d. NHWC. dilation is 1 for avg_pool2d.
struct PoolParams {
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left, min,
      max;
};

/// mean: bit d of `dims_mask` set = logical dimension d is reduced. The output has the reduced
/// dimensions as 1, or dropped.
struct MeanParams {
  uint32_t dims_mask;
  int32_t x_offset, y_offset, mult, shift, min, max;
};

/// log_softmax over the last dimension (contiguous). Then: int32 exp_table[256].
struct LogSoftmaxParams {
  int32_t scale_mult, scale_shift, log_mult, log_shift, y_offset;
};

/// Scratch of gru, lstm and rnn, 2-byte aligned: int16 lanes of one element for each unit, then its
/// output in the code of x. gru: gates r and z, the two parts of n, the state; lstm: four gates,
/// the cell; rnn: the sum.
inline constexpr int64_t kGruLanes = 5;
inline constexpr int64_t kLstmLanes = 5;
inline constexpr int64_t kRnnLanes = 1;
constexpr int64_t recurrent_scratch_bytes(int64_t lanes, int64_t hidden, int64_t code_bytes) {
  return (2 * lanes + code_bytes) * hidden;
}

/// The `named_data` entry "thimble": what ET12 has no field for. The stock runtime ignores it.
inline constexpr char kEntryKey[] = "thimble";
inline constexpr uint32_t kEntryMagic = 0x424D4854;  // "THMB" little-endian
inline constexpr uint16_t kEntryVersion = 1;         // the header alone
inline constexpr uint16_t kEntryRecordsVersion = 2;  // with records (abi/records.h) behind it
/// kScalar: Thumb-2 without DSP (M3); kThumb1: M0, M0+, M23.
enum class Isa : uint8_t { kScalar = 0, kDsp = 1, kMve = 2, kThumb1 = 3 };
struct Entry {
  uint32_t magic;
  uint16_t entry_version;
  uint16_t
      kernel_layout_version;  // kKernelLayoutVersion of the packed constants; 0 = none are used
  uint32_t arena_bytes;       // equals the file's planned buffer
  Isa isa;                    // what the compiler chose scratch and variants for
  uint8_t dialect;            // 0 native, 1 stock
  uint8_t reserved[2];
  char target[16];  // zero-padded, "cortex-m55"
};
static_assert(sizeof(Entry) == 32);

/// The `named_data` entry "thimble_state", present if the program keeps state between runs: this
/// header, then one record for each piece of the arena that is kept. Init and reset fill a piece
/// with the `bytes` of the entry itself that begin at `content`, or with one byte throughout. A
/// saved state is the content of the pieces in order.
inline constexpr char kStateKey[] = "thimble_state";
struct StateHeader {
  uint32_t count;
  uint32_t bytes;  // of all pieces
};
struct StateRecord {
  uint32_t arena_offset;
  uint32_t bytes;
  uint32_t content;  // from the start of the entry, or 0: filled with `fill`
  uint32_t fill;     // 0 to 255
};
static_assert(sizeof(StateHeader) == 8 && sizeof(StateRecord) == 16);

/// The `named_data` entry "thimble_io", present if an input or output is int8: one record for every
/// input, then one for every output, in order. real = scale * (q - zero_point).
inline constexpr char kIoKey[] = "thimble_io";
struct IoQuant {
  double scale;  // 0: not quantized
  int32_t zero_point;
  int32_t reserved;
};
static_assert(sizeof(IoQuant) == 16);

/// The `named_data` entry "thimble_delegates", present if the program has delegates whose memory
/// was planned: one record for each row of the plan's delegates, in order. All of a file without it
/// are ExecuTorch's, which has no room for a plan: their scratch then lies behind the arena.
inline constexpr char kDelegatesKey[] = "thimble_delegates";
/// Which memory is behind which port of an Ethos-U, as the network was scheduled for.
enum class MemoryMode : uint8_t {
  kUnknown,        // whatever the NPU of the product is set up for
  kSramOnly,       // constants and scratch in SRAM
  kSharedSram,     // constants in flash or DRAM, scratch in SRAM
  kDedicatedSram,  // constants and scratch in DRAM, fast scratch in SRAM
};
inline constexpr uint32_t kFastOutside = 0xFFFFFFFF;
struct DelegateRecord {
  uint32_t scratch_offset;  // in the arena, a multiple of 16; its size is in the payload
  uint32_t fast_bytes;      // of fast scratch; 0: none
  uint32_t fast_offset;     // in the arena, a multiple of 16; or kFastOutside: the NPU has its own
  MemoryMode memory_mode;
  uint8_t reserved[3];
};
static_assert(sizeof(DelegateRecord) == 16);

}  // namespace thimble::abi
