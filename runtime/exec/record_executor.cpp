// SPDX-License-Identifier: Apache-2.0
// Executes programs from records (abi/records.h): adds a base address to each operand's place and
// calls the kernel. If a kernel needs more than addresses, its arguments are decoded as at load.

#include "runtime/exec/load.h"
#include "runtime/exec/record_decode.h"

namespace thimble::runtime {
namespace {

uint32_t count(const Model& model, ProgramList list) {
  const abi::RecordsHeader& header = *model.records.header;
  return list == ProgramList::kInputs    ? header.inputs
         : list == ProgramList::kOutputs ? header.outputs
                                         : header.calls;
}

GraphTensor graph_tensor(const Model& model, ProgramList list, uint32_t index) {
  const RecordProgram& records = model.records;
  const uint32_t tensor = (list == ProgramList::kInputs ? records.inputs : records.outputs)[index];
  GraphTensor found;
  decode_tensor(model, tensor, found.tensor);
  found.is_planned = is_planned(records, tensor);
  return found;
}

template <uint32_t kArguments>
THIMBLE_OUT_OF_LINE void run_decoded(const Model& model, const uint16_t* operands,
                                     const kernels::Kernel& kernel, uint32_t index) {
  RecordCall<kArguments> decoded(model, operands, record_list_item);
  (void)decode_call<false>(nullptr, kernel, decoded, decoded.args());
  traced(model, kernel.name, index, [&] { kernel.run(decoded.call); });
}

/// Runs the calls in order. kTraced: calls the trace hook before and after each call. The cost is 6
/// to 8 instructions per operand and about 20 per call. To reach this, values that are read
/// repeatedly are local variables, because the compiler must assume that a write to `operands`
/// changes memory. No helper is called between calls, and the operands of most calls are read
/// without a loop.
template <bool kTraced>
THIMBLE_FAST Status run_calls(const Model& model) {
  const RecordProgram& records = model.records;
  const kernels::Kernel* const* const resolved = model.kernel_of_op;
  const uint32_t* const places = records.places;
  uint8_t* const arena = model.arena;
  const uintptr_t constants = reinterpret_cast<uintptr_t>(records.constants) - abi::kPlaceConstant;
  const auto operand_address = [&](uint32_t tensor) -> void* {
    const uint32_t place = places[tensor];
    if (place < abi::kPlaceConstant) [[likely]]
      return arena + place;
    if (place < abi::kPlaceInput) [[likely]]
      return reinterpret_cast<void*>(constants + place);
    if (place == abi::kPlaceNone) return nullptr;
    return const_cast<void*>(model.input_data[place - abi::kPlaceInput]);
  };
  const uint16_t* at = records.calls;
  const uint16_t* const end = at + records.header->call_words;
  uint32_t index = 0;
  while (at != end) {
    const uint16_t* const call = at;
    const kernels::Kernel& kernel = *resolved[*call];
    const auto run_bare = kernel.run_bare;
    const uint32_t words = 1 + arguments_of(kernel);
    at += words;
    if (run_bare == nullptr) {
      if (words <= 1 + kFewArguments) {
        run_decoded<kFewArguments>(model, call + 1, kernel, index);
      } else {
        run_decoded<abi::kMaxArgs>(model, call + 1, kernel, index);
      }
    } else {
      void* operands[abi::kMaxArgs];
      switch (words) {
        default:
          for (uint32_t i = 6; i < words; ++i) operands[i - 1] = operand_address(call[i]);
          [[fallthrough]];
        case 6:
          operands[4] = operand_address(call[5]);
          [[fallthrough]];
        case 5:
          operands[3] = operand_address(call[4]);
          [[fallthrough]];
        case 4:
          operands[2] = operand_address(call[3]);
          [[fallthrough]];
        case 3:
          operands[1] = operand_address(call[2]);
          [[fallthrough]];
        case 2:  // every operator has at least one argument
          operands[0] = operand_address(call[1]);
      }
      if constexpr (kTraced) {
        traced(model, kernel.name, index, [&] { run_bare(operands); });
      } else {
        run_bare(operands);
      }
    }
    if constexpr (kTraced) ++index;
  }
  return Status::kOk;
}

Status run(const Model& model) {
#if THIMBLE_TRACE
  if (model.trace_hook != nullptr) return run_calls<true>(model);
#endif
  return run_calls<false>(model);
}

const char* instruction_op(const Model& model, uint32_t instruction) {
  const uint16_t* at = model.records.calls;
  for (; instruction != 0; --instruction) at += 1 + arguments_of(*model.kernel_of_op[*at]);
  return model.kernel_of_op[*at]->name;
}

}  // namespace

constexpr Executor record_executor = {load_records, count, graph_tensor, run, instruction_op};

}  // namespace thimble::runtime
