// SPDX-License-Identifier: Apache-2.0
#include "tools/explain.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "driver/report.h"
#include "hostrun/kernel_source.h"

namespace thimble::tools {
namespace {

namespace pte = formats::pte;
using driver::with_commas;

std::string type_text(const pte::EValue& value) {
  const auto* tensor = std::get_if<pte::Tensor>(&value);
  if (tensor == nullptr) return "no tensor";
  std::string sizes;
  for (const int32_t size : tensor->sizes) {
    sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  }
  return fmt::format("{}[{}]", pte::name(tensor->scalar_type), sizes);
}

/// Value of a compile spec: as text if printable, else its first bytes.
std::string value_text(const Bytes& value) {
  constexpr size_t kShown = 48;
  std::string text, hex;
  bool printable = !value.empty();
  for (const std::byte byte : value) {
    const auto c = static_cast<unsigned char>(byte);
    const bool end = c == 0 && &byte == &value.back();
    printable = printable && (end || std::isprint(c) != 0);
    if (!end) text += static_cast<char>(c);
    hex += fmt::format("{:02x}", c);
  }
  if (printable) return text.size() > kShown ? text.substr(0, kShown) + "..." : text;
  return value.size() * 2 > kShown ? hex.substr(0, kShown) + "..." : hex;
}

/// Results in planned memory while instructions run in order.
class ResultsInMemory {
 public:
  explicit ResultsInMemory(const pte::ExecutionPlan& plan) : plan_(plan) {
    for (const int32_t input : plan.inputs) write(input);
  }

  void write(int32_t value) {
    const std::optional<Place> place = place_of(value);
    if (!place) {
      unplanned_.insert(value);
      return;
    }
    std::erase_if(results_, [&](const Result& other) {
      return other.place.memory == place->memory && other.place.begin < place->end &&
             place->begin < other.place.end;
    });
    results_.push_back({value, *place, false});
  }

  void read(int32_t value) {
    if (Result* const result = find(value)) result->was_read = true;
  }

  /// A view has no instruction: it is another value at the place of a result that nothing has read.
  [[nodiscard]] bool holds(int32_t value) {
    const pte::Tensor* const tensor = tensor_of(value);
    if (tensor == nullptr || tensor->data_buffer_idx != 0) return true;
    if (!tensor->allocation) return unplanned_.contains(value);
    const Result* const result = find(value);
    return result != nullptr && (result->value == value || !result->was_read);
  }

 private:
  struct Place {
    uint32_t memory = 0;
    uint64_t begin = 0, end = 0;  // bytes
    bool operator==(const Place&) const = default;
  };
  struct Result {
    int32_t value = 0;
    Place place;
    bool was_read = false;
  };

  const pte::Tensor* tensor_of(int32_t value) const {
    return std::get_if<pte::Tensor>(&plan_.values[static_cast<size_t>(value)]);
  }
  std::optional<Place> place_of(int32_t value) const {
    const pte::Tensor* const tensor = tensor_of(value);
    if (tensor == nullptr || !tensor->allocation) return std::nullopt;
    const uint64_t begin = tensor->allocation->offset;
    return Place{tensor->allocation->memory_id, begin,
                 begin + pte::data_bytes(*tensor).value_or(0)};
  }
  Result* find(int32_t value) {
    const std::optional<Place> place = place_of(value);
    for (Result& result : results_) {
      if (place && result.place == *place) return &result;
    }
    return nullptr;
  }

  const pte::ExecutionPlan& plan_;
  std::vector<Result> results_;
  std::set<int32_t> unplanned_;  // results without planned memory
};

class Method {
 public:
  Method(const pte::Program& program, const pte::ExecutionPlan& plan)
      : program_(program), plan_(plan) {}

  Explanation run() {
    count_calls();
    header();
    ports("input", plan_.inputs);
    ports("output", plan_.outputs);
    operators();
    delegates();
    states();
    return std::move(result_);
  }

 private:
  struct Call {
    std::vector<std::string> in, out;
  };

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    result_.text += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  /// Counts operators and sorts delegate arguments: a tensor that holds no result is an output.
  void count_calls() {
    ResultsInMemory results(plan_);
    for (const pte::Chain& chain : plan_.chains) {
      for (const pte::Instruction& instruction : chain.instructions) {
        ++instructions_;
        if (const auto* call = std::get_if<pte::KernelCall>(&instruction)) {
          ++calls_[pte::full_name(plan_.operators[static_cast<size_t>(call->op_index)])];
          for (const int32_t arg : call->args) results.read(arg);
          if (!call->args.empty()) results.write(call->args.back());  // the out tensor
        } else if (const auto* call = std::get_if<pte::DelegateCall>(&instruction)) {
          Call& of = delegate_calls_[call->delegate_index];
          std::vector<int32_t> outputs;
          for (const int32_t arg : call->args) {
            const bool is_last = arg == call->args.back();  // outputs follow inputs
            const bool known = !is_last && results.holds(arg);
            (known ? of.in : of.out).push_back(type_text(plan_.values[static_cast<size_t>(arg)]));
            if (!known) outputs.push_back(arg);
          }
          for (const int32_t arg : call->args) results.read(arg);
          for (const int32_t output : outputs) results.write(output);
        } else {
          ++others_;
        }
      }
    }
  }

  void header() {
    int64_t memory = 0;
    for (const int64_t bytes : plan_.memory_sizes) memory += bytes;
    const size_t memories = plan_.memory_sizes.empty() ? 0 : plan_.memory_sizes.size() - 1;
    line("method {}   {} instructions, {} B planned in {} memor{}", plan_.name, instructions_,
         with_commas(memory), memories, memories == 1 ? "y" : "ies");
    result_.methods = {{"name", plan_.name},
                       {"instructions", instructions_},
                       {"other_instructions", others_},
                       {"memory_sizes", plan_.memory_sizes}};
    if (others_ != 0) line("  {} control flow instructions", others_);
  }

  void ports(const char* what, const std::vector<int32_t>& indices) {
    result_.methods[fmt::format("{}s", what)] = Json::array();
    for (const int32_t index : indices) {
      const std::string text = type_text(plan_.values[static_cast<size_t>(index)]);
      line("  {:<9} {}", what, text);
      result_.methods[fmt::format("{}s", what)].push_back(text);
    }
  }

  void operators() {
    result_.methods["operators"] = Json::array();
    for (const auto& [name, count] : calls_) {
      const bool known = hostrun::has_kernel(name);
      line("  operator  {:<50} {:>4}{}", name, count, known ? "" : "  no kernel here");
      result_.methods["operators"].push_back({{"name", name}, {"calls", count}, {"known", known}});
    }
  }

  void delegates() {
    result_.methods["delegates"] = Json::array();
    for (size_t i = 0; i < plan_.delegates.size(); ++i) {
      const pte::BackendDelegate& delegate = plan_.delegates[i];
      const pte::DelegateBlob& blob = program_.delegate_blobs[delegate.blob];
      const Call& call = delegate_calls_[static_cast<int32_t>(i)];
      const bool in_segment = blob.location == pte::BlobLocation::kSegment;
      line("  delegate  {}   {} B processed, {}", delegate.id,
           with_commas(static_cast<int64_t>(blob.bytes.size())),
           in_segment ? "in a segment" : "inside the program");
      Json specs = Json::array();
      for (const std::string& type : call.in) line("    in   {}", type);
      for (const std::string& type : call.out) line("    out  {}", type);
      for (const pte::CompileSpec& spec : delegate.compile_specs) {
        line("    spec {} = {}", spec.key, value_text(spec.value));
        specs.push_back(
            {{"key", spec.key}, {"bytes", spec.value.size()}, {"value", value_text(spec.value)}});
      }
      result_.methods["delegates"].push_back({{"id", delegate.id},
                                              {"bytes", blob.bytes.size()},
                                              {"segment", in_segment},
                                              {"inputs", call.in},
                                              {"outputs", call.out},
                                              {"compile_specs", specs}});
    }
  }

  void states() {
    result_.methods["state"] = Json::array();
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const auto* tensor = std::get_if<pte::Tensor>(&plan_.values[i]);
      if (tensor == nullptr || !tensor->allocation) continue;
      const bool starts = tensor->data_buffer_idx != 0;
      const bool named = tensor->extra && tensor->extra->fully_qualified_name;
      if (!starts && !named) continue;
      const std::string name = named ? *tensor->extra->fully_qualified_name : "not named";
      line("  state     {} {}, {}", name, type_text(plan_.values[i]),
           starts ? "with an initial value" : "without an initial value");
      result_.methods["state"].push_back(
          {{"name", name}, {"value", i}, {"type", type_text(plan_.values[i])}, {"starts", starts}});
    }
  }

  const pte::Program& program_;
  const pte::ExecutionPlan& plan_;
  Explanation result_;
  int64_t instructions_ = 0, others_ = 0;
  std::map<std::string, int64_t> calls_;
  std::map<int32_t, Call> delegate_calls_;
};

}  // namespace

Explanation explain(const pte::Program& program) {
  Explanation all;
  all.methods = Json::array();
  for (const pte::ExecutionPlan& plan : program.plans) {
    Explanation one = Method(program, plan).run();
    all.text += one.text;
    all.methods.push_back(std::move(one.methods));
  }
  for (const pte::NamedData& data : program.named_data) {
    all.text += fmt::format("named data {}   {} B\n", data.key,
                            with_commas(static_cast<int64_t>(data.bytes.size())));
  }
  return all;
}

}  // namespace thimble::tools
