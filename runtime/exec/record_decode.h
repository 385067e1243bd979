// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decodes tensors and calls of records to the arguments of kernels.

#include "runtime/exec/call.h"
#include "runtime/program/checks.h"
#include "runtime/program/tensor.h"

namespace thimble::runtime {

using RecordCallContext = CallContext<const uint16_t*>;
template <uint32_t kArguments>
using RecordCall = DecodedCall<const uint16_t*, kArguments>;
// Few operators have more arguments. Calls of those use more of the stack.
inline constexpr uint32_t kFewArguments = 6;

inline uint32_t arguments_of(const kernels::Kernel& kernel) {
  return kernel.count_in_file - 1U;
}

/// Decodes a verified tensor.
void decode_tensor(const Model& model, uint32_t index, kernels::Tensor& tensor);

/// Call::list_item of calls from records.
kernels::Tensor record_list_item(const kernels::Call& call, uint32_t arg, uint32_t index);

/// Verifies an operand that is a list or a number.
Status check_list_or_number(const RecordProgram& records, char letter, uint32_t operand);

void decode_list_or_number(const RecordProgram& records, char letter, uint32_t operand,
                           kernels::Arg& arg);

/// Decodes the arguments of a call. kChecked: its operands are not verified yet. `decoded_tensors`:
/// all tensors, written by load, or null.
template <bool kChecked>
THIMBLE_INLINE Status decode_call(const kernels::Tensor* decoded_tensors,
                                  const kernels::Kernel& kernel, RecordCallContext& context,
                                  kernels::Arg* args) {
  const Model& model = *context.model;
  const RecordProgram& records = model.records;
  const uint16_t* operands = context.operands;
  const uint32_t tensors = records.header->tensors;
  for (const char* letters = kernel.arguments; *letters != 0; ++letters, ++args) {
    const char letter = *letters;
    const uint32_t operand = *operands++;
    if (has_tag<abi::pte::value_tag::kTensor>(letter)) {
      if constexpr (kChecked) {
        if (operand >= tensors) return Status::kCorrupt;
        const uint32_t place = records.places[operand];
        if (is_written<abi::pte::value_tag::kTensor>(letter) && place >= abi::kPlaceConstant)
          return Status::kCorrupt;
        if (place == abi::kPlaceNone && !is_optional(letter)) return Status::kUnsupported;
      }
      if (kChecked && decoded_tensors != nullptr) {
        copy_tensor(&decoded_tensors[operand], &args->tensor);
      } else {
        decode_tensor(model, operand, args->tensor);
      }
      continue;
    }
    if constexpr (kChecked) {
      THIMBLE_RETURN_IF_ERROR(check_list_or_number(records, letter, operand));
    }
    decode_list_or_number(records, letter, operand, *args);
  }
  return Status::kOk;
}

}  // namespace thimble::runtime
