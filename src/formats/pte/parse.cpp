// Each line states one fact, and its first word selects the kind. A line may refer to earlier
// lines: a `spec` belongs to the last `delegate`, a `frame` to the last `instruction`, an `x` line
// to the last bytes. The parser is therefore a table from first words to functions, and its state
// is the last object of each kind.

#include "formats/pte/parse.h"

#include "formats/pte/check.h"
#include "formats/pte/text_scan.h"
#include "formats/pte/text_words.h"

namespace thimble::formats::pte {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view label) : label_(label) {}

  Result<Program> run(std::string_view text) {
    for (size_t number = 1; !text.empty(); ++number) {
      const size_t end = std::min(text.find('\n'), text.size());
      LineScanner line(text.substr(0, end), fmt::format("{}:{}", label_, number));
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.at_end()) continue;
      THIMBLE_CHECK(parse_line(line));
      THIMBLE_CHECK(line.expect_end());
    }
    if (!started_) return bad_input("{}: expected a line 'pte VERSION'", label_);
    THIMBLE_CHECK(bytes_complete(LineScanner("", label_)));
    THIMBLE_CHECK(check(out_, label_));
    return std::move(out_);
  }

 private:
  using Handler = Status (Parser::*)(LineScanner&);
  enum class Scope : uint8_t { kFile, kPlan, kChain };
  struct Row {
    std::string_view word;
    Scope scope;
    Handler handler;
  };
  static constexpr size_t kRows = 23;
  static const Row kTable[kRows];

  Status parse_line(LineScanner& line) {
    const std::string_view word = line.word();
    if (word == "x") return more_bytes(line);
    THIMBLE_CHECK(bytes_complete(line));
    if (word == "pte") {
      if (started_) return line.fail("a second 'pte' line");
      started_ = true;
      THIMBLE_TRY(out_.version, line.integer<uint32_t>());
      return ok();
    }
    if (!started_) return line.fail("expected a line 'pte VERSION' first");
    for (const Row& row : kTable) {
      if (row.word != word) continue;
      if (row.scope != Scope::kFile && out_.plans.empty()) return line.fail("outside of a plan");
      if (row.scope == Scope::kChain && plan().chains.empty()) return line.fail("outside a chain");
      return (this->*row.handler)(line);
    }
    return line.fail(fmt::format("unknown word '{}'", word));
  }

  ExecutionPlan& plan() { return out_.plans.back(); }
  Chain& last_chain() { return plan().chains.back(); }

  // --- Bytes: a size, then lines of hex digits ---

  Status announce_bytes(LineScanner& line, Bytes& to) {
    THIMBLE_TRY(bytes_wanted_, line.integer<uint64_t>());
    bytes_ = &to;
    return ok();
  }
  Status more_bytes(LineScanner& line) {
    if (bytes_ == nullptr) return line.fail("bytes of nothing");
    return line.hex(*bytes_);
  }
  Status bytes_complete(const LineScanner& line) {
    if (bytes_ != nullptr && bytes_->size() != bytes_wanted_) {
      return line.fail(fmt::format("{} bytes so far, {} announced", bytes_->size(), bytes_wanted_));
    }
    bytes_ = nullptr;
    return ok();
  }

  /// Checks that the index in the line is the next one. The index is only for human readers.
  Status expect_index(LineScanner& line, size_t next) {
    THIMBLE_TRY(const uint64_t index, line.integer<uint64_t>());
    if (index == next) return ok();
    return line.fail(fmt::format("expected number {}, found {}", next, index));
  }

  // --- File ---

  Status constants(LineScanner& line) {
    out_.constants_inline = line.accept("inline");
    return out_.constants_inline ? ok() : line.expect("segment");
  }
  Status constant(LineScanner& line) {
    THIMBLE_CHECK(expect_index(line, out_.constants.size()));
    return announce_bytes(line, out_.constants.emplace_back());
  }
  Status mutable_segment(LineScanner&) {
    out_.mutable_segments.emplace_back().buffers = std::vector<Bytes>(1);
    return ok();
  }
  Status buffer(LineScanner& line) {
    if (out_.mutable_segments.empty()) return line.fail("outside of a mutable_segment");
    std::vector<Bytes>& buffers = out_.mutable_segments.back().buffers;
    THIMBLE_CHECK(expect_index(line, buffers.size()));
    return announce_bytes(line, buffers.emplace_back());
  }
  Status blob(LineScanner& line) {
    THIMBLE_CHECK(expect_index(line, out_.delegate_blobs.size()));
    DelegateBlob& blob = out_.delegate_blobs.emplace_back();
    THIMBLE_CHECK(announce_bytes(line, blob.bytes));
    if (!line.accept("inline")) {
      THIMBLE_CHECK(line.expect("segment"));
      blob.location = BlobLocation::kSegment;
    }
    THIMBLE_CHECK(line.expect("align"));
    THIMBLE_TRY(blob.alignment, line.integer<uint32_t>());
    return ok();
  }
  Status named_data(LineScanner& line) {
    NamedData& data = out_.named_data.emplace_back();
    THIMBLE_TRY(data.key, line.quoted());
    THIMBLE_CHECK(announce_bytes(line, data.bytes));
    THIMBLE_CHECK(line.expect("align"));
    THIMBLE_TRY(data.alignment, line.integer<uint32_t>());
    return ok();
  }

  // --- Plan ---

  Status new_plan(LineScanner& line) {
    ExecutionPlan& plan = out_.plans.emplace_back();
    plan.chains.clear();
    THIMBLE_TRY(plan.name, line.quoted());
    return ok();
  }
  Status container(LineScanner& line) {
    ContainerMetadata& container = plan().container.emplace();
    THIMBLE_TRY(container.encoded_input, line.quoted());
    THIMBLE_TRY(container.encoded_output, line.quoted());
    return ok();
  }
  Status memory(LineScanner& line) {
    THIMBLE_CHECK(expect_index(line, plan().memory_sizes.size()));
    THIMBLE_TRY(plan().memory_sizes.emplace_back(), line.integer<int64_t>());
    return ok();
  }
  Status memory_reserved(LineScanner& line) {
    THIMBLE_TRY(plan().memory_sizes[0], line.integer<int64_t>());
    return ok();
  }
  Status memory_device(LineScanner& line) {
    MemoryDevice& device = plan().memory_devices.emplace_back();
    THIMBLE_TRY(device.memory_id, line.integer<int32_t>());
    return device_numbers(line, device.device);
  }
  static Status device_numbers(LineScanner& line, Device& device) {
    THIMBLE_TRY(device.type, line.integer<int8_t>());
    THIMBLE_TRY(device.index, line.integer<int8_t>());
    return ok();
  }
  Status op(LineScanner& line) {
    THIMBLE_CHECK(expect_index(line, plan().operators.size()));
    Operator& op = plan().operators.emplace_back();
    THIMBLE_TRY(op.name, line.quoted());
    THIMBLE_TRY(op.overload, line.quoted());
    return ok();
  }
  Status delegate(LineScanner& line) {
    THIMBLE_CHECK(expect_index(line, plan().delegates.size()));
    BackendDelegate& delegate = plan().delegates.emplace_back();
    THIMBLE_TRY(delegate.id, line.quoted());
    THIMBLE_CHECK(line.expect("blob"));
    THIMBLE_TRY(delegate.blob, line.integer<uint32_t>());
    return ok();
  }
  Status spec(LineScanner& line) {
    if (plan().delegates.empty()) return line.fail("outside of a delegate");
    CompileSpec& spec = plan().delegates.back().compile_specs.emplace_back();
    THIMBLE_TRY(spec.key, line.quoted());
    return announce_bytes(line, spec.value);
  }
  Status inputs(LineScanner& line) { return indices(line, plan().inputs); }
  Status outputs(LineScanner& line) { return indices(line, plan().outputs); }
  static Status indices(LineScanner& line, std::vector<int32_t>& to) {
    THIMBLE_TRY(to, line.integers<int32_t>());
    return ok();
  }

  // --- Values ---

  Status value(LineScanner& line) {
    THIMBLE_CHECK(expect_index(line, plan().values.size()));
    THIMBLE_TRY(EValue value, value_of(line));
    plan().values.push_back(std::move(value));
    return ok();
  }

  static Result<EValue> value_of(LineScanner& line) {
    const std::string_view word = line.word();
    if (word == "null") return EValue(Null{});
    if (word == "int") return wrap<Int>(line.integer<int64_t>());
    if (word == "bool") {
      if (line.accept("true")) return EValue(Bool{true});
      THIMBLE_CHECK(line.expect("false"));
      return EValue(Bool{false});
    }
    if (word == "double") return wrap<Double>(line.floating());
    if (word == "tensor") return tensor(line);
    if (word == "string") return wrap<String>(line.quoted());
    if (word == "ints") return wrap<IntList>(line.integers<int64_t>());
    if (word == "doubles") return wrap<DoubleList>(line.floatings());
    if (word == "bools") {
      THIMBLE_TRY(const auto items, line.integers<uint8_t>());
      return EValue(BoolList{{items.begin(), items.end()}});
    }
    if (word == "tensors") return wrap<TensorList>(line.integers<int32_t>());
    if (word == "optional_tensors") return wrap<OptionalTensorList>(line.integers<int32_t>());
    return line.fail(fmt::format("unknown value type '{}'", word));
  }
  template <typename Value, typename T>
  static Result<EValue> wrap(Result<T> content) {
    if (!content.ok()) return content.error();
    return EValue(Value{std::move(*content)});
  }

  static Result<EValue> tensor(LineScanner& line) {
    Tensor out;
    const std::string_view type = line.word();
    const std::optional<ScalarType> known = scalar_type_named(type);
    if (!known) return line.fail(fmt::format("unknown scalar type '{}'", type));
    out.scalar_type = *known;
    THIMBLE_TRY(out.sizes, line.integers<int32_t>());
    THIMBLE_CHECK(line.expect("order"));
    THIMBLE_TRY(out.dim_order, line.integers<uint8_t>());
    if (line.accept("start") || line.accept("constant")) {
      THIMBLE_TRY(out.data_buffer_idx, line.integer<uint32_t>());
    }
    if (line.accept("memory")) {
      Allocation& allocation = out.allocation.emplace();
      THIMBLE_TRY(allocation.memory_id, line.integer<uint32_t>());
      THIMBLE_CHECK(line.expect("at"));
      THIMBLE_TRY(allocation.offset, line.integer<uint64_t>());
    }
    if (line.accept("bound")) out.shape_dynamism = ShapeDynamism::kDynamicBound;
    if (line.accept("unbound")) out.shape_dynamism = ShapeDynamism::kDynamicUnbound;
    if (line.accept("storage_offset")) {
      THIMBLE_TRY(out.storage_offset, line.integer<int32_t>());
    }
    out.requires_grad = line.accept("requires_grad");
    if (line.accept("layout")) {
      THIMBLE_TRY(out.layout, line.integer<int8_t>());
    }
    if (line.accept("extra")) THIMBLE_CHECK(extra_info(line, out.extra.emplace()));
    return EValue(std::move(out));
  }

  static Status extra_info(LineScanner& line, ExtraTensorInfo& extra) {
    THIMBLE_CHECK(line.expect("segment"));
    THIMBLE_TRY(extra.mutable_segment, line.integer<uint64_t>());
    if (line.accept("external")) extra.location = TensorLocation::kExternal;
    if (line.accept("device")) THIMBLE_CHECK(device_numbers(line, extra.device));
    if (line.accept("name")) {
      THIMBLE_TRY(extra.fully_qualified_name.emplace(), line.quoted());
    }
    return ok();
  }

  // --- Chain ---

  Status new_chain(LineScanner&) {
    plan().chains.emplace_back();
    has_stacktrace_ = false;
    return ok();
  }
  Status chain_inputs(LineScanner& line) { return indices(line, last_chain().inputs); }
  Status chain_outputs(LineScanner& line) { return indices(line, last_chain().outputs); }
  Status stacktrace(LineScanner&) {
    has_stacktrace_ = true;
    return ok();
  }
  Status frame(LineScanner& line) {
    if (last_chain().stacktrace.empty()) return line.fail("a frame of no instruction");
    Frame& frame = last_chain().stacktrace.back().emplace_back();
    THIMBLE_TRY(frame.filename, line.quoted());
    THIMBLE_TRY(frame.line, line.integer<int32_t>());
    THIMBLE_TRY(frame.name, line.quoted());
    THIMBLE_TRY(frame.context, line.quoted());
    return ok();
  }
  Status instruction(LineScanner& line) {
    THIMBLE_CHECK(expect_index(line, last_chain().instructions.size()));
    THIMBLE_TRY(Instruction instruction, instruction_of(line));
    last_chain().instructions.push_back(std::move(instruction));
    if (has_stacktrace_) last_chain().stacktrace.emplace_back();
    return ok();
  }
  static Result<Instruction> instruction_of(LineScanner& line) {
    const std::string_view word = line.word();
    if (word != "call" && word != "delegate" && word != "move" && word != "jump_false" &&
        word != "free") {
      return line.fail(fmt::format("unknown instruction '{}'", word));
    }
    THIMBLE_TRY(const int32_t first, line.integer<int32_t>());
    if (word == "free") return Instruction(FreeCall{first});
    if (word == "call" || word == "delegate") {
      THIMBLE_TRY(std::vector<int32_t> args, line.integers<int32_t>());
      if (word == "call") return Instruction(KernelCall{first, std::move(args)});
      return Instruction(DelegateCall{first, std::move(args)});
    }
    THIMBLE_CHECK(line.expect("to"));
    THIMBLE_TRY(const int32_t second, line.integer<int32_t>());
    if (word == "move") return Instruction(MoveCall{first, second});
    return Instruction(JumpFalseCall{first, second});
  }

  std::string label_;
  bool started_ = false;
  bool has_stacktrace_ = false;
  Bytes* bytes_ = nullptr;  // reset by bytes_complete before its owner can move
  uint64_t bytes_wanted_ = 0;
  Program out_;
};

const Parser::Row Parser::kTable[Parser::kRows] = {
    {"constants", Scope::kFile, &Parser::constants},
    {"constant", Scope::kFile, &Parser::constant},
    {"mutable_segment", Scope::kFile, &Parser::mutable_segment},
    {"buffer", Scope::kFile, &Parser::buffer},
    {"blob", Scope::kFile, &Parser::blob},
    {"named_data", Scope::kFile, &Parser::named_data},
    {"plan", Scope::kFile, &Parser::new_plan},
    {"container", Scope::kPlan, &Parser::container},
    {"memory", Scope::kPlan, &Parser::memory},
    {"memory_reserved", Scope::kPlan, &Parser::memory_reserved},
    {"memory_device", Scope::kPlan, &Parser::memory_device},
    {"operator", Scope::kPlan, &Parser::op},
    {"delegate", Scope::kPlan, &Parser::delegate},
    {"spec", Scope::kPlan, &Parser::spec},
    {"value", Scope::kPlan, &Parser::value},
    {"inputs", Scope::kPlan, &Parser::inputs},
    {"outputs", Scope::kPlan, &Parser::outputs},
    {"chain", Scope::kPlan, &Parser::new_chain},
    {"chain_inputs", Scope::kChain, &Parser::chain_inputs},
    {"chain_outputs", Scope::kChain, &Parser::chain_outputs},
    {"stacktrace", Scope::kChain, &Parser::stacktrace},
    {"instruction", Scope::kChain, &Parser::instruction},
    {"frame", Scope::kChain, &Parser::frame},
};

}  // namespace

Result<Program> parse_text(std::string_view text, std::string_view label) {
  return Parser(label).run(text);
}

}  // namespace thimble::formats::pte
