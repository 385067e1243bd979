// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/read_tables.h"

#include <bit>
#include <cstring>

namespace thimble::formats::pte {
namespace {

/// Items of 8 bytes are loaded byte by byte, because the verifier does not check their alignment.
template <typename Item, typename T>
void load_items(const flatbuffers::Vector<T>& from, std::vector<Item>& to) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(from.Data()), from.size() * sizeof(T));
  to.reserve(from.size());
  for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    if constexpr (sizeof(T) == 1) {
      to.push_back(static_cast<Item>(std::to_integer<uint8_t>(bytes[i])));
    } else if constexpr (sizeof(T) == 4) {
      to.push_back(std::bit_cast<Item>(load_le<uint32_t>(bytes, i)));
    } else {
      to.push_back(std::bit_cast<Item>(load_le<uint64_t>(bytes, i)));
    }
  }
}

class PlanReader {
 public:
  PlanReader(const fb::ExecutionPlan& plan, const std::string& where, ReadBudget& budget)
      : from_(plan), where_(where), budget_(budget) {}

  Result<PlanTables> run() {
    THIMBLE_CHECK(required("name", from_.name()));
    THIMBLE_CHECK(string(from_.name(), out_.plan.name));
    if (const auto* c = from_.container_meta_type()) {
      ContainerMetadata& container = out_.plan.container.emplace();
      THIMBLE_CHECK(string(c->encoded_inp_str(), container.encoded_input));
      THIMBLE_CHECK(string(c->encoded_out_str(), container.encoded_output));
    }
    THIMBLE_CHECK(values());
    THIMBLE_CHECK(items("inputs", from_.inputs(), out_.plan.inputs));
    THIMBLE_CHECK(items("outputs", from_.outputs(), out_.plan.outputs));
    THIMBLE_CHECK(operators());
    THIMBLE_CHECK(delegates());
    THIMBLE_CHECK(chains());
    THIMBLE_CHECK(memories());
    return std::move(out_);
  }

 private:
  [[nodiscard]] Error fail(std::string_view place, std::string_view what) const {
    return bad_input("{}: {}: {}", where_, place, what);
  }
  [[nodiscard]] Status required(std::string_view place, const void* pointer) const {
    if (pointer != nullptr) return ok();
    return fail(place, "missing");
  }
  [[nodiscard]] Status spend(uint64_t amount) const {
    if (budget_.take(amount)) return ok();
    return bad_input("{}: shared tables make the content many times larger than the file", where_);
  }

  [[nodiscard]] Status string(const flatbuffers::String* from, std::string& to) {
    THIMBLE_CHECK(spend(view(from).size()));
    to = view(from);
    return ok();
  }

  template <typename Item, typename T>
  [[nodiscard]] Status items(const std::string& place, const flatbuffers::Vector<T>* from,
                             std::vector<Item>& to) {
    THIMBLE_CHECK(required(place, from));
    return optional_items(from, to);
  }
  template <typename Item, typename T>
  [[nodiscard]] Status optional_items(const flatbuffers::Vector<T>* from, std::vector<Item>& to) {
    if (from == nullptr) return ok();
    THIMBLE_CHECK(spend(from->size()));
    load_items(*from, to);
    return ok();
  }
  [[nodiscard]] Status bytes(const flatbuffers::Vector<uint8_t>* from, Bytes& to) {
    if (from == nullptr) return ok();
    THIMBLE_CHECK(spend(from->size()));
    const auto* data = reinterpret_cast<const std::byte*>(from->Data());
    to.assign(data, data + from->size());
    return ok();
  }

  // --- Values ---

  [[nodiscard]] Status values() {
    THIMBLE_CHECK(required("values", from_.values()));
    THIMBLE_CHECK(spend(from_.values()->size()));
    for (const fb::EValue* from : *from_.values()) {
      const std::string place = fmt::format("values[{}]", out_.plan.values.size());
      THIMBLE_TRY(EValue value, read_value(place, *from));
      out_.plan.values.push_back(std::move(value));
    }
    return ok();
  }

  [[nodiscard]] Result<EValue> read_value(const std::string& place, const fb::EValue& from) {
    const auto tag = from.val_type();
    if (tag == fb::KernelTypes::Null) return EValue(Null{});
    if (tag == fb::KernelTypes::NONE || tag > fb::KernelTypes::MAX) {
      return fail(place, fmt::format("unknown value type {}", static_cast<int>(tag)));
    }
    THIMBLE_CHECK(required(place, from.val()));
    if (const auto* x = from.val_as_Int()) return EValue(Int{x->int_val()});
    if (const auto* x = from.val_as_Bool()) return EValue(Bool{x->bool_val()});
    if (const auto* x = from.val_as_Double()) return EValue(Double{x->double_val()});
    if (const auto* x = from.val_as_Tensor()) return tensor(place, *x);
    if (const auto* x = from.val_as_String()) {
      THIMBLE_CHECK(required(place, x->string_val()));
      String value;
      THIMBLE_CHECK(string(x->string_val(), value.value));
      return EValue(std::move(value));
    }
    if (const auto* x = from.val_as_IntList()) return list<IntList>(place, x->items());
    if (const auto* x = from.val_as_DoubleList()) return list<DoubleList>(place, x->items());
    if (const auto* x = from.val_as_BoolList()) return list<BoolList>(place, x->items());
    if (const auto* x = from.val_as_TensorList()) return list<TensorList>(place, x->items());
    return list<OptionalTensorList>(place, from.val_as_OptionalTensorList()->items());
  }

  template <typename List, typename T>
  [[nodiscard]] Result<EValue> list(const std::string& place, const flatbuffers::Vector<T>* from) {
    List value;
    THIMBLE_CHECK(items(place, from, value.items));
    return EValue(std::move(value));
  }

  [[nodiscard]] Result<EValue> tensor(const std::string& place, const fb::Tensor& from) {
    Tensor out;
    out.scalar_type = static_cast<ScalarType>(from.scalar_type());
    out.storage_offset = from.storage_offset();
    THIMBLE_CHECK(items(place + ".sizes", from.sizes(), out.sizes));
    THIMBLE_CHECK(items(place + ".dim_order", from.dim_order(), out.dim_order));
    out.requires_grad = from.requires_grad();
    out.data_buffer_idx = from.data_buffer_idx();
    if (const auto* x = from.allocation_info()) {
      const uint64_t high = x->memory_offset_high();
      out.allocation = Allocation{x->memory_id(), (high << 32) | x->memory_offset_low()};
    }
    out.layout = from.layout();
    out.shape_dynamism = static_cast<ShapeDynamism>(from.shape_dynamism());
    if (const auto* x = from.extra_tensor_info()) {
      ExtraTensorInfo& extra = out.extra.emplace();
      extra.mutable_segment = x->mutable_data_segments_idx();
      if (x->fully_qualified_name() != nullptr) {
        THIMBLE_CHECK(string(x->fully_qualified_name(), extra.fully_qualified_name.emplace()));
      }
      extra.location = static_cast<TensorLocation>(x->location());
      extra.device = {x->device_type(), x->device_index()};
    }
    return EValue(std::move(out));
  }

  // --- Operators, delegates, memories ---

  [[nodiscard]] Status operators() {
    if (from_.operators() == nullptr) return ok();
    THIMBLE_CHECK(spend(from_.operators()->size()));
    for (const fb::Operator* from : *from_.operators()) {
      Operator& op = out_.plan.operators.emplace_back();
      THIMBLE_CHECK(required(fmt::format("operators[{}].name", out_.plan.operators.size() - 1),
                             from->name()));
      THIMBLE_CHECK(string(from->name(), op.name));
      THIMBLE_CHECK(string(from->overload(), op.overload));
    }
    return ok();
  }

  [[nodiscard]] Status delegates() {
    if (from_.delegates() == nullptr) return ok();
    THIMBLE_CHECK(spend(from_.delegates()->size()));
    for (const fb::BackendDelegate* from : *from_.delegates()) {
      BackendDelegate& delegate = out_.plan.delegates.emplace_back();
      const std::string place = fmt::format("delegates[{}]", out_.plan.delegates.size() - 1);
      THIMBLE_CHECK(required(place + ".id", from->id()));
      THIMBLE_CHECK(string(from->id(), delegate.id));
      THIMBLE_CHECK(required(place + ".processed", from->processed()));
      out_.blob_places.push_back({from->processed()->location(), from->processed()->index()});
      if (from->compile_specs() == nullptr) continue;
      THIMBLE_CHECK(spend(from->compile_specs()->size()));
      for (const fb::CompileSpec* spec : *from->compile_specs()) {
        CompileSpec& out = delegate.compile_specs.emplace_back();
        THIMBLE_CHECK(string(spec->key(), out.key));
        THIMBLE_CHECK(bytes(spec->value(), out.value));
      }
    }
    return ok();
  }

  [[nodiscard]] Status memories() {
    out_.plan.memory_sizes.clear();
    THIMBLE_CHECK(
        items("non_const_buffer_sizes", from_.non_const_buffer_sizes(), out_.plan.memory_sizes));
    if (from_.non_const_buffer_device() == nullptr) return ok();
    THIMBLE_CHECK(spend(from_.non_const_buffer_device()->size()));
    for (const fb::NonConstBufferDevice* from : *from_.non_const_buffer_device()) {
      out_.plan.memory_devices.push_back(
          {from->buffer_idx(), {from->device_type(), from->device_index()}});
    }
    return ok();
  }

  // --- Instructions ---

  [[nodiscard]] Status chains() {
    out_.plan.chains.clear();
    THIMBLE_CHECK(required("chains", from_.chains()));
    THIMBLE_CHECK(spend(from_.chains()->size()));
    for (const fb::Chain* from : *from_.chains()) {
      const std::string place = fmt::format("chains[{}]", out_.plan.chains.size());
      Chain& chain = out_.plan.chains.emplace_back();
      THIMBLE_CHECK(optional_items(from->inputs(), chain.inputs));
      THIMBLE_CHECK(optional_items(from->outputs(), chain.outputs));
      THIMBLE_CHECK(required(place + ".instructions", from->instructions()));
      THIMBLE_CHECK(spend(from->instructions()->size()));
      for (const fb::Instruction* x : *from->instructions()) {
        const size_t i = chain.instructions.size();
        THIMBLE_TRY(Instruction instruction,
                    read_instruction(fmt::format("{}.instructions[{}]", place, i), *x));
        chain.instructions.push_back(std::move(instruction));
      }
      THIMBLE_CHECK(stacktrace(*from, chain));
    }
    return ok();
  }

  [[nodiscard]] Result<Instruction> read_instruction(const std::string& place,
                                                     const fb::Instruction& from) {
    const auto tag = from.instr_args_type();
    if (tag == fb::InstructionArguments::NONE || tag > fb::InstructionArguments::MAX) {
      return fail(place, fmt::format("unknown instruction {}", static_cast<int>(tag)));
    }
    THIMBLE_CHECK(required(place, from.instr_args()));
    if (const auto* x = from.instr_args_as_KernelCall()) {
      KernelCall call{x->op_index(), {}};
      THIMBLE_CHECK(items(place + ".args", x->args(), call.args));
      return Instruction(std::move(call));
    }
    if (const auto* x = from.instr_args_as_DelegateCall()) {
      DelegateCall call{x->delegate_index(), {}};
      THIMBLE_CHECK(items(place + ".args", x->args(), call.args));
      return Instruction(std::move(call));
    }
    if (const auto* x = from.instr_args_as_MoveCall()) {
      return Instruction(MoveCall{x->move_from(), x->move_to()});
    }
    if (const auto* x = from.instr_args_as_JumpFalseCall()) {
      return Instruction(JumpFalseCall{x->cond_value_index(), x->destination_instruction()});
    }
    return Instruction(FreeCall{from.instr_args_as_FreeCall()->value_index()});
  }

  [[nodiscard]] Status stacktrace(const fb::Chain& from, Chain& chain) {
    if (from.stacktrace() == nullptr) return ok();
    THIMBLE_CHECK(spend(from.stacktrace()->size()));
    for (const fb::FrameList* list : *from.stacktrace()) {
      std::vector<Frame>& frames = chain.stacktrace.emplace_back();
      if (list->items() == nullptr) continue;
      THIMBLE_CHECK(spend(list->items()->size()));
      for (const fb::Frame* x : *list->items()) {
        Frame& frame = frames.emplace_back();
        THIMBLE_CHECK(string(x->filename(), frame.filename));
        frame.line = x->lineno();
        THIMBLE_CHECK(string(x->name(), frame.name));
        THIMBLE_CHECK(string(x->context(), frame.context));
      }
    }
    return ok();
  }

  const fb::ExecutionPlan& from_;
  const std::string& where_;
  ReadBudget& budget_;
  PlanTables out_;
};

}  // namespace

Result<VerifiedTables> verify_tables(ByteView file, const Header& header, std::string_view label) {
  if (header.program_size >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    return bad_input("{}: program: {} bytes exceed a flatbuffer", label, header.program_size);
  }
  const auto size = static_cast<size_t>(header.program_size);
  VerifiedTables out;
  out.storage.resize((size + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  std::memcpy(out.storage.data(), file.data(), size);
  const auto* start = reinterpret_cast<const uint8_t*>(out.storage.data());
  flatbuffers::Verifier verifier(start, size);
  if (!fb::VerifyProgramBuffer(verifier)) {
    return bad_input("{}: program: the flatbuffer is truncated or damaged", label);
  }
  out.root = fb::GetProgram(start);
  return out;
}

Result<PlanTables> read_plan(const fb::ExecutionPlan& plan, const std::string& where,
                             ReadBudget& budget) {
  return PlanReader(plan, where, budget).run();
}

}  // namespace thimble::formats::pte
