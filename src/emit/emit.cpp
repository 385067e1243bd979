// SPDX-License-Identifier: Apache-2.0
#include "emit/emit.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "abi/kernel_layout.h"
#include "abi/limits.h"
#include "abi/named_data.h"
#include "abi/pte_ops.h"
#include "emit/check_stock.h"
#include "emit/dtypes.h"
#include "emit/evalue_table.h"
#include "emit/layers.h"
#include "emit/state_entry.h"
#include "formats/pte/parts.h"
#include "formats/pte/records.h"
#include "formats/pte/write.h"

namespace thimble::emit {
namespace {

namespace pte = formats::pte;
using ir::ValueId;

pte::Tensor tensor_of(ir::DType dtype, const ir::Shape& sizes, const ir::DimOrder& order) {
  pte::Tensor tensor;
  tensor.scalar_type = scalar_type(dtype);
  for (const int64_t size : sizes) tensor.sizes.push_back(static_cast<int32_t>(size));
  tensor.dim_order = full_order(order, sizes.size());
  return tensor;
}

class Emitter {
 public:
  Emitter(const engine::Lowered& lowered, const memory::MemoryPlan& memory_plan,
          engine::Dialect dialect, pte::ConstantPool* constants)
      : graph_(lowered.graph),
        calls_(lowered.calls),
        memory_plan_(memory_plan),
        stock_(dialect == engine::Dialect::kStock),
        constants_(*constants) {}

  void run(pte::Program* program) {
    pte::ExecutionPlan plan;
    plan.name = graph_.name;
    for (const ValueId input : graph_.inputs()) {
      const ir::Type& type = graph_.type(input);
      pte::Tensor tensor = tensor_of(type.dtype, type.shape, type.dim_order);
      const int range = memory_plan_.range_of_value[static_cast<size_t>(input)];
      if (range >= 0) tensor.allocation = allocation(range);
      // Inputs are never shared: two inputs of one shape are two different buffers.
      own_entry_[input] = values_.add(std::move(tensor));
      plan.inputs.push_back(own_entry_[input]);
    }
    for (const ir::State& state : graph_.states()) add_state(state);
    for (size_t step = 0; step < calls_.size(); ++step) {
      plan.chains[0].instructions.push_back(instruction(static_cast<int>(step)));
    }
    for (const ValueId output : graph_.outputs()) plan.outputs.push_back(evalue_index(output));
    plan.operators = std::move(operators_);
    plan.values = values_.take();
    plan.memory_sizes = {0, memory_plan_.placement.peak_bytes};
    program->plans.push_back(std::move(plan));
    if (initial_values_.buffers.size() > 1) {
      program->mutable_segments.push_back(std::move(initial_values_));
    }
  }

 private:
  /// The stock runtime reads the initial value of a tensor. Thimble's runtime reads state_entry().
  void add_state(const ir::State& state) {
    const int range = memory_plan_.range_of_value[static_cast<size_t>(state.value)];
    if (!stock_) {
      state_ranges_.insert(range);
      return;
    }
    const ir::Type& type = graph_.type(state.value);
    pte::Tensor tensor = tensor_of(type.dtype, type.shape, type.dim_order);
    tensor.allocation = allocation(range);
    tensor.data_buffer_idx = static_cast<uint32_t>(initial_values_.buffers.size());
    initial_values_.buffers.push_back(ir::to_memory(*state.initial, type.dim_order));
    own_entry_[state.value] = values_.add(std::move(tensor));
  }

  int32_t evalue_index(ValueId id) {
    const ir::Value& v = graph_.value(id);
    pte::Tensor tensor = tensor_of(v.type.dtype, v.type.shape, v.type.dim_order);
    const ValueId source = memory_plan_.source_of[static_cast<size_t>(id)];
    if (const auto& constant = graph_.value(source).constant) {
      tensor.data_buffer_idx =
          constants_.add(ir::to_memory(*constant, graph_.type(source).dim_order));
      return values_.tensor(tensor);
    }
    if (const auto found = own_entry_.find(id); found != own_entry_.end()) return found->second;
    const int range = memory_plan_.range_of_value[static_cast<size_t>(id)];
    tensor.allocation = allocation(range);
    if (state_ranges_.contains(range)) tensor.data_buffer_idx = pte::kInitialValueInEntry;
    return values_.tensor(tensor);
  }

  pte::Allocation allocation(int range) const {
    return {1, static_cast<uint64_t>(memory_plan_.placement.offsets[static_cast<size_t>(range)])};
  }

  int32_t argument(const engine::Argument& argument, int step) {
    if (const auto* ref = std::get_if<engine::ValueRef>(&argument)) return evalue_index(ref->id);
    if (const auto* constant = std::get_if<engine::Constant>(&argument)) {
      pte::Tensor tensor = tensor_of(constant->dtype, constant->sizes, constant->dim_order);
      tensor.data_buffer_idx = constants_.add(*constant->bytes);
      return values_.tensor(tensor);
    }
    if (const auto* scratch = std::get_if<engine::Scratch>(&argument)) {
      pte::Tensor tensor = tensor_of(ir::DType::kU8, {scratch->bytes}, {});
      tensor.allocation = allocation(memory_plan_.scratch_of_call[static_cast<size_t>(step)]);
      return values_.tensor(tensor);
    }
    if (const auto* integer = std::get_if<int64_t>(&argument)) return values_.integer(*integer);
    if (const auto* boolean = std::get_if<bool>(&argument)) return values_.boolean(*boolean);
    if (const auto* number = std::get_if<double>(&argument)) return values_.number(*number);
    if (const auto* integers = std::get_if<engine::Integers>(&argument))
      return values_.integers(*integers);
    if (const auto* list = std::get_if<engine::ValueList>(&argument)) {
      std::vector<int32_t> indices;
      for (const ValueId id : *list) indices.push_back(evalue_index(id));
      return values_.tensors(indices);
    }
    return values_.null();
  }

  pte::Instruction instruction(int step) {
    if (calls_[static_cast<size_t>(step)].delegate >= 0) return delegate_call(step);
    return kernel_call(step);
  }

  pte::DelegateCall delegate_call(int step) {
    const engine::KernelCall& call = calls_[static_cast<size_t>(step)];
    pte::DelegateCall instruction;
    instruction.delegate_index = call.delegate;
    for (const engine::Argument& item : call.arguments)
      instruction.args.push_back(argument(item, step));
    instruction.args.push_back(evalue_index(call.out));
    for (const ValueId more : call.extra_outputs) instruction.args.push_back(evalue_index(more));
    return instruction;
  }

  pte::KernelCall kernel_call(int step) {
    const engine::KernelCall& call = calls_[static_cast<size_t>(step)];
    pte::KernelCall instruction;
    instruction.op_index = operator_index(abi::info(call.op).name);
    for (const engine::Argument& item : call.arguments)
      instruction.args.push_back(argument(item, step));
    const int32_t out = evalue_index(call.out);
    instruction.args.push_back(out);
    instruction.args.push_back(out);  // the return value
    return instruction;
  }

  int32_t operator_index(std::string_view full_name) {
    const size_t dot = full_name.rfind('.');
    const pte::Operator op = {std::string(full_name.substr(0, dot)),
                              std::string(full_name.substr(dot + 1))};
    const auto found = std::find(operators_.begin(), operators_.end(), op);
    if (found != operators_.end()) return static_cast<int32_t>(found - operators_.begin());
    operators_.push_back(op);
    return static_cast<int32_t>(operators_.size() - 1);
  }

  const ir::Graph& graph_;
  const std::vector<engine::KernelCall>& calls_;
  const memory::MemoryPlan& memory_plan_;
  const bool stock_;
  EValueTable values_;
  pte::MutableSegment initial_values_{{Bytes{}}};  // buffer 0 is reserved: 0 = no initial value
  pte::ConstantPool& constants_;
  std::vector<pte::Operator> operators_;
  /// Entry in the value table that only this value has: inputs, and in the stock dialect states.
  std::map<ValueId, int32_t> own_entry_;
  std::set<int> state_ranges_;  // of a native program
};

pte::NamedData program_entry(const engine::Core& core, engine::Dialect dialect,
                             const memory::MemoryPlan& memory_plan) {
  abi::ProgramEntry entry = {};
  entry.magic = abi::kProgramEntryMagic;
  entry.entry_version = abi::kEntryVersionHeaderOnly;
  entry.kernel_layout_version = dialect != engine::Dialect::kStock
                                    ? static_cast<uint16_t>(abi::kKernelLayoutVersion)
                                    : uint16_t{0};
  entry.arena_bytes = static_cast<uint32_t>(memory_plan.placement.peak_bytes);
  entry.isa = core.isa;
  entry.dialect = dialect == engine::Dialect::kStock ? abi::Dialect::kStock : abi::Dialect::kNative;
  std::memcpy(entry.target, core.name.data(), std::min(core.name.size(), sizeof(entry.target) - 1));
  pte::NamedData data;
  data.key = abi::kProgramEntryKey;
  data.bytes.resize(sizeof(entry));
  std::memcpy(data.bytes.data(), &entry, sizeof(entry));
  return data;
}

/// Scale and zero point of inputs and outputs; nullopt if none is quantized per tensor.
std::optional<pte::NamedData> io_entry(const ir::Graph& graph) {
  pte::NamedData data;
  data.key = abi::kIoKey;
  bool any = false;
  for (const auto* values : {&graph.inputs(), &graph.outputs()}) {
    for (const ValueId id : *values) {
      const std::optional<ir::Quant>& quant = graph.type(id).quant;
      abi::IoQuant record = {};
      if (quant && quant->axis < 0) record = {quant->scale[0], quant->zero_point[0], 0};
      any = any || record.scale != 0;
      const auto* bytes = reinterpret_cast<const std::byte*>(&record);
      data.bytes.insert(data.bytes.end(), bytes, bytes + sizeof(record));
    }
  }
  if (!any) return std::nullopt;
  return data;
}

void add_delegates(const std::vector<engine::Delegate>& delegates, Emitted* emitted) {
  pte::Program& program = emitted->program;
  for (const engine::Delegate& delegate : delegates) {
    pte::BackendDelegate row;
    row.id = delegate.id;
    row.blob = static_cast<uint32_t>(program.delegate_blobs.size());
    for (const auto& [key, value] : delegate.specs) {
      const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
      row.compile_specs.push_back({key, Bytes(bytes, bytes + value.size())});
    }
    program.plans[0].delegates.push_back(std::move(row));
    pte::DelegateBlob blob;
    blob.bytes = delegate.payload;
    program.delegate_blobs.push_back(std::move(blob));
    for (const auto& [key, bytes] : delegate.named) {
      if (formats::pte::find_named_data(program, key) != nullptr) continue;
      pte::NamedData data;
      data.key = key;
      data.bytes = bytes;
      program.named_data.push_back(std::move(data));
    }
    emitted->constant_bytes += delegate.constant_bytes;
  }
}

/// Returns the `named_data` entry kDelegatesKey: addresses, sizes and memory mode of each delegate;
/// nullopt without delegates.
std::optional<pte::NamedData> delegates_entry(const engine::Lowered& lowered,
                                              const memory::MemoryPlan& memory_plan) {
  if (lowered.delegates.empty()) return std::nullopt;
  pte::NamedData data;
  data.key = abi::kDelegatesKey;
  data.bytes.resize(lowered.delegates.size() * sizeof(abi::DelegateRecord));
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    if (lowered.calls[step].delegate < 0) continue;
    const auto index = static_cast<size_t>(lowered.calls[step].delegate);
    const engine::Delegate& delegate = lowered.delegates[index];
    const auto scratch = static_cast<size_t>(memory_plan.scratch_of_call[step]);
    abi::DelegateRecord record = {};
    record.scratch_offset = static_cast<uint32_t>(memory_plan.placement.offsets[scratch]);
    record.fast_bytes = static_cast<uint32_t>(delegate.fast_scratch_bytes);
    record.fast_offset = abi::kFastOnDevice;
    const int kept = memory_plan.persistent_of_delegate[index];
    if (kept >= 0) {
      // A delegate has fast scratch or persistent memory, never both; the record has one field for
      // it.
      assert(delegate.fast_scratch_bytes == 0);
      record.fast_bytes = static_cast<uint32_t>(delegate.kept_bytes);
      record.fast_offset =
          static_cast<uint32_t>(memory_plan.placement.offsets[static_cast<size_t>(kept)]);
    }
    record.memory_mode = delegate.memory_mode;
    record.overlap = static_cast<uint8_t>(lowered.calls[step].overlap);
    record.system = delegate.system;
    std::memcpy(data.bytes.data() + index * sizeof(record), &record, sizeof(record));
  }
  return data;
}

/// Returns the size of the constants, of which a part of another one needs no bytes.
int64_t stored_bytes(const std::vector<Bytes>& constants) {
  const auto parts = pte::find_parts(constants, abi::kConstantAlignment);
  int64_t bytes = 0;
  for (size_t i = 0; i < constants.size(); ++i) {
    if (!parts.contains(i)) bytes += static_cast<int64_t>(constants[i].size());
  }
  return bytes;
}

/// Returns the entry with the key of this method.
pte::NamedData entry_of_method(pte::NamedData entry, size_t method, const std::string& name) {
  entry.key = pte::method_key(entry.key, method, name);
  return entry;
}

}  // namespace

Result<Emitted> write_methods(std::span<const Method> methods, const engine::Core& core) {
  Emitted emitted;
  pte::Program& program = emitted.program;
  pte::ConstantPool pool;
  std::vector<pte::NamedData> ios;
  for (size_t i = 0; i < methods.size(); ++i) {
    const engine::Lowered& lowered = *methods[i].lowered;
    assert(lowered.delegates.empty());
    Emitter(lowered, *methods[i].memory_plan, engine::Dialect::kNative, &pool).run(&program);
    const std::string& name = lowered.graph.name;
    program.named_data.push_back(entry_of_method(
        program_entry(core, engine::Dialect::kNative, *methods[i].memory_plan), i, name));
    if (auto io = io_entry(lowered.graph)) ios.push_back(entry_of_method(std::move(*io), i, name));
  }
  program.constants = pool.take();
  program.named_data.push_back({abi::kMethodsKey, 16, {}});
  // The states have the same addresses and content in all methods.
  if (auto state = state_entry(methods[0].lowered->graph, *methods[0].memory_plan)) {
    program.named_data.push_back(std::move(*state));
  }
  std::ranges::move(ios, std::back_inserter(program.named_data));
  emitted.constant_bytes = stored_bytes(program.constants);
  // The runtime finds the methods by their records.
  THIMBLE_CHECK(pte::add_records(program));
  THIMBLE_TRY(emitted.bytes, pte::write(program));
  return emitted;
}

Result<Emitted> write_program(const engine::Lowered& lowered, const memory::MemoryPlan& memory_plan,
                              const engine::Core& core, const EmitOptions& options) {
  Emitted emitted;
  pte::ConstantPool pool;
  Emitter(lowered, memory_plan, options.dialect, &pool).run(&emitted.program);
  emitted.program.constants = pool.take();
  add_delegates(lowered.delegates, &emitted);
  emitted.program.named_data.push_back(program_entry(core, options.dialect, memory_plan));
  if (auto state = state_entry(lowered.graph, memory_plan)) {
    emitted.program.named_data.push_back(std::move(*state));
  }
  if (auto delegates = delegates_entry(lowered, memory_plan)) {
    emitted.program.named_data.push_back(std::move(*delegates));
  }
  if (auto io = io_entry(lowered.graph)) emitted.program.named_data.push_back(std::move(*io));
  if (options.layers) emitted.program.named_data.push_back(layers_entry(lowered));
  if (options.io_names) emitted.program.named_data.push_back(names_entry(*options.io_names));
  if (options.dialect == engine::Dialect::kNative) {
    // If records cannot represent the program (delegate calls), the file has none, and the runtime
    // executes the flatbuffer tables. The error is the reason, and is not needed.
    (void)formats::pte::add_records(emitted.program);
  }
  emitted.constant_bytes += stored_bytes(emitted.program.constants);
  if (options.dialect == engine::Dialect::kStock) THIMBLE_CHECK(check_stock(emitted.program));
  THIMBLE_TRY(emitted.bytes, formats::pte::write(emitted.program));
  return emitted;
}

}  // namespace thimble::emit
