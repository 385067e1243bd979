// SPDX-License-Identifier: Apache-2.0
#include "emit/c/size.h"

#include <set>

#include "emit/c/c_program.h"

namespace thimble::emit::c {
namespace {

namespace pte = formats::pte;

constexpr int64_t kArrayAlignment = 16;
constexpr int64_t kWord = 4;
// Size of thimble_arg and of thimble_tensor (kernels/c_call.h) on a 32-bit core.
constexpr int64_t kArgBytes = 40, kTensorBytes = 24;
// Instructions: LDR of an address with its literal, BL, MOVS, a store, and a function's entry.
constexpr int64_t kLoad = 6, kBranch = 4, kMove = 2, kStore = 2, kFunction = 12;
// GCC loads addresses with 16-bit instructions, whose literals are at most this far: the code jumps
// over pools, of which there is one in each piece of this size.
constexpr int64_t kOnePool = 1020, kPool = 8;
constexpr int64_t kSavedRegisters = 32;  // PUSH {r0-r5, lr} and alignment

int64_t round_up(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class Sizer {
 public:
  explicit Sizer(const CProgram& program) : program_(program) {}

  void add_call(const pte::KernelCall& call, bool addresses_only) {
    int64_t externals = 0;  // arguments with an address that run() receives
    bool external_lists = false;
    int64_t lists = 0;  // arrays of lists and of their tensors
    // The return value is the last argument of the file and no argument of the C.
    const size_t count = call.args.size() - 1;
    for (size_t i = 0; i < count; ++i) {
      const int32_t value = call.args[i];
      if (program_.is_external(value)) ++externals;
      add_constant(value);
      const pte::EValue& item = program_.plan->values[static_cast<size_t>(value)];
      if (const auto* const list = std::get_if<pte::TensorList>(&item)) {
        for (const int32_t each : list->items) {
          external_lists |= program_.is_external(each);
          add_constant(each);
          add_shape(each);
          lists += kTensorBytes;
        }
        lists += kWord * static_cast<int64_t>(count);  // lists[], possibly counted per list
      } else if (!addresses_only && std::holds_alternative<pte::Tensor>(item)) {
        add_shape(value);
      }
    }
    run_ += load() + kBranch;
    if (addresses_only) {
      add_addresses(static_cast<int64_t>(count), externals > 0);
      return;
    }
    run_ += kMove + load();  // the second argument: NULL, or an address
    const int64_t args = static_cast<int64_t>(count) * kArgBytes;
    size.table_bytes += args + lists + kWord;  // arguments are aligned to 8
    if (externals > 0) {
      // memcpy of the constant arguments to the stack, then a store of each address
      size.copies = true;
      size.stack_bytes += args;
      run_ += load() + kBranch + 3 * kMove + externals * (kLoad + kStore);
    }
    if (external_lists) {
      // GCC copies these arrays, or fills them and sets the members that are not 0.
      size.copies = size.fills = true;
      size.stack_bytes += round_up(lists, 2 * kWord);
      run_ += load() + kBranch + 3 * kMove;
      run_ += loads(lists / kTensorBytes) + lists / kTensorBytes * kStore;
    }
  }

  void add_output(const Port& output) {
    size.code_bytes += 2 * kWord;
    add_constant(output.value);
    if (!program_.is_external(output.value)) return;
    size.ram_bytes += kWord;
    run_ += load() + kStore;
    size.code_bytes += kWord;
  }

  void add_input(const Port& input, bool owns_inputs) {
    if (program_.is_external(input.value)) return;
    if (owns_inputs) size.code_bytes += 3 * kWord;  // the function that returns its address
    run_ += copy_bytes() + (owns_inputs ? 3 * kMove : 0);
  }

  /// Functions reset(), save() and restore(), and initial contents.
  void add_states() {
    const auto count = static_cast<int64_t>(program_.states.size());
    for (const StateContent& state : program_.states) {
      size.fills |= state.content.empty();
      size.constant_bytes += round_up(static_cast<int64_t>(state.content.size()), kArrayAlignment);
    }
    constexpr int64_t kFunctionsOfStates = 3;
    size.code_bytes += 2 * kWord;  // reset() and init() without states
    if (count > 0) size.code_bytes += kFunctionsOfStates * (kFunction + count * copy_bytes());
  }

  void finish(size_t loaded_memories) {
    run_ += kFunction + 2 * kWord;
    run_ += run_ / kOnePool * kPool;
    size.code_bytes += round_up(run_, kWord);
    if (loaded_memories > 0) {
      size.code_bytes +=
          kFunction + static_cast<int64_t>(loaded_memories) * (copy_bytes() + loads(2));
    }
    size.stack_bytes += kSavedRegisters;
    if (size.constant_bytes > 0) size.constant_bytes += kArrayAlignment - kWord;
    size.ram_bytes += kArrayAlignment - kWord;  // padding before the arena
  }

  Size size;

 private:
  /// An array of addresses: a constant, or on the stack, where they are stored one by one.
  void add_addresses(int64_t count, bool external) {
    if (!external) {
      size.table_bytes += count * kWord;
      return;
    }
    size.stack_bytes += round_up(count * kWord, 2 * kWord);
    run_ += loads(count) + count * kStore + kMove;
  }

  static int64_t loads(int64_t count) { return count * kLoad; }
  static int64_t load() { return loads(1); }
  /// A call of memcpy with constant arguments; memset needs as many instructions.
  int64_t copy_bytes() {
    size.copies = true;
    return loads(2) + kWord + kMove + kBranch;
  }

  void add_constant(int32_t value) {
    const pte::EValue& item = program_.plan->values[static_cast<size_t>(value)];
    const auto* const tensor = std::get_if<pte::Tensor>(&item);
    if (tensor == nullptr || tensor->allocation || tensor->data_buffer_idx == 0) return;
    const auto part = program_.parts.find(tensor->data_buffer_idx);
    const size_t array =
        part == program_.parts.end() ? tensor->data_buffer_idx : part->second.whole;
    if (!constants_.insert(static_cast<uint32_t>(array)).second) return;
    const Bytes& bytes = program_.file->constants[array];
    size.constant_bytes += round_up(static_cast<int64_t>(bytes.size()), kArrayAlignment);
  }

  void add_shape(int32_t value) {
    const pte::EValue& item = program_.plan->values[static_cast<size_t>(value)];
    const auto* const tensor = std::get_if<pte::Tensor>(&item);
    if (tensor == nullptr || tensor->sizes.empty()) return;
    const auto rank = static_cast<int64_t>(tensor->sizes.size());
    if (sizes_.insert(tensor->sizes).second) size.table_bytes += rank * kWord;
    if (orders_.insert(tensor->dim_order).second) size.table_bytes += round_up(rank, kWord);
  }

  const CProgram& program_;
  int64_t run_ = 0;  // code of run()
  std::set<uint32_t> constants_;
  std::set<std::vector<int32_t>> sizes_;
  std::set<std::vector<uint8_t>> orders_;
};

}  // namespace

Result<Size> size_of(const pte::Program& file, const std::vector<bool>& addresses_only,
                     const Options& options) {
  const ModelInfo info;
  THIMBLE_TRY(const CProgram program, prepare(file, info, options));
  Sizer sizer(program);
  size_t index = 0;
  for (const pte::Instruction& instruction : program.plan->chains[0].instructions) {
    const auto* const call = std::get_if<pte::KernelCall>(&instruction);
    if (call == nullptr) return unsupported("--emit c: an instruction is not a kernel call");
    assert(index < addresses_only.size());
    sizer.add_call(*call, addresses_only[index++]);
  }
  for (const Port& input : program.inputs) sizer.add_input(input, options.owns_inputs);
  for (const Port& output : program.outputs) sizer.add_output(output);
  sizer.add_states();
  sizer.finish(options.loaded.size());
  return sizer.size;
}

}  // namespace thimble::emit::c
