// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/record_contents.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "abi/kernel_layout.h"
#include "abi/limits.h"
#include "abi/records.h"

namespace thimble::formats::pte {
namespace {

constexpr size_t kCountMax = std::numeric_limits<uint16_t>::max();
constexpr int32_t kNoValue = -1;  // value index of an absent tensor
constexpr int64_t kAbsent = std::numeric_limits<int64_t>::min();

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
  Result<RecordContents> run(const Segments* layout) {
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
  RecordContents contents_;
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

}  // namespace

Result<RecordContents> record_contents(const Program& program, size_t plan,
                                       const FindOperator& find, const Segments* layout) {
  return Builder(program, plan, find).run(layout);
}

Bytes bytes_of(const RecordContents& contents) {
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

}  // namespace thimble::formats::pte
