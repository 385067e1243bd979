#include "emit/decompile.h"

#include <algorithm>
#include <cstring>

#include "abi/named_data.h"
#include "emit/decompile_call.h"
#include "formats/pte/records.h"

namespace thimble::emit {

namespace pte = formats::pte;
using ir::ValueId;

bool DecompilerCall::is_none(size_t i) const {
  return std::holds_alternative<pte::Null>(value(i));
}
int64_t DecompilerCall::integer(size_t i) const {
  if (const auto* boolean = std::get_if<pte::Bool>(&value(i))) return boolean->value ? 1 : 0;
  return std::get<pte::Int>(value(i)).value;
}
double DecompilerCall::number(size_t i) const {
  if (const auto* number = std::get_if<pte::Double>(&value(i))) return number->value;
  return static_cast<double>(integer(i));
}
const std::string& DecompilerCall::text(size_t i) const {
  return std::get<pte::String>(value(i)).value;
}
std::vector<int64_t> DecompilerCall::integers(size_t i) const {
  std::vector<int64_t> result;
  if (is_none(i)) return result;
  for (const int64_t item : std::get<pte::IntList>(value(i)).items) {
    result.push_back(std::get<pte::Int>(plan_.values[static_cast<size_t>(item)]).value);
  }
  return result;
}
int64_t DecompilerCall::normalize_dim(int64_t dim, size_t of) const {
  const auto* tensor = std::get_if<pte::Tensor>(&value(of));
  if (dim >= 0 || tensor == nullptr) return dim;
  return dim + static_cast<int64_t>(tensor->sizes.size());
}
const std::vector<int32_t>& DecompilerCall::tensor_list(size_t i) const {
  return std::get<pte::TensorList>(value(i)).items;
}

Status DecompilerCall::check(const abi::PteOpInfo& info) {
  const std::string_view letters = info.arguments;
  out_at_ = letters.find_first_of("ow");
  // The return value repeats the out tensor.
  if (args_.size() != letters.size() + 1) {
    return bad_input("{}: {} arguments, expected {}", info.name, args_.size(), letters.size() + 1);
  }
  for (size_t i = 0; i < letters.size(); ++i) {
    const pte::EValue& v = value(i);
    const bool none = std::holds_alternative<pte::Null>(v);
    const bool whole = std::holds_alternative<pte::Int>(v);
    bool fits = false;
    switch (letters[i]) {
      case 'T':
      case 'o':
      case 's':
        fits = std::holds_alternative<pte::Tensor>(v);
        break;
      case 't':
        fits = std::holds_alternative<pte::Tensor>(v) || none;
        break;
      case 'i':
        fits = whole;
        break;
      case 'j':
        fits = whole || none;
        break;
      case 'y':
      case 'z':
        fits = whole || std::holds_alternative<pte::Double>(v) ||
               std::holds_alternative<pte::Bool>(v) || (none && letters[i] == 'z');
        break;
      case 'c':
        fits = std::holds_alternative<pte::String>(v);
        break;
      case 'q':
        fits = none || std::holds_alternative<pte::DoubleList>(v);
        break;
      case 'b':
        fits = std::holds_alternative<pte::Bool>(v);
        break;
      case 'd':
        fits = std::holds_alternative<pte::Double>(v);
        break;
      case 'l':
      case 'k':
        fits = none && letters[i] == 'k';
        if (const auto* list = std::get_if<pte::IntList>(&v)) {
          fits = std::ranges::all_of(list->items, [&](int64_t item) {
            return std::holds_alternative<pte::Int>(plan_.values[static_cast<size_t>(item)]);
          });
        }
        break;
      case 'R':
      case 'w':
        fits = std::holds_alternative<pte::TensorList>(v);
        break;
      default:
        break;
    }
    if (!fits) return bad_input("{}: argument {} is not of kind '{}'", info.name, i, letters[i]);
  }
  return ok();
}

Result<std::vector<int64_t>> window_padding(const ir::Shape& out, const ir::Shape& image,
                                            const std::vector<int64_t>& pad,
                                            const std::vector<int64_t>& kernel,
                                            const std::vector<int64_t>& stride,
                                            const std::vector<int64_t>& dilation) {
  const bool pairs =
      kernel.size() == 2 && stride.size() == 2 && pad.size() == 2 && dilation.size() == 2;
  if (image.size() != 4 || out.size() != 4 || !pairs)
    return bad_input("is not a window over an image");
  std::vector<int64_t> result = {pad[0], pad[1], 0, 0};
  for (size_t k = 0; k < 2; ++k) {
    const int64_t reach = (out[2 + k] - 1) * stride[k] + (kernel[k] - 1) * dilation[k] + 1;
    result[2 + k] = std::max<int64_t>(0, reach - image[2 + k] - pad[k]);
  }
  return result;
}

namespace {

class Decompiler {
 public:
  Decompiler(const pte::Program& program, const pte::ExecutionPlan& plan)
      : program_(program), plan_(plan), memory_(program, plan, &graph_) {}

  Result<Decompiled> run() {
    graph_.name = plan_.name;
    THIMBLE_CHECK(add_states());
    for (const int32_t input : plan_.inputs) THIMBLE_CHECK(memory_.add_input(input));
    if (plan_.chains.empty()) return bad_input("plan {} has no chain", plan_.name);
    for (const pte::Instruction& instruction : plan_.chains[0].instructions) {
      const auto* call = std::get_if<pte::KernelCall>(&instruction);
      if (call == nullptr) {
        return bad_input(
            "plan {}: the evaluator reads calls of kernels, and this file has calls of an NPU: "
            "compile with --emit pte,ir and give it the .ir",
            plan_.name);
      }
      THIMBLE_CHECK(decompile_call(*call));
    }
    for (const int32_t output : plan_.outputs) {
      THIMBLE_TRY(const ValueId value, memory_.read(output));
      graph_.add_output(value);
    }
    for (size_t i = 0; i < states_.size(); ++i) {
      THIMBLE_TRY(const ValueId next, memory_.read(states_[i]));
      graph_.set_next(i, next);
    }
    return Decompiled{std::move(graph_), std::move(results_)};
  }

 private:
  /// Adds the ranges of the arena that survive a run. A range without a tensor is ignored.
  Status add_states() {
    const pte::NamedData* entry = pte::find_named_data(program_, abi::kStateKey);
    if (entry == nullptr) return ok();
    const Bytes& bytes = entry->bytes;
    abi::StateHeader header = {};
    const auto bad = [](std::string_view what) {
      return bad_input("named data {}: {}", abi::kStateKey, what);
    };
    if (bytes.size() < sizeof(header)) return bad("too short");
    std::memcpy(&header, bytes.data(), sizeof(header));
    for (size_t i = 0; i < header.count; ++i) {
      abi::StateRecord record = {};
      const size_t at = sizeof(header) + i * sizeof(record);
      if (at + sizeof(record) > bytes.size()) return bad("too short");
      std::memcpy(&record, bytes.data() + at, sizeof(record));
      const int32_t index = tensor_at(record);
      if (index < 0) continue;
      Bytes content(record.bytes, static_cast<std::byte>(record.fill));
      if (record.content != 0) {
        if (record.content > bytes.size() || record.bytes > bytes.size() - record.content) {
          return bad("its content is cut off");
        }
        const auto begin = bytes.begin() + record.content;
        content.assign(begin, begin + record.bytes);
      }
      THIMBLE_CHECK(memory_.add_state(index, content));
      states_.push_back(index);
    }
    return ok();
  }

  /// Index of the first tensor that covers exactly this range of the arena; -1 if none does.
  int32_t tensor_at(const abi::StateRecord& record) const {
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const auto* tensor = std::get_if<pte::Tensor>(&plan_.values[i]);
      if (tensor == nullptr || !tensor->allocation) continue;
      const bool here = tensor->allocation->offset == record.arena_offset;
      if (here && pte::data_bytes(*tensor) == record.bytes) return static_cast<int32_t>(i);
    }
    return -1;
  }

  Status decompile_call(const pte::KernelCall& instruction) {
    const std::string name =
        pte::full_name(plan_.operators[static_cast<size_t>(instruction.op_index)]);
    const auto* const info = find_operator(name, instruction.args.size());
    if (info == std::end(abi::kPteOps)) return unsupported("operator {} is not known", name);
    const auto op = static_cast<abi::PteOp>(info - std::begin(abi::kPteOps));
    DecompilerCall call(plan_, instruction.args, &memory_, &graph_);
    THIMBLE_CHECK(call.check(*info));
    if (info->arguments[std::string_view(info->arguments).find_first_of("ow")] == 'w') {
      const Status split = decompile_split(&call);
      return split.ok()
                 ? ok()
                 : Error{split.error().kind, fmt::format("{}: {}", name, split.error().message)};
    }
    const bool native = std::string_view(info->name).starts_with("thimble::");
    Result<ValueId> decompiled = native ? decompile_native(op, &call) : decompile_stock(op, &call);
    if (!decompiled.ok())
      return Error{decompiled.error().kind,
                   fmt::format("{}: {}", name, decompiled.error().message)};
    THIMBLE_TRY(const ir::Type out, call.out_type());
    const ir::Type& type = graph_.type(*decompiled);
    if (type.shape != out.shape || type.dtype != out.dtype) {
      return bad_input("{}: its out tensor has another type than its result", name);
    }
    graph_.value(*decompiled).type.dim_order = out.dim_order;
    results_.push_back(*decompiled);
    return memory_.write(call.out(), *decompiled);
  }

  /// Row of the operator with this name and number of arguments (return value included); if none
  /// has this number, the first row of the name.
  static const abi::PteOpInfo* find_operator(std::string_view name, size_t arguments) {
    const auto* const first = std::ranges::find(abi::kPteOps, name, &abi::PteOpInfo::name);
    for (const auto* info = first; info != std::end(abi::kPteOps); ++info) {
      const bool fits = std::string_view(info->arguments).size() + 1 == arguments;
      if (info->name == name && fits) return info;
    }
    return first;
  }

  const pte::Program& program_;
  const pte::ExecutionPlan& plan_;
  ir::Graph graph_;
  std::vector<ValueId> results_;
  DecompilerMemory memory_;
  std::vector<int32_t> states_;  // tensor indices, in the order of the graph's states
};

}  // namespace

Result<Decompiled> decompile_with_results(const pte::Program& program) {
  if (program.plans.empty()) return bad_input("the program has no plan");
  // A runtime executes the records instead of the flatbuffer tables that are read here.
  THIMBLE_CHECK(pte::check_records(program, "the program"));
  const auto forward = std::ranges::find(program.plans, "forward", &pte::ExecutionPlan::name);
  return Decompiler(program, forward == program.plans.end() ? program.plans[0] : *forward).run();
}

Result<ir::Graph> decompile(const pte::Program& program) {
  THIMBLE_TRY(Decompiled decompiled, decompile_with_results(program));
  return std::move(decompiled.graph);
}

}  // namespace thimble::emit
