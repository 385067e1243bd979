#include "emit/emit.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "abi/limits.h"
#include "abi/named_data.h"
#include "abi/native_params.h"
#include "emit/check_stock.h"
#include "emit/layers.h"
#include "emit/value_table.h"
#include "formats/pte/records.h"
#include "formats/pte/write.h"

namespace thimble::emit {
namespace {

namespace pte = formats::pte;
using ir::ValueId;

pte::ScalarType scalar_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kF32:
      return pte::ScalarType::kFloat;
    case ir::DType::kI8:
      return pte::ScalarType::kChar;
    case ir::DType::kU8:
      return pte::ScalarType::kByte;
    case ir::DType::kI16:
      return pte::ScalarType::kShort;
    case ir::DType::kI32:
      return pte::ScalarType::kInt;
    case ir::DType::kI64:
      return pte::ScalarType::kLong;
    case ir::DType::kBool:
      return pte::ScalarType::kBool;
  }
  return pte::ScalarType::kByte;
}

std::vector<uint8_t> written_order(const ir::DimOrder& order, size_t rank) {
  if (!order.empty()) return {order.begin(), order.end()};
  std::vector<uint8_t> identity(rank);
  for (size_t i = 0; i < rank; ++i) identity[i] = static_cast<uint8_t>(i);
  return identity;
}

pte::Tensor tensor_of(ir::DType dtype, const ir::Shape& sizes, const ir::DimOrder& order) {
  pte::Tensor tensor;
  tensor.scalar_type = scalar_type(dtype);
  for (const int64_t size : sizes) tensor.sizes.push_back(static_cast<int32_t>(size));
  tensor.dim_order = written_order(order, sizes.size());
  return tensor;
}

class Emitter {
 public:
  Emitter(const engine::Lowered& lowered, const Schedule& schedule, engine::Dialect dialect)
      : graph_(lowered.graph),
        calls_(lowered.calls),
        schedule_(schedule),
        stock_(dialect == engine::Dialect::kStock) {}

  pte::Program run() {
    pte::ExecutionPlan plan;
    plan.name = graph_.name;
    for (const ValueId input : graph_.inputs()) {
      const ir::Type& type = graph_.type(input);
      pte::Tensor tensor = tensor_of(type.dtype, type.shape, type.dim_order);
      const int storage = schedule_.storage_of_value[static_cast<size_t>(input)];
      if (storage >= 0) tensor.allocation = allocation(storage);
      // Inputs are never shared: two inputs of one shape are two different buffers.
      input_index_[input] = values_.add(std::move(tensor));
      plan.inputs.push_back(input_index_[input]);
    }
    for (const ir::State& state : graph_.states()) add_state(state);
    for (size_t i = 0; i < calls_.size(); ++i) {
      plan.chains[0].instructions.push_back(instruction(static_cast<int>(i)));
    }
    for (const ValueId output : graph_.outputs()) plan.outputs.push_back(value(output));
    plan.operators = std::move(operators_);
    plan.values = values_.take();
    plan.memory_sizes = {0, schedule_.placement.peak_bytes};
    pte::Program program;
    program.plans.push_back(std::move(plan));
    program.constants = constants_.take();
    if (initial_values_.buffers.size() > 1) {
      program.mutable_segments.push_back(std::move(initial_values_));
    }
    return program;
  }

 private:
  /// The stock runtime reads the initial value of a tensor. Thimble's runtime reads state_entry().
  void add_state(const ir::State& state) {
    if (!stock_) return;
    const ir::Type& type = graph_.type(state.value);
    pte::Tensor tensor = tensor_of(type.dtype, type.shape, type.dim_order);
    tensor.allocation = allocation(schedule_.storage_of_value[static_cast<size_t>(state.value)]);
    tensor.data_buffer_idx = static_cast<uint32_t>(initial_values_.buffers.size());
    initial_values_.buffers.push_back(ir::to_memory(*state.initial, type.dim_order));
    input_index_[state.value] = values_.add(std::move(tensor));
  }

  int32_t value(ValueId id) {
    const ir::Value& v = graph_.value(id);
    pte::Tensor tensor = tensor_of(v.type.dtype, v.type.shape, v.type.dim_order);
    const ValueId source = schedule_.source_of[static_cast<size_t>(id)];
    if (const auto& constant = graph_.value(source).constant) {
      tensor.data_buffer_idx =
          constants_.add(ir::to_memory(*constant, graph_.type(source).dim_order));
      return values_.tensor(tensor);
    }
    if (const auto found = input_index_.find(id); found != input_index_.end()) return found->second;
    tensor.allocation = allocation(schedule_.storage_of_value[static_cast<size_t>(id)]);
    return values_.tensor(tensor);
  }

  pte::Allocation allocation(int storage) const {
    return {1, static_cast<uint64_t>(schedule_.placement.offsets[static_cast<size_t>(storage)])};
  }

  int32_t argument(const engine::Argument& argument, int call) {
    if (const auto* ref = std::get_if<engine::ValueRef>(&argument)) return value(ref->id);
    if (const auto* constant = std::get_if<engine::Constant>(&argument)) {
      pte::Tensor tensor = tensor_of(constant->dtype, constant->sizes, constant->dim_order);
      tensor.data_buffer_idx = constants_.add(*constant->bytes);
      return values_.tensor(tensor);
    }
    if (const auto* scratch = std::get_if<engine::Scratch>(&argument)) {
      pte::Tensor tensor = tensor_of(ir::DType::kU8, {scratch->bytes}, {});
      tensor.allocation = allocation(schedule_.scratch_of_call[static_cast<size_t>(call)]);
      return values_.tensor(tensor);
    }
    if (const auto* integer = std::get_if<int64_t>(&argument)) return values_.integer(*integer);
    if (const auto* boolean = std::get_if<bool>(&argument)) return values_.boolean(*boolean);
    if (const auto* number = std::get_if<double>(&argument)) return values_.number(*number);
    if (const auto* integers = std::get_if<engine::Integers>(&argument))
      return values_.integers(*integers);
    if (const auto* list = std::get_if<engine::ValueList>(&argument)) {
      std::vector<int32_t> indices;
      for (const ValueId id : *list) indices.push_back(value(id));
      return values_.tensors(indices);
    }
    return values_.null();
  }

  pte::Instruction instruction(int index) {
    if (calls_[static_cast<size_t>(index)].delegate >= 0) return delegate_call(index);
    return kernel_call(index);
  }

  pte::DelegateCall delegate_call(int index) {
    const engine::KernelCall& call = calls_[static_cast<size_t>(index)];
    pte::DelegateCall instruction;
    instruction.delegate_index = call.delegate;
    for (const engine::Argument& item : call.arguments)
      instruction.args.push_back(argument(item, index));
    instruction.args.push_back(value(call.out));
    for (const ValueId more : call.extra_outputs) instruction.args.push_back(value(more));
    return instruction;
  }

  pte::KernelCall kernel_call(int index) {
    const engine::KernelCall& call = calls_[static_cast<size_t>(index)];
    pte::KernelCall instruction;
    instruction.op_index = operator_index(abi::info(call.op).name);
    for (const engine::Argument& item : call.arguments)
      instruction.args.push_back(argument(item, index));
    const int32_t out = value(call.out);
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
  const Schedule& schedule_;
  const bool stock_;
  ValueTable values_;
  pte::MutableSegment initial_values_{{Bytes{}}};
  pte::ConstantPool constants_;
  std::vector<pte::Operator> operators_;
  std::map<ValueId, int32_t> input_index_;  // includes states that have an initial value
};

pte::NamedData entry(const engine::Core& target, engine::Dialect dialect,
                     const Schedule& schedule) {
  abi::ProgramEntry entry = {};
  entry.magic = abi::kProgramEntryMagic;
  entry.entry_version = abi::kEntryVersionHeaderOnly;
  entry.kernel_layout_version = dialect == engine::Dialect::kNative
                                    ? static_cast<uint16_t>(abi::kKernelLayoutVersion)
                                    : uint16_t{0};
  entry.arena_bytes = static_cast<uint32_t>(schedule.placement.peak_bytes);
  entry.isa = target.isa;
  entry.dialect = dialect == engine::Dialect::kStock ? abi::Dialect::kStock : abi::Dialect::kNative;
  std::memcpy(entry.target, target.name.data(),
              std::min(target.name.size(), sizeof(entry.target) - 1));
  pte::NamedData data;
  data.key = abi::kProgramEntryKey;
  data.bytes.resize(sizeof(entry));
  std::memcpy(data.bytes.data(), &entry, sizeof(entry));
  return data;
}

/// Arena offsets and initial content of states: a fill byte if all bytes are equal, else the bytes.
std::optional<pte::NamedData> state_entry(const ir::Graph& graph, const Schedule& schedule) {
  if (graph.states().empty()) return std::nullopt;
  pte::NamedData data;
  data.key = abi::kStateKey;
  abi::StateHeader header = {static_cast<uint32_t>(graph.states().size()),
                             static_cast<uint32_t>(schedule.kept_bytes)};
  data.bytes.resize(sizeof(header) + header.count * sizeof(abi::StateRecord));
  std::memcpy(data.bytes.data(), &header, sizeof(header));
  for (size_t i = 0; i < graph.states().size(); ++i) {
    const ir::State& state = graph.states()[i];
    const int storage = schedule.storage_of_value[static_cast<size_t>(state.value)];
    const Bytes content = ir::to_memory(*state.initial, graph.type(state.value).dim_order);
    abi::StateRecord record = {};
    record.arena_offset =
        static_cast<uint32_t>(schedule.placement.offsets[static_cast<size_t>(storage)]);
    record.bytes = static_cast<uint32_t>(content.size());
    if (std::ranges::all_of(content, [&](std::byte byte) { return byte == content[0]; })) {
      record.fill = content.empty() ? 0 : std::to_integer<uint32_t>(content[0]);
    } else {
      record.content = static_cast<uint32_t>(data.bytes.size());
      append(data.bytes, content);
    }
    std::memcpy(data.bytes.data() + sizeof(header) + i * sizeof(record), &record, sizeof(record));
  }
  return data;
}

/// Scale and zero point of inputs and outputs; nullopt if none is quantized per tensor.
std::optional<pte::NamedData> io_quant(const ir::Graph& graph) {
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
    pte::BackendDelegate entry;
    entry.id = delegate.id;
    entry.blob = static_cast<uint32_t>(program.delegate_blobs.size());
    for (const auto& [key, value] : delegate.specs) {
      const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
      entry.compile_specs.push_back({key, Bytes(bytes, bytes + value.size())});
    }
    program.plans[0].delegates.push_back(std::move(entry));
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

/// Returns the address of each delegate's memory in the arena.
std::optional<pte::NamedData> delegates_entry(const engine::Lowered& lowered,
                                              const Schedule& schedule) {
  if (lowered.delegates.empty()) return std::nullopt;
  pte::NamedData data;
  data.key = abi::kDelegatesKey;
  data.bytes.resize(lowered.delegates.size() * sizeof(abi::DelegateRecord));
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    if (lowered.calls[step].delegate < 0) continue;
    const auto index = static_cast<size_t>(lowered.calls[step].delegate);
    const engine::Delegate& delegate = lowered.delegates[index];
    const auto scratch = static_cast<size_t>(schedule.scratch_of_call[step]);
    abi::DelegateRecord record = {};
    record.scratch_offset = static_cast<uint32_t>(schedule.placement.offsets[scratch]);
    record.fast_bytes = static_cast<uint32_t>(delegate.fast_scratch_bytes);
    record.fast_offset = abi::kFastOnDevice;
    const int kept = schedule.persistent_of_delegate[index];
    if (kept >= 0) {
      record.fast_bytes = static_cast<uint32_t>(delegate.kept_bytes);
      record.fast_offset =
          static_cast<uint32_t>(schedule.placement.offsets[static_cast<size_t>(kept)]);
    }
    record.memory_mode = delegate.memory_mode;
    std::memcpy(data.bytes.data() + index * sizeof(record), &record, sizeof(record));
  }
  return data;
}

}  // namespace

Result<Emitted> emit(const engine::Lowered& lowered, const Schedule& schedule,
                     const engine::Core& target, const EmitOptions& options) {
  Emitted emitted;
  emitted.program = Emitter(lowered, schedule, options.dialect).run();
  add_delegates(lowered.delegates, &emitted);
  emitted.program.named_data.push_back(entry(target, options.dialect, schedule));
  if (auto state = state_entry(lowered.graph, schedule)) {
    emitted.program.named_data.push_back(std::move(*state));
  }
  if (auto delegates = delegates_entry(lowered, schedule)) {
    emitted.program.named_data.push_back(std::move(*delegates));
  }
  if (auto io = io_quant(lowered.graph)) emitted.program.named_data.push_back(std::move(*io));
  if (options.names) emitted.program.named_data.push_back(layers_data(lowered));
  if (options.io_names) emitted.program.named_data.push_back(names_data(*options.io_names));
  if (options.dialect == engine::Dialect::kNative) {
    // Whatever records cannot say, delegate calls above all, is run from the tables.
    (void)formats::pte::add_records(emitted.program);
  }
  for (const Bytes& constant : emitted.program.constants) {
    emitted.constant_bytes += static_cast<int64_t>(constant.size());
  }
  if (options.dialect == engine::Dialect::kStock) THIMBLE_CHECK(check_stock(emitted.program));
  THIMBLE_TRY(emitted.bytes, formats::pte::write(emitted.program));
  return emitted;
}

}  // namespace thimble::emit
