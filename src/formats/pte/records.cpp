#include "formats/pte/records.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "abi/kernel_layout.h"
#include "abi/limits.h"
#include "abi/pte_ops.h"
#include "abi/records.h"
#include "formats/pte/segments.h"

namespace thimble::formats::pte {
namespace {

constexpr size_t kCountMax = std::numeric_limits<uint16_t>::max();
constexpr int32_t kNoValue = -1;  // value index of an absent tensor
constexpr int64_t kAbsent = std::numeric_limits<int64_t>::min();

struct RecordTensor {
  int32_t value;
  size_t shape;
  uint32_t place;
  ScalarType type;
};

struct RecordShape {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  uint16_t at = 0;  // index of its first word
  bool operator==(const RecordShape& other) const {
    return sizes == other.sizes && dim_order == other.dim_order;
  }
};

struct RecordCall {
  uint16_t op;
  std::vector<uint16_t> operands;
};

/// The content of abi/records.h, before serialization.
struct Contents {
  std::vector<int64_t> numbers;
  std::vector<const abi::PteOpInfo*> operators;
  std::vector<RecordTensor> tensors;
  std::vector<RecordShape> shapes;
  std::vector<int32_t> lists;
  std::vector<uint16_t> inputs, outputs;
  std::vector<RecordCall> calls;
  uint32_t constants_at = 0, constants_bytes = 0, state_at = 0, state_bytes = 0;
};

bool is_tensor(char letter) {
  return std::string_view("Ttso").find(letter) != std::string_view::npos;
}
bool is_tensor_list(char letter) {
  return letter == 'R' || letter == 'w';
}

template <typename T>
const T* get(const EValue& value) {
  return std::get_if<T>(&value);
}

class Builder {
 public:
  Builder(const Program& program, size_t plan, const FindOperator& find)
      : program_(program), plan_(program.plans[plan]), plan_index_(plan), find_(find) {}

  /// Offsets of constants are 0 if `layout` is null.
  Result<Contents> run(const Segments* layout) {
    THIMBLE_CHECK(check_form());
    THIMBLE_CHECK(collect());
    sort_tensors();
    for (RecordTensor& tensor : contents_.tensors) THIMBLE_CHECK(place(tensor, layout));
    for (const int32_t value : plan().inputs) contents_.inputs.push_back(index_of_.at(value));
    for (const int32_t value : plan().outputs) contents_.outputs.push_back(index_of_.at(value));
    for (const Instruction& instruction : plan().chains[0].instructions) {
      THIMBLE_CHECK(add_call(std::get<KernelCall>(instruction)));
    }
    if (layout != nullptr) find_segments(*layout);
    const size_t most =
        std::max({contents_.numbers.size(), contents_.operators.size(), contents_.tensors.size(),
                  contents_.lists.size(), contents_.calls.size(), shape_words_});
    if (most > kCountMax) return unsupported("records: a count exceeds {}", kCountMax);
    return std::move(contents_);
  }

 private:
  const ExecutionPlan& plan() const { return plan_; }
  const EValue& value(int32_t index) const { return plan().values[static_cast<size_t>(index)]; }

  Status check_form() const {
    if (program_.constants_inline) return unsupported("constants inside the flatbuffer");
    if (!program_.mutable_segments.empty()) return unsupported("mutable segments");
    if (plan().chains.size() != 1) return unsupported("more than one chain");
    if (plan().memory_sizes.size() > 2) return unsupported("more than one memory");
    if (!plan().delegates.empty()) return unsupported("delegates");
    for (const Instruction& instruction : plan().chains[0].instructions) {
      if (!std::holds_alternative<KernelCall>(instruction))
        return unsupported("instructions other than kernel calls");
    }
    return ok();
  }

  const abi::PteOpInfo* operator_of(const KernelCall& call) const {
    const auto& op = plan().operators[static_cast<size_t>(call.op_index)];
    return call.args.empty() ? nullptr : find_(full_name(op), call.args.size() - 1);
  }

  /// Collects all tensors that inputs, outputs and calls refer to.
  Status collect() {
    for (const auto* ports : {&plan().inputs, &plan().outputs}) {
      for (const int32_t port : *ports) THIMBLE_CHECK(add_tensor(port, 'T'));
    }
    for (size_t i = 0; i < plan().inputs.size(); ++i) {
      if (!input_index_.emplace(plan().inputs[i], i).second)
        return unsupported("an input is listed twice");
    }
    for (const Instruction& instruction : plan().chains[0].instructions) {
      const auto& call = std::get<KernelCall>(instruction);
      const abi::PteOpInfo* const op = operator_of(call);
      if (op == nullptr) return unsupported("an operator without a record signature");
      const char* const letters = op->arguments;
      for (size_t i = 0; letters[i] != 0; ++i) {
        if (is_tensor(letters[i])) THIMBLE_CHECK(add_tensor(call.args[i], letters[i]));
        if (!is_tensor_list(letters[i])) continue;
        const auto* list = get<TensorList>(value(call.args[i]));
        if (list == nullptr) return unsupported("not a list of tensors");
        for (const int32_t item : list->items) THIMBLE_CHECK(add_tensor(item, 'T'));
      }
    }
    return ok();
  }

  Status add_tensor(int32_t index, char letter) {
    const EValue& found = value(index);
    const bool absent = letter == 't' && get<Null>(found) != nullptr;
    const int32_t key = absent ? kNoValue : index;
    if (index_of_.contains(key)) return ok();
    index_of_[key] = 0;
    if (absent) {
      contents_.tensors.push_back({key, shape({}), 0, ScalarType::kByte});
      return ok();
    }
    const auto* tensor = get<Tensor>(found);
    if (tensor == nullptr) return unsupported("not a tensor");
    const bool plain = tensor->storage_offset == 0 && !tensor->extra &&
                       tensor->shape_dynamism == ShapeDynamism::kStatic &&
                       tensor->sizes.size() <= abi::kMaxRank;
    if (!plain) return unsupported("a tensor with a storage offset, a dynamic shape or extra info");
    // Size limit of loaders, in bytes here; the largest element has 8 bytes.
    const uint64_t bytes_max = uint64_t{1} << 26;
    const std::optional<uint64_t> bytes = data_bytes(*tensor);
    if (!bytes || *bytes > bytes_max) return unsupported("a tensor of more than 64 MiB");
    contents_.tensors.push_back(
        {key, shape({tensor->sizes, tensor->dim_order}), 0, tensor->scalar_type});
    return ok();
  }

  size_t shape(RecordShape wanted) {
    const auto found = std::ranges::find(contents_.shapes, wanted);
    if (found != contents_.shapes.end()) {
      return static_cast<size_t>(found - contents_.shapes.begin());
    }
    contents_.shapes.push_back(std::move(wanted));
    return contents_.shapes.size() - 1;
  }

  /// Sorts by shape, so that a loader processes each shape once.
  void sort_tensors() {
    std::ranges::stable_sort(contents_.tensors, {}, &RecordTensor::shape);
    for (size_t i = 0; i < contents_.tensors.size(); ++i) {
      index_of_[contents_.tensors[i].value] = static_cast<uint16_t>(i);
    }
    for (RecordShape& each : contents_.shapes) {
      each.at = static_cast<uint16_t>(shape_words_);
      shape_words_ += sizeof(abi::RecordShape) / 4 + each.sizes.size();
    }
  }

  Status place(RecordTensor& record, const Segments* layout) const {
    record.place = abi::kPlaceNone;
    if (record.value == kNoValue) return ok();
    const auto& tensor = std::get<Tensor>(value(record.value));
    if (tensor.allocation) {
      if (tensor.data_buffer_idx != 0 && !program_.mutable_segments.empty()) {
        return unsupported("an initial value");
      }
      if (tensor.allocation->offset >= abi::kPlaceConstant)
        return unsupported("the arena is too large");
      record.place = static_cast<uint32_t>(tensor.allocation->offset);
      return ok();
    }
    if (tensor.data_buffer_idx != 0) {
      const uint64_t at = layout != nullptr ? layout->constants.offsets[tensor.data_buffer_idx] : 0;
      if (at >= abi::kPlaceInput - abi::kPlaceConstant)
        return unsupported("the constants are too large");
      record.place = abi::kPlaceConstant + static_cast<uint32_t>(at);
      // The offset of an empty constant is the end of the segment, which may be unaligned.
      if (program_.constants[tensor.data_buffer_idx].empty()) record.place = abi::kPlaceConstant;
      return ok();
    }
    if (const auto input = input_index_.find(record.value); input != input_index_.end()) {
      record.place = abi::kPlaceInput + static_cast<uint32_t>(input->second);
      return ok();
    }
    if (data_bytes(tensor) != uint64_t{0}) return unsupported("a tensor without data");
    record.place = 0;
    return ok();
  }

  Status add_call(const KernelCall& call) {
    const abi::PteOpInfo& op = *operator_of(call);
    const char* const letters = op.arguments;
    if (call.args.size() > abi::kMaxArgs) return unsupported("too many arguments");
    const auto found = std::ranges::find(contents_.operators, &op);
    RecordCall record = {static_cast<uint16_t>(found - contents_.operators.begin()), {}};
    if (found == contents_.operators.end()) contents_.operators.push_back(&op);
    for (size_t i = 0; letters[i] != 0; ++i) {
      THIMBLE_TRY(const size_t operand, operand_of(letters[i], call.args[i]));
      if (operand > kCountMax) return unsupported("records: a count exceeds {}", kCountMax);
      record.operands.push_back(static_cast<uint16_t>(operand));
    }
    contents_.calls.push_back(std::move(record));
    return ok();
  }

  Result<size_t> operand_of(char letter, int32_t index) {
    const EValue& found = value(index);
    if (is_tensor(letter)) {
      return size_t{index_of_.at(get<Null>(found) != nullptr ? kNoValue : index)};
    }
    if (is_tensor_list(letter)) {
      std::vector<int32_t> items;
      for (const int32_t item : std::get<TensorList>(found).items) {
        items.push_back(index_of_.at(item));
      }
      return list(items);
    }
    if (letter == 'l' || letter == 'k') return integers(letter, found);
    THIMBLE_TRY(const int64_t bits, number_bits(letter, found));
    const auto known = std::ranges::find(contents_.numbers, bits);
    const auto at = static_cast<size_t>(known - contents_.numbers.begin());
    if (known == contents_.numbers.end()) contents_.numbers.push_back(bits);
    return at;
  }

  Result<size_t> integers(char letter, const EValue& found) {
    std::vector<int32_t> items;
    if (const auto* list_value = get<IntList>(found)) {
      for (const int64_t item : list_value->items) {
        const auto* number = get<Int>(value(static_cast<int32_t>(item)));
        const bool fits = number != nullptr && number->value == static_cast<int32_t>(number->value);
        if (!fits) return unsupported("a list with elements other than 32-bit integers");
        items.push_back(static_cast<int32_t>(number->value));
      }
    } else if (letter != 'k' || get<Null>(found) == nullptr) {
      return unsupported("not a list of integers");
    }
    return list(items);
  }

  size_t list(std::vector<int32_t> items) {
    items.insert(items.begin(), static_cast<int32_t>(items.size()));
    const auto [known, is_new] = list_at_.emplace(items, contents_.lists.size());
    if (is_new) contents_.lists.insert(contents_.lists.end(), items.begin(), items.end());
    return known->second;
  }

  /// Converts an argument to the 64 bits that the kernel reads. For some letters the file may hold
  /// several types.
  static Result<int64_t> number_bits(char letter, const EValue& found) {
    const auto* integer = get<Int>(found);
    const auto* boolean = get<Bool>(found);
    const auto* number = get<Double>(found);
    const bool none = get<Null>(found) != nullptr;
    const auto bits = [](double item) { return std::bit_cast<int64_t>(item); };
    if ((letter == 'i' || letter == 'j') && integer != nullptr) return integer->value;
    if (letter == 'j' && none) return kAbsent;
    if (letter == 'b' && boolean != nullptr) return int64_t{boolean->value};
    if (letter == 'd' && number != nullptr) return bits(number->value);
    if (letter == 'y' || letter == 'z') {
      constexpr int64_t kExact = int64_t{1} << 53;
      if (number != nullptr && !std::isnan(number->value)) return bits(number->value);
      if (boolean != nullptr) return bits(boolean->value ? 1 : 0);
      if (integer != nullptr && integer->value <= kExact && integer->value >= -kExact) {
        return bits(static_cast<double>(integer->value));
      }
      if (letter == 'z' && none) return bits(std::numeric_limits<double>::quiet_NaN());
    }
    return unsupported("argument {} of another type", letter);
  }

  void find_segments(const Segments& layout) {
    const auto index_of = [&](std::string_view key) -> std::optional<size_t> {
      for (size_t i = 0; i < program_.named_data.size(); ++i) {
        if (program_.named_data[i].key == key) return layout.named_data_index[i];
      }
      return std::nullopt;
    };
    const uint64_t start = layout.all[*index_of(entry_key(program_, plan_index_))].offset;
    if (program_.constants.size() > 1) {
      const Segment& constants = layout.all[layout.constants.segment];
      contents_.constants_at = static_cast<uint32_t>(constants.offset - start);
      contents_.constants_bytes = static_cast<uint32_t>(constants.size);
    }
    if (const auto state = index_of(abi::kStateKey)) {
      contents_.state_at = static_cast<uint32_t>(layout.all[*state].offset - start);
      contents_.state_bytes = static_cast<uint32_t>(layout.all[*state].size);
    }
  }

  const Program& program_;
  const ExecutionPlan& plan_;
  const size_t plan_index_;
  const FindOperator& find_;
  Contents contents_;
  size_t shape_words_ = 0;
  std::map<int32_t, uint16_t> index_of_;   // tensor index by value index
  std::map<int32_t, size_t> input_index_;  // input index by value index
  std::map<std::vector<int32_t>, size_t> list_at_;
};

uint64_t elements_of(const RecordShape& shape) {
  uint64_t elements = 1;
  for (const int32_t size : shape.sizes) elements *= static_cast<uint32_t>(size);
  return elements;
}

void append_shape(Bytes& out, const RecordShape& shape) {
  append_le(out, static_cast<uint32_t>(elements_of(shape)));
  append_le(out, static_cast<uint8_t>(shape.sizes.size()));
  for (size_t i = 0; i < sizeof(abi::RecordShape::dim_order) + 1; ++i) {
    append_le(out, i < shape.dim_order.size() ? shape.dim_order[i] : uint8_t{0});
  }
  for (const int32_t size : shape.sizes) append_le(out, static_cast<uint32_t>(size));
}

/// Returns the bytes after the header of the entry.
Bytes bytes_of(const Contents& contents) {
  Bytes body;
  for (const int64_t number : contents.numbers) append_le(body, static_cast<uint64_t>(number));
  for (const abi::PteOpInfo* op : contents.operators) append_le(body, abi::word_of(op->key));
  for (const RecordTensor& tensor : contents.tensors) append_le(body, tensor.place);
  for (const RecordTensor& tensor : contents.tensors) {
    append_le(body, contents.shapes[tensor.shape].at);
    append_le(body, static_cast<uint8_t>(tensor.type));
    append_le(body, uint8_t{0});
  }
  const size_t shapes_at = body.size();
  for (const RecordShape& shape : contents.shapes) append_shape(body, shape);
  const size_t shape_words = (body.size() - shapes_at) / 4;
  for (const int32_t word : contents.lists) append_le(body, static_cast<uint32_t>(word));
  for (const uint16_t input : contents.inputs) append_le(body, input);
  for (const uint16_t output : contents.outputs) append_le(body, output);
  const size_t calls_at = body.size();
  for (const RecordCall& call : contents.calls) {
    append_le(body, call.op);
    for (const uint16_t operand : call.operands) append_le(body, operand);
  }

  Bytes out;
  append_le(out, static_cast<uint32_t>(sizeof(abi::ProgramEntry) + sizeof(abi::RecordsHeader) +
                                       body.size()));
  for (const uint32_t word :
       {contents.constants_at, contents.constants_bytes, contents.state_at, contents.state_bytes}) {
    append_le(out, word);
  }
  append_le(out, static_cast<uint32_t>((body.size() - calls_at) / 2));
  for (const size_t count :
       {contents.numbers.size(), contents.operators.size(), contents.tensors.size(), shape_words,
        contents.lists.size(), contents.inputs.size(), contents.outputs.size(),
        contents.calls.size()}) {
    append_le(out, static_cast<uint16_t>(count));
  }
  append(out, body);
  return out;
}

/// Returns only the header of the entry.
Bytes entry_header(const NamedData& entry, uint16_t version) {
  Bytes bytes(entry.bytes.begin(), entry.bytes.begin() + sizeof(abi::ProgramEntry));
  std::memcpy(bytes.data() + offsetof(abi::ProgramEntry, entry_version), &version, sizeof version);
  return bytes;
}

std::string place_text(uint32_t place) {
  if (place < abi::kPlaceConstant) return fmt::format("arena {}", place);
  if (place < abi::kPlaceInput) return fmt::format("constants {}", place - abi::kPlaceConstant);
  if (place == abi::kPlaceNone) return "absent";
  return fmt::format("input {}", place - abi::kPlaceInput);
}

}  // namespace

const abi::PteOpInfo* find_operator(std::string_view name, size_t arguments) {
  for (const abi::PteOpInfo& op : abi::kPteOps) {
    if (name == op.name && std::string_view(op.arguments).size() == arguments) return &op;
  }
  return nullptr;
}

std::string method_key(std::string_view key, size_t method, std::string_view name) {
  return method == 0 ? std::string(key) : fmt::format("{}.{}", key, name);
}

std::string entry_key(const Program& program, size_t plan) {
  return method_key(abi::kProgramEntryKey, plan, program.plans[plan].name);
}

void set_method_count(NamedData& entry, uint16_t count) {
  std::memcpy(entry.bytes.data() + offsetof(abi::ProgramEntry, methods), &count, sizeof count);
}

namespace {

NamedData* find_entry(Program& program, std::string_view key) {
  const auto entry = std::ranges::find(program.named_data, key, &NamedData::key);
  return entry == program.named_data.end() ? nullptr : &*entry;
}

/// Replaces the records of an entry; its header remains.
void set_records(NamedData& entry, const Contents& contents) {
  entry.bytes = entry_header(entry, abi::kEntryVersionRecords);
  append(entry.bytes, bytes_of(contents));
}

/// Returns the table of methods. The positions of entries are those of the layout.
Bytes method_table(const Program& program, const Segments& layout) {
  Bytes table;
  for (size_t i = 0; i < program.plans.size(); ++i) {
    abi::MethodRecord record = {};
    const std::string& name = program.plans[i].name;
    assert(name.size() <= sizeof record.name);
    std::memcpy(record.name, name.data(), name.size());
    const std::string key = entry_key(program, i);
    for (size_t n = 0; n < program.named_data.size(); ++n) {
      if (program.named_data[n].key != key) continue;
      record.entry_at = static_cast<uint32_t>(layout.all[layout.named_data_index[n]].offset);
    }
    append_record(table, record);
  }
  return table;
}

/// Checks that each plan has an entry with a header, and several plans the table of methods.
Status check_entries(Program& program) {
  const bool several = program.plans.size() > 1;
  for (size_t i = 0; i < program.plans.size(); ++i) {
    const std::string key = entry_key(program, i);
    const NamedData* const entry = find_entry(program, key);
    if (entry == nullptr || entry->bytes.size() < sizeof(abi::ProgramEntry)) {
      return unsupported("the entry {} is missing or too short", key);
    }
    const std::string& name = program.plans[i].name;
    if (several && name.size() > abi::kMethodNameMax) {
      return unsupported("the name of method {} has {} letters, at most {} expected", name,
                         name.size(), abi::kMethodNameMax);
    }
  }
  if (several && find_entry(program, abi::kMethodsKey) == nullptr) {
    return unsupported("{} methods without the entry {}", program.plans.size(), abi::kMethodsKey);
  }
  return ok();
}

/// Writes the records of all plans. Without `layout`, positions in the file are 0.
Status write_records(Program& program, const FindOperator& find, const Segments* layout) {
  for (size_t i = 0; i < program.plans.size(); ++i) {
    THIMBLE_TRY(const Contents contents, Builder(program, i, find).run(layout));
    set_records(*find_entry(program, entry_key(program, i)), contents);
  }
  return ok();
}

/// Removes the records of all plans; the headers of their entries remain.
void remove_records(Program& program) {
  for (size_t i = 0; i < program.plans.size(); ++i) {
    NamedData& entry = *find_entry(program, entry_key(program, i));
    entry.bytes = entry_header(entry, abi::kEntryVersionHeaderOnly);
  }
}

}  // namespace

Status add_records(Program& program, const FindOperator& find) {
  THIMBLE_CHECK(check_entries(program));
  const size_t plans = program.plans.size();
  NamedData* const table = plans > 1 ? find_entry(program, abi::kMethodsKey) : nullptr;
  // Positions depend on the sizes of all records.
  const auto write_both = [&]() -> Result<Segments> {
    THIMBLE_CHECK(write_records(program, find, nullptr));
    if (table != nullptr) table->bytes = Bytes(plans * sizeof(abi::MethodRecord));
    Segments layout = lay_out(program);
    THIMBLE_CHECK(write_records(program, find, &layout));
    return layout;
  };
  const Result<Segments> layout = write_both();
  if (!layout) {
    remove_records(program);
    return layout.error();
  }
  if (table != nullptr) {
    table->bytes = method_table(program, *layout);
    set_method_count(*find_entry(program, entry_key(program, 0)), static_cast<uint16_t>(plans));
  }
  return ok();
}

Status check_kernel_layout(const Program& program, std::string_view label) {
  const NamedData* entry = find_named_data(program, abi::kProgramEntryKey);
  if (entry == nullptr || entry->bytes.size() < sizeof(abi::ProgramEntry)) return ok();
  const auto program_version =
      load_le<uint16_t>(entry->bytes, offsetof(abi::ProgramEntry, entry_version));
  if (load_le<uint32_t>(entry->bytes, 0) == abi::kProgramEntryMagic &&
      program_version > abi::kEntryVersionRecords) {
    return unsupported(
        "{}: its program has version {}, this release runs versions 1 to {}: use the release that "
        "compiled it, or compile the model again",
        label, program_version, abi::kEntryVersionRecords);
  }
  const auto version =
      load_le<uint16_t>(entry->bytes, offsetof(abi::ProgramEntry, kernel_layout_version));
  if (abi::is_known_kernel_layout(version)) return ok();
  return unsupported(
      "{}: its operators have kernel layout version {}, this release runs version {}: compile the "
      "model again",
      label, version, abi::kKernelLayoutVersion);
}

bool has_records(const Program& program) {
  const NamedData* entry = find_named_data(program, abi::kProgramEntryKey);
  constexpr size_t kBytesMin = sizeof(abi::ProgramEntry) + sizeof(abi::RecordsHeader);
  return entry != nullptr && entry->bytes.size() >= kBytesMin &&
         load_le<uint32_t>(entry->bytes, 0) == abi::kProgramEntryMagic &&
         load_le<uint16_t>(entry->bytes, offsetof(abi::ProgramEntry, entry_version)) ==
             abi::kEntryVersionRecords;
}

Status check_records(const Program& program, std::string_view label, const FindOperator& find) {
  if (!has_records(program)) return ok();
  const Segments layout = lay_out(program);
  for (size_t i = 0; i < program.plans.size(); ++i) {
    const Result<Contents> contents = Builder(program, i, find).run(&layout);
    if (!contents.ok()) {
      return bad_input("{}: has records, but records cannot represent this program: {}", label,
                       contents.error().message);
    }
    const Bytes expected = bytes_of(*contents);
    const NamedData* const entry = find_named_data(program, entry_key(program, i));
    if (entry == nullptr || entry->bytes.size() < sizeof(abi::ProgramEntry)) {
      return bad_input("{}: no entry {}", label, entry_key(program, i));
    }
    const ByteView found = ByteView(entry->bytes).subspan(sizeof(abi::ProgramEntry));
    const auto [at, other] = std::ranges::mismatch(found, expected);
    if (at == found.end() && other == expected.end()) continue;
    return bad_input("{}: the records are not those of the program, from byte {} of the entry on",
                     label, sizeof(abi::ProgramEntry) + static_cast<size_t>(at - found.begin()));
  }
  if (program.plans.size() == 1) return ok();
  const NamedData* const table = find_named_data(program, abi::kMethodsKey);
  if (table != nullptr && table->bytes == method_table(program, layout)) return ok();
  return bad_input("{}: named data {} is not the table of its methods", label, abi::kMethodsKey);
}

namespace {

std::string print_plan_records(const Program& program, size_t plan, const Segments& layout) {
  const FindOperator find = find_operator;
  const Result<Contents> contents = Builder(program, plan, find).run(&layout);
  if (!contents.ok()) return fmt::format("no records: {}\n", contents.error().message);
  const std::string method =
      program.plans.size() == 1 ? "" : fmt::format(" of method {}", program.plans[plan].name);
  std::string text = fmt::format("records{} {} B\n", method, bytes_of(*contents).size());
  for (size_t i = 0; i < contents->operators.size(); ++i) {
    const abi::PteOpInfo& op = *contents->operators[i];
    text += fmt::format("  operator {} {:08x} {}({})\n", i, abi::word_of(op.key), op.name,
                        op.arguments);
  }
  for (size_t i = 0; i < contents->tensors.size(); ++i) {
    const RecordTensor& tensor = contents->tensors[i];
    text +=
        fmt::format("  tensor {} {}[{}] {}\n", i, name(tensor.type),
                    fmt::join(contents->shapes[tensor.shape].sizes, ","), place_text(tensor.place));
  }
  text += fmt::format("  inputs {}\n  outputs {}\n", fmt::join(contents->inputs, " "),
                      fmt::join(contents->outputs, " "));
  for (size_t i = 0; i < contents->calls.size(); ++i) {
    const RecordCall& call = contents->calls[i];
    text += fmt::format("  call {} operator {}: {}\n", i, call.op, fmt::join(call.operands, " "));
  }
  return text;
}

}  // namespace

std::string print_records(const Program& program) {
  const Segments layout = lay_out(program);
  std::string text;
  for (size_t i = 0; i < program.plans.size(); ++i) text += print_plan_records(program, i, layout);
  return text;
}

}  // namespace thimble::formats::pte
