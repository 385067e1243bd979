// SPDX-License-Identifier: Apache-2.0
// A flatbuffer table refers to its children by forward offsets, and several tables may refer to the
// same child. Programs have many equal children: shapes, dimension orders, argument lists,
// allocations, whole values. Every object is therefore created by `once`, which returns the offset
// of an equal object if one exists. Children are created first, so two tables are equal if and only
// if their scalars and the offsets of their children are equal. These numbers are the key.
//
// Rejected: a hash of finished bytes. A table stores distances, which differ for equal children.

#include "formats/pte/tables.h"

#include <bit>
#include <cmath>
#include <string>
#include <unordered_map>

#include "program_generated.h"

namespace thimble::formats::pte {
namespace {

using flatbuffers::Offset;
using flatbuffers::uoffset_t;

enum class Kind : char {
  kVector,
  kOffsets,
  kString,
  kInlineBytes,
  kContainer,
  kEmpty,
  kInt,
  kBool,
  kDouble,
  kOneField,
  kAllocation,
  kExtra,
  kTensor,
  kEValue,
  kCall,
  kInstruction,
  kFrame,
  kFrameList,
  kOperator,
  kReference,
  kSpec,
  kDelegate,
  kDevice,
  kSegment,
  kSubsegment,
  kNamedData
};

class Key {
 public:
  explicit Key(Kind kind) { bytes_.push_back(static_cast<char>(kind)); }

  template <typename T>
  Key& operator<<(T number) {
    static_assert(std::is_integral_v<T>);
    auto bits = static_cast<uint64_t>(number);
    for (size_t i = 0; i < sizeof(T); ++i, bits >>= 8) {
      bytes_.push_back(static_cast<char>(bits & 0xFF));
    }
    return *this;
  }
  template <typename T>
  Key& operator<<(Offset<T> offset) {
    return *this << offset.o;
  }
  Key& operator<<(std::string_view text) {
    bytes_.append(text);
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class TableBuilder {
 public:
  TableBuilder(const Program& program, const Segments& segments)
      : program_(program), segments_(segments) {}

  Bytes run() {
    std::vector<Offset<fb::ExecutionPlan>> plans;
    for (const ExecutionPlan& p : program_.plans) plans.push_back(plan(p));
    const auto plans_vector = offsets(plans);
    const auto constant_buffer = constants_inline();
    const auto inline_data = inline_blobs();
    const auto segment_vector = data_segments();
    Offset<fb::SubsegmentOffsets> constants;
    if (!program_.constants_inline) constants = subsegments(segments_.constants);
    std::vector<Offset<fb::SubsegmentOffsets>> mutable_data;
    for (const SubsegmentOffsets& s : segments_.mutable_segments) {
      mutable_data.push_back(subsegments(s));
    }
    const auto mutable_vector = offsets_or_absent(mutable_data);
    const auto named = named_data();
    builder_.Finish(
        fb::CreateProgram(builder_, program_.version, plans_vector, constant_buffer, inline_data,
                          segment_vector, constants, mutable_vector, named),
        fb::ProgramIdentifier());
    const auto* data = reinterpret_cast<const std::byte*>(builder_.GetBufferPointer());
    return {data, data + builder_.GetSize()};
  }

 private:
  template <typename Make>
  auto once(const Key& key, Make make) -> decltype(make()) {
    const auto found = made_.find(key.bytes());
    if (found != made_.end()) return decltype(make())(found->second);
    const auto offset = make();
    made_.emplace(key.bytes(), offset.o);
    return offset;
  }

  /// Vectors are compared by bytes, regardless of element type, if the element size is equal.
  template <typename T>
  Offset<flatbuffers::Vector<T>> vector(const std::vector<T>& items) {
    const size_t key_size = items.empty() && sizeof(T) < 4 ? 4 : sizeof(T);
    Key key(Kind::kVector);
    key << static_cast<uint8_t>(key_size);
    for (const T& item : items) {
      if constexpr (std::is_same_v<T, double>) {
        key << std::bit_cast<uint64_t>(item);
      } else {
        key << item;
      }
    }
    return once(key, [&] { return builder_.CreateVector(items); });
  }
  Offset<flatbuffers::Vector<uint8_t>> bools(const std::vector<bool>& items) {
    return vector(std::vector<uint8_t>(items.begin(), items.end()));
  }

  template <typename T>
  Offset<flatbuffers::Vector<Offset<T>>> offsets(const std::vector<Offset<T>>& items) {
    if (items.empty()) return vector(std::vector<uint32_t>()).o;
    Key key(Kind::kOffsets);
    for (Offset<T> item : items) key << item;
    return once(key, [&] { return builder_.CreateVector(items); });
  }
  template <typename T>
  Offset<flatbuffers::Vector<Offset<T>>> offsets_or_absent(const std::vector<Offset<T>>& items) {
    if (items.empty()) return {};
    return offsets(items);
  }
  Offset<flatbuffers::Vector<int32_t>> vector_or_absent(const std::vector<int32_t>& items) {
    if (items.empty()) return {};
    return vector(items);
  }

  Offset<flatbuffers::String> text(std::string_view s) {
    return once(Key(Kind::kString) << s, [&] { return builder_.CreateString(s.data(), s.size()); });
  }
  Offset<flatbuffers::Vector<uint8_t>> aligned_bytes(ByteView bytes) {
    return once(Key(Kind::kInlineBytes) << as_text(bytes), [&] {
      builder_.ForceVectorAlignment(bytes.size(), 1, 16);
      return builder_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    });
  }

  // --- Bulk data ---

  Offset<flatbuffers::Vector<Offset<fb::Buffer>>> constants_inline() {
    std::vector<Offset<fb::Buffer>> buffers;
    if (program_.constants_inline) {
      for (const Bytes& constant : program_.constants) {
        const auto storage = aligned_bytes(constant);
        buffers.push_back(once(Key(Kind::kOneField) << storage,
                               [&] { return fb::CreateBuffer(builder_, storage); }));
      }
    }
    return offsets_or_absent(buffers);
  }

  Offset<flatbuffers::Vector<Offset<fb::InlineData>>> inline_blobs() {
    std::vector<Offset<fb::InlineData>> blobs;
    for (ByteView bytes : segments_.inline_blobs) {
      const auto data = aligned_bytes(bytes);
      blobs.push_back(
          once(Key(Kind::kOneField) << data, [&] { return fb::CreateInlineData(builder_, data); }));
    }
    return offsets_or_absent(blobs);
  }

  Offset<flatbuffers::Vector<Offset<fb::DataSegment>>> data_segments() {
    std::vector<Offset<fb::DataSegment>> all;
    for (const Segment& s : segments_.all) {
      all.push_back(once(Key(Kind::kSegment) << s.offset << s.size,
                         [&] { return fb::CreateDataSegment(builder_, s.offset, s.size); }));
    }
    return offsets_or_absent(all);
  }

  Offset<fb::SubsegmentOffsets> subsegments(const SubsegmentOffsets& s) {
    const auto items = vector(s.offsets);
    return once(Key(Kind::kSubsegment) << s.segment << items,
                [&] { return fb::CreateSubsegmentOffsets(builder_, s.segment, items); });
  }

  Offset<flatbuffers::Vector<Offset<fb::NamedData>>> named_data() {
    std::vector<Offset<fb::NamedData>> all;
    for (size_t i = 0; i < program_.named_data.size(); ++i) {
      const auto key = text(program_.named_data[i].key);
      all.push_back(fb::CreateNamedData(builder_, key, segments_.named_data_index[i]));
    }
    return offsets_or_absent(all);
  }

  // --- One method ---

  Offset<fb::ExecutionPlan> plan(const ExecutionPlan& plan) {
    std::vector<Offset<fb::EValue>> values;
    for (const EValue& v : plan.values) values.push_back(value(v));
    std::vector<Offset<fb::Operator>> operators;
    for (const Operator& o : plan.operators) operators.push_back(op(o));
    std::vector<Offset<fb::BackendDelegate>> delegates;
    for (const BackendDelegate& d : plan.delegates) delegates.push_back(delegate(d));
    std::vector<Offset<fb::Chain>> chains;
    for (const Chain& c : plan.chains) chains.push_back(chain(c));
    std::vector<Offset<fb::NonConstBufferDevice>> devices;
    for (const MemoryDevice& d : plan.memory_devices) {
      devices.push_back(
          once(Key(Kind::kDevice) << d.memory_id << d.device.type << d.device.index, [&] {
            return fb::CreateNonConstBufferDevice(builder_, d.memory_id, d.device.type,
                                                  d.device.index);
          }));
    }
    Offset<fb::ContainerMetadata> container;
    if (plan.container) {
      const auto input = text(plan.container->encoded_input);
      const auto output = text(plan.container->encoded_output);
      container = once(Key(Kind::kContainer) << input << output,
                       [&] { return fb::CreateContainerMetadata(builder_, input, output); });
    }
    // The stock runtime requires these vectors even if they are empty.
    const auto name = text(plan.name);
    const auto value_vector = offsets(values);
    const auto inputs = vector(plan.inputs);
    const auto outputs = vector(plan.outputs);
    const auto chain_vector = offsets(chains);
    const auto operator_vector = offsets(operators);
    const auto delegate_vector = offsets(delegates);
    const auto sizes = vector(plan.memory_sizes);
    const auto device_vector = offsets_or_absent(devices);
    return fb::CreateExecutionPlan(builder_, name, container, value_vector, inputs, outputs,
                                   chain_vector, operator_vector, delegate_vector, sizes,
                                   device_vector);
  }

  Offset<fb::Operator> op(const Operator& op) {
    const auto name = text(op.name);
    Offset<flatbuffers::String> overload;
    if (!op.overload.empty()) overload = text(op.overload);
    return once(Key(Kind::kOperator) << name << overload,
                [&] { return fb::CreateOperator(builder_, name, overload); });
  }

  Offset<fb::BackendDelegate> delegate(const BackendDelegate& d) {
    const auto id = text(d.id);
    const auto location = static_cast<int8_t>(program_.delegate_blobs[d.blob].location);
    const uint32_t index = segments_.blob_index[d.blob];
    const auto processed = once(Key(Kind::kReference) << location << index, [&] {
      return fb::CreateDelegateDataReference(builder_, location, index);
    });
    std::vector<Offset<fb::CompileSpec>> specs;
    for (const CompileSpec& s : d.compile_specs) {
      const auto key = text(s.key);
      const auto* bytes = reinterpret_cast<const uint8_t*>(s.value.data());
      const auto bytes_vector = vector(std::vector<uint8_t>(bytes, bytes + s.value.size()));
      specs.push_back(once(Key(Kind::kSpec) << key << bytes_vector,
                           [&] { return fb::CreateCompileSpec(builder_, key, bytes_vector); }));
    }
    const auto spec_vector = offsets_or_absent(specs);
    return once(Key(Kind::kDelegate) << id << processed << spec_vector,
                [&] { return fb::CreateBackendDelegate(builder_, id, processed, spec_vector); });
  }

  // --- Values ---

  Offset<fb::EValue> value(const EValue& value) {
    const auto tag = static_cast<fb::KernelTypes>(value.index() + 1);
    const Offset<void> content = std::visit([&](const auto& x) { return content_of(x); }, value);
    return once(Key(Kind::kEValue) << static_cast<uint8_t>(tag) << content,
                [&] { return fb::CreateEValue(builder_, tag, content); });
  }

  Offset<void> content_of(const Null&) {
    return once(Key(Kind::kEmpty), [&] { return fb::CreateNull(builder_).Union(); });
  }
  Offset<void> content_of(const Int& x) {
    return once(Key(Kind::kInt) << x.value,
                [&] { return fb::CreateInt(builder_, x.value).Union(); });
  }
  Offset<void> content_of(const Bool& x) {
    return once(Key(Kind::kBool) << static_cast<uint8_t>(x.value),
                [&] { return fb::CreateBool(builder_, x.value).Union(); });
  }
  Offset<void> content_of(const Double& x) {
    return once(Key(Kind::kDouble) << std::bit_cast<uint64_t>(x.value), [&] {
      // A table omits a field that equals its default, and -0.0 compares equal to 0.0.
      fb::DoubleBuilder table(builder_);
      const bool minus_zero = x.value == 0 && std::signbit(x.value);
      if (minus_zero) builder_.ForceDefaults(true);
      table.add_double_val(x.value);
      builder_.ForceDefaults(false);
      return table.Finish().Union();
    });
  }
  /// String and the lists are tables with one offset.
  template <typename Create>
  Offset<void> one_field(uoffset_t field, Create create) {
    return once(Key(Kind::kOneField) << field, [&] { return create().Union(); });
  }
  Offset<void> content_of(const String& x) {
    const auto s = text(x.value);
    return one_field(s.o, [&] { return fb::CreateString(builder_, s); });
  }
  Offset<void> content_of(const IntList& x) {
    const auto items = vector(x.items);
    return one_field(items.o, [&] { return fb::CreateIntList(builder_, items); });
  }
  Offset<void> content_of(const DoubleList& x) {
    const auto items = vector(x.items);
    return one_field(items.o, [&] { return fb::CreateDoubleList(builder_, items); });
  }
  Offset<void> content_of(const BoolList& x) {
    const auto items = bools(x.items);
    return one_field(items.o, [&] { return fb::CreateBoolList(builder_, items); });
  }
  Offset<void> content_of(const TensorList& x) {
    const auto items = vector(x.items);
    return one_field(items.o, [&] { return fb::CreateTensorList(builder_, items); });
  }
  Offset<void> content_of(const OptionalTensorList& x) {
    const auto items = vector(x.items);
    return one_field(items.o, [&] { return fb::CreateOptionalTensorList(builder_, items); });
  }

  Offset<void> content_of(const Tensor& t) {
    const auto sizes = vector(t.sizes);
    const auto dim_order = vector(t.dim_order);
    const auto type = static_cast<int8_t>(t.scalar_type);
    const auto dynamism = static_cast<int8_t>(t.shape_dynamism);
    Offset<fb::AllocationDetails> allocation;
    if (t.allocation) {
      const auto low = static_cast<uint32_t>(t.allocation->offset);
      const auto high = static_cast<uint32_t>(t.allocation->offset >> 32);
      allocation = once(Key(Kind::kAllocation) << t.allocation->memory_id << low << high, [&] {
        return fb::CreateAllocationDetails(builder_, t.allocation->memory_id, low, high);
      });
    }
    Offset<fb::ExtraTensorInfo> extra;
    if (t.extra) extra = extra_info(*t.extra);
    const Key key = Key(Kind::kTensor) << type << t.storage_offset << sizes << dim_order
                                       << static_cast<uint8_t>(t.requires_grad) << t.data_buffer_idx
                                       << allocation << t.layout << dynamism << extra;
    return once(key, [&] {
      return fb::CreateTensor(builder_, type, t.storage_offset, sizes, dim_order, t.requires_grad,
                              t.data_buffer_idx, allocation, t.layout, dynamism, extra)
          .Union();
    });
  }

  Offset<fb::ExtraTensorInfo> extra_info(const ExtraTensorInfo& x) {
    Offset<flatbuffers::String> name;
    if (x.fully_qualified_name) name = text(*x.fully_qualified_name);
    const auto location = static_cast<int8_t>(x.location);
    const Key key = Key(Kind::kExtra)
                    << x.mutable_segment << name << location << x.device.type << x.device.index;
    return once(key, [&] {
      return fb::CreateExtraTensorInfo(builder_, x.mutable_segment, name, location, x.device.type,
                                       x.device.index);
    });
  }

  // --- Instructions ---

  Offset<fb::Chain> chain(const Chain& c) {
    std::vector<Offset<fb::Instruction>> instructions;
    for (const Instruction& x : c.instructions) instructions.push_back(instruction(x));
    std::vector<Offset<fb::FrameList>> stacktrace;
    for (const std::vector<Frame>& frames : c.stacktrace) {
      std::vector<Offset<fb::Frame>> items;
      for (const Frame& f : frames) items.push_back(frame(f));
      const auto item_vector = offsets(items);
      stacktrace.push_back(once(Key(Kind::kFrameList) << item_vector,
                                [&] { return fb::CreateFrameList(builder_, item_vector); }));
    }
    const auto inputs = vector_or_absent(c.inputs);
    const auto outputs = vector_or_absent(c.outputs);
    const auto instruction_vector = offsets(instructions);
    const auto stacktrace_vector = offsets_or_absent(stacktrace);
    return fb::CreateChain(builder_, inputs, outputs, instruction_vector, stacktrace_vector);
  }

  Offset<fb::Frame> frame(const Frame& f) {
    const auto file = text(f.filename);
    const auto name = text(f.name);
    const auto context = text(f.context);
    return once(Key(Kind::kFrame) << file << f.line << name << context,
                [&] { return fb::CreateFrame(builder_, file, f.line, name, context); });
  }

  Offset<fb::Instruction> instruction(const Instruction& x) {
    const auto tag = static_cast<fb::InstructionArguments>(x.index() + 1);
    const Offset<void> content = std::visit([&](const auto& call) { return call_of(call); }, x);
    return once(Key(Kind::kInstruction) << static_cast<uint8_t>(tag) << content,
                [&] { return fb::CreateInstruction(builder_, tag, content); });
  }

  // Calls of different kinds share a table if their fields are equal.
  Offset<void> call_of(const KernelCall& x) {
    const auto args = vector(x.args);
    return once(Key(Kind::kCall) << x.op_index << args << 'a',
                [&] { return fb::CreateKernelCall(builder_, x.op_index, args).Union(); });
  }
  Offset<void> call_of(const DelegateCall& x) {
    const auto args = vector(x.args);
    return once(Key(Kind::kCall) << x.delegate_index << args << 'a',
                [&] { return fb::CreateDelegateCall(builder_, x.delegate_index, args).Union(); });
  }
  Offset<void> call_of(const MoveCall& x) {
    return once(Key(Kind::kCall) << x.from << x.to << 'n',
                [&] { return fb::CreateMoveCall(builder_, x.from, x.to).Union(); });
  }
  Offset<void> call_of(const JumpFalseCall& x) {
    return once(Key(Kind::kCall) << x.condition << x.destination << 'n', [&] {
      return fb::CreateJumpFalseCall(builder_, x.condition, x.destination).Union();
    });
  }
  Offset<void> call_of(const FreeCall& x) {
    return once(Key(Kind::kCall) << x.value << 'f',
                [&] { return fb::CreateFreeCall(builder_, x.value).Union(); });
  }

  const Program& program_;
  const Segments& segments_;
  flatbuffers::FlatBufferBuilder builder_;
  std::unordered_map<std::string, uoffset_t> made_;
};

}  // namespace

Bytes build_tables(const Program& program, const Segments& segments) {
  return TableBuilder(program, segments).run();
}

}  // namespace thimble::formats::pte
