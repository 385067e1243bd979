// SPDX-License-Identifier: Apache-2.0
#pragma once
// Payload of a Neutron delegate, in the format of ExecuTorch's NXP backend: four blocks, each
// padded with zeros to a multiple of 16. docs/neutron.md, "Payload", has a dump.
//
//   header     0 u8 NI inputs of the program, 1 u8 NO outputs, 2 u8 NA input arguments of the call
//              3 NI x u8 format of an input: 1 channels last, 0 in logical order
//              .. NO x u8 format of an output
//              .. NI x u8 input map: argument of the call
//              .. NO x u8 output map: argument NA + map
//              .. u8 version of this header: 0 or 1
//   program    little-endian words: 0 magic, 6 bytes of the program, 7 bytes of the weights,
//              9 scratch bytes; then, by version,
//              0: 10 prefetch bytes, 11 inputs, 12 outputs
//              1: 10 profile bytes (31 bits), 11 debug bytes, 12 prefetch bytes, 13 inputs,
//                 14 outputs
//   weights
//   kernels    NXP's firmware kernels for the microcode, up to the end, size not stored; absent
//              with a kernel list
//
// The program is the vendor's microcode, of which only these words are public, or Thimble's own
// kernel list (engines/neutron/container/program.h), which has these words at the same offsets.
// `read_payload` guarantees that all returned ranges are inside the given bytes.

#include <string.h>
#include <cstdint>

namespace thimble::abi::neutron {

inline constexpr uint32_t kMicrocodeMagic = 0x64434D6E;   // "nMCd": the vendor's microcode
inline constexpr uint32_t kKernelListMagic = 0x75654E54;  // "TNeu": Thimble's kernel list
inline constexpr uint32_t kPayloadAlignment = 16;
inline constexpr uint32_t kPayloadVersionMax = 1;
inline constexpr uint32_t kFirstFormat = 3;      // offset in the header
inline constexpr uint32_t kBlockMax = 1U << 28;  // upper bound of any block and any memory

/// Indices of the program's words.
inline constexpr uint32_t kMagicWord = 0;
inline constexpr uint32_t kProgramBytesWord = 6;
inline constexpr uint32_t kWeightBytesWord = 7;
inline constexpr uint32_t kScratchWord = 9;
/// Bit 31 of the profile word is not part of the size; its meaning is not published.
inline constexpr uint32_t kProfileMask = 0x7FFFFFFF;
/// Returns the minimum number of words of a program.
constexpr uint32_t program_words(uint32_t version) {
  return version == 0 ? 13 : 15;
}

constexpr uint32_t padded(uint32_t bytes) {
  return (bytes + kPayloadAlignment - 1) & ~(kPayloadAlignment - 1);
}

enum class PayloadFault : uint8_t {
  kNone,
  kMisaligned,    // the address is not a multiple of 16
  kTruncated,     // shorter than `expected` bytes
  kVersion,       // header version is neither 0 nor 1, or is 0 for a kernel list
  kInputFormat,   // neither 0 nor 1
  kOutputFormat,  // neither 0 nor 1
  kInputMap,      // not below NA, which is `expected`
  kOutputMap,     // not below NO
  kOutputTwice,   // two outputs have the same argument
  kMagic,         // unknown magic
  kProgramBytes,  // less than the minimum, or more than kBlockMax
  kWeightBytes,   // more than kBlockMax
  kMemory,        // scratch, profile, debug or prefetch: more than kBlockMax
  kInputCount,    // the program's number of inputs is not NI
  kOutputCount,   // the program's number of outputs is not NO
};

/// Description of a fault and its position.
struct PayloadProblem {
  PayloadFault fault = PayloadFault::kNone;
  uint32_t at = 0;  // offset in the payload
  uint32_t found = 0;
  uint32_t expected = 0;
};

struct PayloadView {
  uint32_t input_count = 0, output_count = 0, arg_count = 0;
  uint32_t version = 0;
  uint32_t magic = 0;
  const uint8_t* input_formats = nullptr;
  const uint8_t* output_formats = nullptr;
  const uint8_t* input_map = nullptr;
  const uint8_t* output_map = nullptr;
  const uint8_t* program = nullptr;  // this and the next two are 16-byte aligned
  const uint8_t* weights = nullptr;
  const uint8_t* kernels = nullptr;
  uint32_t program_bytes = 0, weight_bytes = 0, kernel_bytes = 0;  // the last includes padding
  uint32_t scratch_bytes = 0, profile_bytes = 0, debug_bytes = 0, prefetch_bytes = 0;
};

/// Returns the memory that a call needs in addition to its tensors, in bytes: the memories given by
/// the program, each at a multiple of 16, and the addresses of tensors for the driver, 8 bytes each
/// on every machine.
inline uint32_t call_bytes(const PayloadView& view) {
  return padded(8 * (view.input_count + view.output_count + 3)) + padded(view.scratch_bytes) +
         padded(view.profile_bytes) + padded(view.debug_bytes) + padded(view.prefetch_bytes);
}

namespace payload_detail {

inline uint32_t word_at(const uint8_t* program, uint32_t index) {
  uint32_t word;
  memcpy(&word, program + 4 * index, sizeof word);
  return word;
}

/// Reads the counts, sets the pointers that depend on them, and returns the header's size in bytes.
inline uint32_t parse_header(const uint8_t* data, PayloadView& view) {
  view.input_count = data[0];
  view.output_count = data[1];
  view.arg_count = data[2];
  view.input_formats = data + kFirstFormat;
  view.output_formats = view.input_formats + view.input_count;
  view.input_map = view.output_formats + view.output_count;
  view.output_map = view.input_map + view.input_count;
  return kFirstFormat + 2 * (view.input_count + view.output_count) + 1;
}

/// Returns the index of the prefetch word; it depends on the version, as do all words after it.
inline uint32_t prefetch_word(uint32_t version) {
  return version == 0 ? 10 : 12;
}

inline void read_words(PayloadView& view) {
  view.program_bytes = word_at(view.program, kProgramBytesWord);
  view.weight_bytes = word_at(view.program, kWeightBytesWord);
  view.scratch_bytes = word_at(view.program, kScratchWord);
  const bool has_profile = view.version != 0;
  view.profile_bytes = has_profile ? word_at(view.program, kScratchWord + 1) & kProfileMask : 0;
  view.debug_bytes = has_profile ? word_at(view.program, kScratchWord + 2) : 0;
  view.prefetch_bytes = word_at(view.program, prefetch_word(view.version));
}

/// Records the first fault.
class Checker {
 public:
  Checker(const uint8_t* data, uint32_t bytes, PayloadProblem& problem)
      : data_(data), bytes_(bytes), problem_(problem) {}

  bool fail(PayloadFault fault, uint32_t at, uint32_t found, uint32_t expected) {
    problem_ = {fault, at, found, expected};
    return false;
  }
  bool has(uint32_t bytes) {
    return bytes <= bytes_ || fail(PayloadFault::kTruncated, bytes_, bytes_, bytes);
  }
  /// Checks that each byte is less than `limit`.
  bool below(PayloadFault fault, const uint8_t* from, uint32_t count, uint32_t limit) {
    for (const uint8_t* at = from; at != from + count; ++at) {
      if (*at >= limit) return fail(fault, offset(at), *at, limit);
    }
    return true;
  }
  bool distinct(const uint8_t* from, uint32_t count) {
    for (const uint8_t* at = from; at != from + count; ++at) {
      for (const uint8_t* before = from; before != at; ++before) {
        if (*before == *at) return fail(PayloadFault::kOutputTwice, offset(at), *at, 0);
      }
    }
    return true;
  }
  /// Checks a size, which is the program's word `word`.
  bool size(PayloadFault fault, const PayloadView& view, uint32_t word, uint32_t value) {
    const uint32_t at = offset(view.program) + 4 * word;
    return value <= kBlockMax || fail(fault, at, value, kBlockMax);
  }
  bool count(PayloadFault fault, const PayloadView& view, uint32_t word, uint32_t expected) {
    const uint32_t found = word_at(view.program, word);
    const uint32_t at = offset(view.program) + 4 * word;
    return found == expected || fail(fault, at, found, expected);
  }

 private:
  [[nodiscard]] uint32_t offset(const uint8_t* at) const {
    return static_cast<uint32_t>(at - data_);
  }
  const uint8_t* data_;
  uint32_t bytes_;
  PayloadProblem& problem_;
};

inline bool check_header(Checker& checker, const uint8_t* data, PayloadView& view,
                         uint32_t& header_bytes) {
  header_bytes = parse_header(data, view);
  if (!checker.has(header_bytes)) return false;
  view.version = data[header_bytes - 1];
  return checker.below(PayloadFault::kVersion, data + header_bytes - 1, 1,
                       kPayloadVersionMax + 1) &&
         checker.below(PayloadFault::kInputFormat, view.input_formats, view.input_count, 2) &&
         checker.below(PayloadFault::kOutputFormat, view.output_formats, view.output_count, 2) &&
         checker.below(PayloadFault::kInputMap, view.input_map, view.input_count, view.arg_count) &&
         checker.below(PayloadFault::kOutputMap, view.output_map, view.output_count,
                       view.output_count) &&
         checker.distinct(view.output_map, view.output_count);
}

inline bool check_words(Checker& checker, const PayloadView& view) {
  const uint32_t prefetch = prefetch_word(view.version);
  return checker.size(PayloadFault::kProgramBytes, view, kProgramBytesWord, view.program_bytes) &&
         checker.size(PayloadFault::kWeightBytes, view, kWeightBytesWord, view.weight_bytes) &&
         checker.size(PayloadFault::kMemory, view, kScratchWord, view.scratch_bytes) &&
         checker.size(PayloadFault::kMemory, view, kScratchWord + 1, view.profile_bytes) &&
         checker.size(PayloadFault::kMemory, view, kScratchWord + 2, view.debug_bytes) &&
         checker.size(PayloadFault::kMemory, view, prefetch, view.prefetch_bytes) &&
         checker.count(PayloadFault::kInputCount, view, prefetch + 1, view.input_count) &&
         checker.count(PayloadFault::kOutputCount, view, prefetch + 2, view.output_count);
}

}  // namespace payload_detail

/// Returns true if the bytes are a valid payload; otherwise `problem` describes the fault.
[[nodiscard]] inline bool read_payload(const uint8_t* data, uint32_t bytes, PayloadView& view,
                                       PayloadProblem& problem) {
  view = {};
  payload_detail::Checker checker(data, bytes, problem);
  if (!checker.has(kFirstFormat)) return false;
  if (reinterpret_cast<uintptr_t>(data) % kPayloadAlignment != 0) {
    return checker.fail(PayloadFault::kMisaligned, 0, 0, kPayloadAlignment);
  }
  uint32_t header_bytes;
  if (!payload_detail::check_header(checker, data, view, header_bytes)) return false;
  const uint32_t program_at = padded(header_bytes);
  if (!checker.has(program_at + 4)) return false;
  view.program = data + program_at;
  view.magic = payload_detail::word_at(view.program, kMagicWord);
  const bool ours = view.magic == kKernelListMagic;
  if (!ours && view.magic != kMicrocodeMagic) {
    return checker.fail(PayloadFault::kMagic, program_at, view.magic, kMicrocodeMagic);
  }
  if (ours && view.version == 0) {
    return checker.fail(PayloadFault::kVersion, header_bytes - 1, 0, 1);
  }
  const uint32_t least = 4 * program_words(view.version);
  if (!checker.has(program_at + least)) return false;
  payload_detail::read_words(view);
  if (!payload_detail::check_words(checker, view)) return false;
  if (view.program_bytes < least) {
    return checker.fail(PayloadFault::kProgramBytes, program_at + 4 * kProgramBytesWord,
                        view.program_bytes, least);
  }
  const uint32_t weights_at = program_at + padded(view.program_bytes);
  const uint32_t kernels_at = weights_at + padded(view.weight_bytes);
  if (!checker.has(kernels_at)) return false;
  view.weights = data + weights_at;
  view.kernels = data + kernels_at;
  view.kernel_bytes = bytes - kernels_at;
  return true;
}

/// As read_payload(), for bytes that it has accepted; does not set the blocks after the program.
[[nodiscard]] inline PayloadView trusted_payload(const uint8_t* data) {
  // This function runs in each call, so each field is set only once.
  const uint32_t inputs = data[0], outputs = data[1];
  const uint32_t version_at = kFirstFormat + 2 * (inputs + outputs);
  const uint8_t* const program = data + padded(version_at + 1);
  const uint8_t* const scratch = program + 4 * kScratchWord;
  const bool later = data[version_at] != 0;
  using payload_detail::word_at;
  return {
      .input_count = inputs,
      .output_count = outputs,
      .arg_count = data[2],
      .version = data[version_at],
      .magic = word_at(program, kMagicWord),
      .input_formats = data + kFirstFormat,
      .output_formats = data + kFirstFormat + inputs,
      .input_map = data + kFirstFormat + inputs + outputs,
      .output_map = data + kFirstFormat + 2 * inputs + outputs,
      .program = program,
      .weights = nullptr,
      .kernels = nullptr,
      .program_bytes = word_at(program, kProgramBytesWord),
      .weight_bytes = word_at(program, kWeightBytesWord),
      .kernel_bytes = 0,
      .scratch_bytes = word_at(scratch, 0),
      .profile_bytes = later ? word_at(scratch, 1) & kProfileMask : 0,
      .debug_bytes = later ? word_at(scratch, 2) : 0,
      .prefetch_bytes = word_at(program, payload_detail::prefetch_word(data[version_at])),
  };
}

}  // namespace thimble::abi::neutron
