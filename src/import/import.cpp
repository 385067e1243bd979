#include "import/import.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <optional>
#include <set>

#include "import/complex_pairs.h"
#include "import/constants.h"
#include "import/control_flow.h"
#include "import/core_aten.h"
#include "import/empty.h"
#include "import/handlers.h"
#include "import/integers.h"
#include "import/layout.h"
#include "import/mask_positions.h"
#include "import/refusal.h"
#include "import/scalars.h"
#include "import/spectrum.h"
#include "ir/dce.h"

namespace thimble::import_pt2 {
namespace {

namespace pt2 = formats::pt2;
using ir::ValueId;

/// Returns the name of the first tensor that the node produces. The archive's graph uses this name.
std::string name_of(const pt2::Node& node) {
  for (const pt2::Argument& output : node.outputs) {
    if (const auto* one = std::get_if<pt2::TensorName>(&output)) return one->name;
  }
  return node.name;
}

ir::Source source_of(const pt2::Node& node) {
  ir::Source source;
  const size_t slash = node.source.file.find_last_of("/\\");
  source.file = slash == std::string::npos ? node.source.file : node.source.file.substr(slash + 1);
  source.line = static_cast<int>(std::clamp<int64_t>(node.source.line, 0, INT32_MAX));
  source.text = node.source.text;
  source.module = node.module_path;
  source.target = short_target(node.target);
  source.node = name_of(node);
  return source;
}

template <typename Visit>
void for_each_tensor(const pt2::Argument& argument, Visit visit) {
  if (const auto* one = std::get_if<pt2::TensorName>(&argument)) {
    visit(one->name);
  } else if (const auto* list = std::get_if<std::vector<pt2::TensorName>>(&argument)) {
    for (const auto& each : *list) visit(each.name);
  } else if (const auto* some =
                 std::get_if<std::vector<std::optional<pt2::TensorName>>>(&argument)) {
    for (const auto& each : *some) {
      if (each) visit(each->name);
    }
  }
}

bool is_scalar(const pt2::Argument& argument) {
  return std::holds_alternative<pt2::SymIntArg>(argument) ||
         std::holds_alternative<pt2::SymFloatArg>(argument) ||
         std::holds_alternative<pt2::SymBoolArg>(argument) ||
         std::holds_alternative<std::vector<pt2::SymIntArg>>(argument);
}

Error unsupported_type(std::string_view what, pt2::ScalarType type) {
  switch (type) {
    case pt2::ScalarType::kFloat16:
    case pt2::ScalarType::kBfloat16:
    case pt2::ScalarType::kFloat64:
      return unsupported(
          "{} is {}, only float32 graphs are supported: export model.float() with "
          "float32 example inputs",
          what, pt2::name(type));
    default:
      return unsupported("{} is {}, computed at run time: compute it in float32 or int32", what,
                         pt2::name(type));
  }
}

Error unsupported_input(std::string_view name, pt2::ScalarType type) {
  if (type == pt2::ScalarType::kFloat16 || type == pt2::ScalarType::kBfloat16 ||
      type == pt2::ScalarType::kFloat64) {
    return unsupported_type(fmt::format("input {}", name), type);
  }
  return unsupported("input {} is {}: export with float32, int32, int64 or bool example inputs",
                     name, pt2::name(type));
}

/// Returns what to do about a weight of a tensor subclass, which the archive holds as a Python
/// object; empty for other operators.
std::string_view subclass_refusal(std::string_view target) {
  if (target != "export.access_subclass_inner_tensor.default") return "";
  return "a weight is a tensor subclass, as of torchao's quantize_; save "
         "exported.run_decompositions({}) or call torchao.utils.unwrap_tensor_subclass(model) "
         "before the export";
}

/// Names of buffers of the archive.
using Buffers = std::set<std::string>;

class Importer {
 public:
  /// `written`: buffers that the graph is known to write to. `refused`: ImportOptions::refused.
  /// `counts`: positions that earlier passes found (position.h).
  Importer(const pt2::ExportedProgram& program, Symbols symbols, const Buffers& written,
           PositionCounts counts, std::vector<ir::RefusedNode>* refused)
      : program_(program),
        written_(written),
        refused_(refused),
        pairs_(find_pairs(program)),
        context_(program, std::move(symbols), std::move(counts)) {}

  /// Returns a buffer that the graph writes to and that is not in `written`. run() stopped there,
  /// because earlier operators may have read the buffer as a constant.
  [[nodiscard]] const std::optional<std::string>& found() const { return found_; }
  [[nodiscard]] const PositionCounts& counts() const { return context_.found_counts; }

  Result<ImportedModel> run() {
    THIMBLE_CHECK(check_outputs());
    if (program_.input_specs.size() != program_.graph.inputs.size()) {
      return bad_input("{} input specs for {} graph inputs", program_.input_specs.size(),
                       program_.graph.inputs.size());
    }
    for (const pt2::InputSpec& spec : program_.input_specs) THIMBLE_CHECK(bind_input(spec));
    for (const pt2::Node& node : program_.graph.nodes) THIMBLE_CHECK(import_expanded(node));
    THIMBLE_CHECK(check_refusals());
    return finish();
  }

 private:
  [[nodiscard]] bool is_tensor_output(const pt2::OutputSpec& spec) const {
    return spec.kind == pt2::OutputKind::kUserOutput &&
           program_.graph.tensor(spec.value_name) != nullptr;
  }

  [[nodiscard]] bool is_complex_output(const pt2::OutputSpec& spec) const {
    const pt2::TensorMeta* meta = program_.graph.tensor(spec.value_name);
    return meta != nullptr && is_complex(meta->dtype);
  }

  /// None, numbers and strings among the outputs are the same in each call; the compiled model does
  /// not return them. Checks that a number does not depend on the inputs.
  [[nodiscard]] Status check_omitted_output(const pt2::OutputSpec& spec) const {
    const std::string& name = spec.value_name;
    if (name.empty() || context_.sizes.contains(name) || context_.reals.contains(name)) return ok();
    return unsupported("output {} is a number that depends on an input: return a tensor", name);
  }

  Status check_outputs() const {
    if (std::none_of(program_.output_specs.begin(), program_.output_specs.end(),
                     [&](const pt2::OutputSpec& spec) { return is_tensor_output(spec); })) {
      return unsupported("the model has no output that is a tensor: return one");
    }
    for (const pt2::OutputSpec& spec : program_.output_specs) {
      switch (spec.kind) {
        case pt2::OutputKind::kUserOutput:
          break;
        case pt2::OutputKind::kBufferMutation:
          break;
        case pt2::OutputKind::kUserInputMutation:
          return unsupported(
              "the model writes to its input {}: return the new value as an output, or keep it in "
              "a buffer",
              spec.target);
        default:
          return unsupported("output {} is not an inference output", spec.value_name);
      }
    }
    return ok();
  }

  Status bind_input(const pt2::InputSpec& spec) {
    switch (spec.kind) {
      case pt2::InputKind::kUserInput:
        return bind_user_input(spec);
      case pt2::InputKind::kBuffer:
      case pt2::InputKind::kTensorConstant:
        if (written_.contains(spec.target)) return bind_state(spec);
        [[fallthrough]];
      case pt2::InputKind::kParameter:
        if (bind_empty_weight(spec)) return ok();
        context_.tensors.bind_weight(spec.value_name, spec.target);
        return ok();
      case pt2::InputKind::kConstant:
        return ok();  // a Python scalar, which the export specialized
      default:
        return unsupported("input {} is not a tensor", spec.target);
    }
  }

  bool bind_empty_weight(const pt2::InputSpec& spec) {
    const pt2::TensorMeta* meta = program_.graph.tensor(spec.value_name);
    if (meta == nullptr) return false;
    const auto sizes = context_.symbols.values(meta->sizes);
    if (!sizes.ok() || std::ranges::find(*sizes, 0) == sizes->end()) return false;
    ir::Source source;
    source.target = spec.target;
    refusals_.push_back({source, "it has no elements", false});
    context_.tensors.bind_empty(spec.value_name, {static_cast<int>(refusals_.size()) - 1});
    return true;
  }

  Status bind_state(const pt2::InputSpec& spec) {
    THIMBLE_TRY(ir::Tensor content, load_weight(program_.weights, spec.target));
    const ValueId value = context_.builder.graph.add_state(
        spec.target, std::make_shared<const ir::Tensor>(std::move(content)));
    context_.tensors.bind(spec.value_name, value);
    // The next content is given by the signature, or else is the content at the end of the graph.
    StateNames names{spec.target, spec.value_name};
    for (const pt2::OutputSpec& output : program_.output_specs) {
      if (output.kind == pt2::OutputKind::kBufferMutation && output.target == spec.target) {
        names.next = output.value_name;
      }
    }
    states_.push_back(std::move(names));
    return ok();
  }

  Status bind_user_input(const pt2::InputSpec& spec) {
    const pt2::TensorMeta* meta = program_.graph.tensor(spec.value_name);
    if (meta == nullptr) return unsupported("input {} is not a tensor", spec.value_name);
    const auto dtype = ir_dtype(meta->dtype);
    if (!dtype) return unsupported_input(spec.value_name, meta->dtype);
    ir::Type type{*dtype, {}, {}, {}};
    THIMBLE_TRY(type.shape, context_.symbols.values(meta->sizes));
    if (!type.shape.empty() && !ir::checked_element_count(type.shape)) {
      return unsupported("input {} has shape {}", spec.value_name, ir::list_text(type.shape));
    }
    type.dim_order = exported_order(*meta, type.shape);
    model_.inputs.push_back({spec.value_name, type.dim_order});
    context_.tensors.bind(spec.value_name,
                          context_.builder.graph.add_input(spec.value_name, std::move(type)));
    return ok();
  }

  /// Returns the memory order; contiguous if the strides cannot be evaluated.
  ir::DimOrder exported_order(const pt2::TensorMeta& meta, const ir::Shape& shape) const {
    const auto strides = context_.symbols.values(meta.strides);
    return strides ? dim_order(shape, *strides) : ir::DimOrder{};
  }

  /// Imports a node, or the nodes that replace control flow.
  Status import_expanded(const pt2::Node& first) {
    std::vector<const pt2::Node*> pending = {&first};
    while (!pending.empty()) {
      const pt2::Node& node = *pending.back();
      pending.pop_back();
      if (is_control_flow(node.target)) {
        auto nodes = expand(context_, node);
        if (nodes.ok() && expanded_.size() + nodes->size() > kExpandedNodesMax) {
          nodes = too_many_nodes();
        }
        if (nodes.ok()) {
          const size_t end = expanded_.size();
          for (pt2::Node& each : *nodes) expanded_.push_back(std::move(each));
          for (size_t i = expanded_.size(); i > end; --i) pending.push_back(&expanded_[i - 1]);
          continue;
        }
        if (nodes.error().kind != ErrorKind::kUnsupported) return located(node, nodes.error());
        const ir::Source source = source_of(node);
        propagate_refusals(node, source, {add_refusal(node, source, nodes.error().message)});
        continue;
      }
      order_.push_back(&node);
      auto status = import_node(node);
      if (!status.ok()) return located(node, status.error());
    }
    return ok();
  }

  Status import_node(const pt2::Node& node) {
    if (!node.outputs.empty() && std::all_of(node.outputs.begin(), node.outputs.end(), is_scalar)) {
      return import_scalar(node, source_of(node));
    }
    const ir::Source source = source_of(node);
    Refusals refused;
    for (const pt2::NamedArgument& input : node.inputs) {
      const bool list = std::holds_alternative<std::vector<pt2::TensorName>>(input.value);
      const bool may_be_empty = list || is_written_part(source.target, input.name);
      for_each_tensor(input.value, [&](const std::string& name) {
        if (may_be_empty && context_.tensors.is_empty(name)) return;
        const Refusals* inherited = context_.tensors.refusals(name);
        if (inherited != nullptr) refused.insert(inherited->begin(), inherited->end());
      });
    }
    if (const std::string state = written_state(node, source); is_buffer(state)) {
      found_ = state;
      return unsupported("{} is written to", state);
    }
    if (refused.empty()) learn_count(node, source);
    if (has_only_empty_results(node)) {
      const int refusal = add_refusal(node, source, "its result has no elements");
      for (const pt2::Argument& output : node.outputs) {
        for_each_tensor(
            output, [&](const std::string& name) { context_.tensors.bind_empty(name, {refusal}); });
      }
      return ok();
    }
    if (refused.empty()) {
      THIMBLE_TRY(const bool folded, import_known(node, source));
      if (folded) return ok();
    } else if (reads_only_empty(node)) {
      THIMBLE_TRY(const bool filled, import_filled(node, source));
      if (filled) return ok();
    }
    if (has_pair(pairs_, node)) {
      if (!refused.empty()) {
        propagate_refusals(node, source, refused);
        return ok();
      }
      Status status = import_pair(context_, pairs_, node, source);
      if (status.ok()) status = check_results(node);
      if (status.ok()) {
        model_.nodes.push_back({source, ImportedNode::Result::kOperators});
        return bind_rest(node, source);
      }
      if (status.error().kind != ErrorKind::kUnsupported) return status;
      propagate_refusals(node, source, {add_refusal(node, source, status.error().message)});
      return ok();
    }
    const bool complex = reads_complex(context_, node);
    const Handler handler =
        complex ? find_complex_handler(source.target) : find_handler(source.target);
    if (handler == nullptr || changes_state(node, source)) {
      std::string reason = spectrum_refusal(source.target, complex);
      if (reason.empty()) reason = subgraph_refusal(source.target);
      if (reason.empty()) reason = subclass_refusal(source.target);
      if (reason.empty()) reason = refusal_note(source.target);
      refused.insert(add_refusal(node, source, reason));
    } else if (refused.empty()) {
      Call call(context_, node, source);
      const size_t ops_before = context_.builder.graph.ops().size();
      auto status = import_call(call, handler, source.target);
      if (status.ok()) status = check_results(node);
      if (status.ok()) {
        model_.nodes.push_back({source, result_of(node, ops_before)});
        record_dynamic_scales(node);
        return bind_rest(node, source);
      }
      if (status.error().kind != ErrorKind::kUnsupported) return status;
      refused.insert(add_refusal(node, source, status.error().message));
    }
    propagate_refusals(node, source, refused);
    return ok();
  }

  /// Returns true for the values of x[index] = values, which change nothing without elements.
  static bool is_written_part(std::string_view target, std::string_view argument) {
    return argument == "values" && target.starts_with("aten.index_put");
  }

  /// The number of elements that a known mask selects is a size of the export without a value.
  void learn_count(const pt2::Node& node, const ir::Source& source) {
    if (source.target != "aten.index.Tensor") return;
    Call call(context_, node, source);
    const pt2::TensorMeta* meta = call.result_meta();
    const std::optional<KnownMask> mask = only_mask(call);
    if (meta == nullptr || !mask) return;
    for (const pt2::SymInt& size : meta->sizes) {
      if (!context_.symbols.value(size).ok()) {
        context_.symbols.learn(size, static_cast<int64_t>(mask->selected.size()));
      }
    }
  }

  /// Returns true if the node has results and none of them has elements, as a slice of 0 columns.
  bool has_only_empty_results(const pt2::Node& node) const {
    bool found = false, all = true;
    for (const pt2::Argument& output : node.outputs) {
      for_each_tensor(output, [&](const std::string& name) {
        const pt2::TensorMeta* meta = context_.meta(name);
        const auto sizes = context_.symbols.values(meta->sizes);
        found = true;
        all = all && sizes.ok() && std::ranges::find(*sizes, 0) != sizes->end();
      });
    }
    return found && all;
  }

  /// Returns true if the node has operands that are tensors, and all of them are without elements.
  [[nodiscard]] bool reads_only_empty(const pt2::Node& node) const {
    bool found = false, all = true;
    for (const pt2::NamedArgument& input : node.inputs) {
      for_each_tensor(input.value, [&](const std::string& name) {
        found = true;
        all = all && context_.tensors.is_empty(name);
      });
    }
    return found && all;
  }

  /// Imports a node of which all elements of the result are the same number, because its operands
  /// have no elements. Returns false for other nodes.
  Result<bool> import_filled(const pt2::Node& node, const ir::Source& source) {
    Call call(context_, node, source);
    const pt2::TensorMeta* meta = call.result_meta();
    const auto dtype = meta == nullptr ? std::nullopt : ir_dtype(meta->dtype);
    if (!dtype) return false;
    THIMBLE_TRY(const std::optional<double> number, result_of_empty(call, source.target));
    if (!number) return false;
    THIMBLE_TRY(const ir::Shape shape, context_.symbols.values(meta->sizes));
    THIMBLE_CHECK(call.result(call.constant_value("", filled(*dtype, shape, *number))));
    model_.nodes.push_back({source, ImportedNode::Result::kConstant});
    return true;
  }

  /// Computes a node whose operands are known integers. Returns false for other nodes.
  Result<bool> import_known(const pt2::Node& node, const ir::Source& source) {
    Call call(context_, node, source);
    THIMBLE_TRY(std::optional<ir::Tensor> known, fold_integers(call, source.target));
    if (!known) return false;
    THIMBLE_CHECK(call.result(call.constant_value("", *std::move(known))));
    THIMBLE_CHECK(check_results(node));
    model_.nodes.push_back({source, ImportedNode::Result::kConstant});
    record_dynamic_scales(node);
    return true;
  }

  /// Records constants that depend on the scales of choose_qparams, as a view of one.
  void record_dynamic_scales(const pt2::Node& node) {
    auto& scales = context_.dynamic_scales;
    bool found = false;
    for (const pt2::NamedArgument& input : node.inputs) {
      for_each_tensor(input.value,
                      [&](const std::string& name) { found = found || scales.contains(name); });
    }
    for (const pt2::Argument& output : node.outputs) {
      for_each_tensor(output, [&](const std::string& name) {
        if (!found || !context_.tensors.is_bound(name)) return;
        const auto id = context_.tensors.read(name, {});
        if (id.ok() && context_.builder.constant_of(*id) != nullptr) scales.insert(name);
      });
    }
  }

  /// Imports a node by its handler. Integers that depend on a position, and booleans for which the
  /// handler has no operators, become a table.
  static Status import_call(Call& call, Handler handler, std::string_view target) {
    const auto* meta = call.result_meta();
    const auto dtype = meta == nullptr ? std::nullopt : ir_dtype(meta->dtype);
    const auto tabulated = [&]() -> Result<ValueId> {
      if (!dtype || *dtype == ir::DType::kF32) return ir::kNoValue;
      return tabulate_integers(call, target);
    };
    if (dtype != ir::DType::kBool) {
      THIMBLE_TRY(const ValueId row, tabulated());
      if (row != ir::kNoValue) return call.result(row);
      THIMBLE_TRY(const ValueId computed, compute_integers(call, target));
      return computed == ir::kNoValue ? handler(call) : call.result(computed);
    }
    Status status = handler(call);
    if (status.ok() || status.error().kind != ErrorKind::kUnsupported) return status;
    THIMBLE_TRY(const ValueId row, tabulated());
    if (row != ir::kNoValue) return call.result(row);
    return status;
  }

  ImportedNode::Result result_of(const pt2::Node& node, size_t ops_before) {
    using Result = ImportedNode::Result;
    if (context_.builder.graph.ops().size() > ops_before) return Result::kOperators;
    Result result = Result::kNothing;
    for (const pt2::Argument& output : node.outputs) {
      for_each_tensor(output, [&](const std::string& name) {
        if (result != Result::kNothing || !context_.tensors.is_bound(name)) return;
        const auto id = context_.tensors.read(name, {});
        if (!id.ok()) return;
        const bool known = context_.builder.constant_of(*id) != nullptr;
        result = known ? Result::kConstant : Result::kOperand;
      });
    }
    return result;
  }

  /// Imports sym_size, numbers of known tensors, and arithmetic on them. The archive gives each
  /// size as an expression of the symbols.
  Status import_scalar(const pt2::Node& node, const ir::Source& source) {
    Call call(context_, node, source);
    if (const auto known = known_scalar(call, source.target); known && node.outputs.size() == 1) {
      if (const auto* size = std::get_if<pt2::SymIntArg>(&node.outputs[0])) {
        context_.sizes[size->name] = static_cast<int64_t>(*known);
        return ok();
      }
      if (const auto* real = std::get_if<pt2::SymFloatArg>(&node.outputs[0])) {
        context_.reals[real->name] = *known;
        return ok();
      }
      if (const auto* truth = std::get_if<pt2::SymBoolArg>(&node.outputs[0])) {
        context_.reals[truth->name] = *known;
        return ok();
      }
    }
    for (const pt2::Argument& output : node.outputs) {
      const auto* size = std::get_if<pt2::SymIntArg>(&output);
      if (size == nullptr || !size->is_name()) continue;
      const pt2::SymInt* expression = context_.size_expression(size->name);
      if (expression == nullptr) continue;
      auto value = context_.symbols.value(*expression);
      if (value.ok()) context_.sizes[size->name] = *value;  // otherwise a use of it is an error
    }
    return ok();
  }

  /// Returns true if an in-place operator writes to a parameter, buffer or constant.
  bool changes_state(const pt2::Node& node, const ir::Source& source) const {
    return !written_state(node, source).empty();
  }
  std::string written_state(const pt2::Node& node, const ir::Source& source) const {
    if (!is_in_place(source.target) || source.target == "aten.detach_.default") return "";
    if (node.inputs.empty()) return "";
    const auto* self = std::get_if<pt2::TensorName>(&node.inputs.front().value);
    return self == nullptr ? "" : context_.tensors.owner(self->name);
  }

  bool is_buffer(const std::string& name) const {
    return std::any_of(program_.input_specs.begin(), program_.input_specs.end(),
                       [&](const pt2::InputSpec& spec) {
                         return (spec.kind == pt2::InputKind::kBuffer ||
                                 spec.kind == pt2::InputKind::kTensorConstant) &&
                                spec.target == name;
                       });
  }

  int add_refusal(const pt2::Node& node, const ir::Source& source, std::string reason) {
    Refusal refusal{source, std::move(reason), false};
    if (const std::string state = written_state(node, source); !state.empty()) {
      refusal.counts = true;
      refusal.reason = fmt::format("it writes to {}, and only buffers can be state", state);
    }
    refusals_.push_back(std::move(refusal));
    return static_cast<int>(refusals_.size()) - 1;
  }

  /// Marks everything that this node produces or writes to as having no value.
  void propagate_refusals(const pt2::Node& node, const ir::Source& source,
                          const Refusals& refused) {
    if (is_in_place(source.target) && !node.inputs.empty()) {
      for_each_tensor(node.inputs.front().value,
                      [&](const std::string& name) { context_.tensors.refuse(name, refused); });
    }
    for (const pt2::Argument& output : node.outputs) {
      for_each_tensor(
          output, [&](const std::string& name) { context_.tensors.bind_refused(name, refused); });
    }
  }

  /// Binds outputs that the handler did not bind, such as the indices of a pool. A use of them is
  /// an error.
  Status bind_rest(const pt2::Node& node, const ir::Source& source) {
    for (const pt2::Argument& output : node.outputs) {
      for_each_tensor(output, [&](const std::string& name) {
        if (context_.tensors.is_bound(name)) return;
        const int refusal = add_refusal(node, source, fmt::format("its output {} is used", name));
        context_.tensors.bind_refused(name, {refusal});
      });
    }
    return ok();
  }

  /// Checks the inferred shapes and types against those in the archive.
  Status check_results(const pt2::Node& node) {
    for (const pt2::Argument& output : node.outputs) {
      Status status = ok();
      for_each_tensor(output, [&](const std::string& name) {
        if (status.ok() && context_.tensors.is_bound(name)) {
          status = check_result(name, node.target.find("aten.lstm.") != std::string::npos);
        }
      });
      if (!status.ok()) return status;
    }
    return ok();
  }

  void note_quantization() {
    model_.has_dynamic_quantization = !context_.dynamic_scales.empty();
    if (model_.has_dynamic_quantization) {
      model_.notes.emplace_back(
          "dynamic quantization is replaced: scales of activations are constants, chosen from the "
          "calibration data");
    }
    if (context_.grouped_weights > 0) {
      model_.notes.push_back(fmt::format(
          "weights with one scale per group (tensors: {}) are quantized again, to 8 bits with one "
          "scale per output channel",
          context_.grouped_weights));
    }
  }

  /// PyTorch 2.9 exports the final states of an LSTM, and what it computes of them, with one more
  /// dimension of 1 than the operator returns.
  bool has_rank_of_lstm(const ir::Shape& exported, const ir::Shape& shape, bool is_lstm) {
    const auto without_ones = [](ir::Shape sizes) {
      std::erase(sizes, 1);
      return sizes;
    };
    const bool one_more = exported.size() == shape.size() + 1;
    if (!one_more || without_ones(exported) != without_ones(shape)) return false;
    lstm_ranks_ = lstm_ranks_ || is_lstm;
    return lstm_ranks_;
  }

  Status check_result(const std::string& name, bool is_lstm) {
    const pt2::TensorMeta* meta = context_.meta(name);
    THIMBLE_TRY(const ValueId id, context_.tensors.read(name, {}));
    const ir::Value& value = context_.builder.graph.value(id);
    const auto sizes = context_.symbols.values(meta->sizes);
    if (sizes.ok() && *sizes != value.type.shape &&
        !has_rank_of_lstm(*sizes, value.type.shape, is_lstm)) {
      return bad_input("{} has shape {}, expected {} as in the archive", name,
                       ir::list_text(value.type.shape), ir::list_text(*sizes));
    }
    const bool power = is_complex(meta->dtype) && value.type.dtype == ir::DType::kF32;
    // An activation that is quantized at run time is real here.
    const bool is_code =
        meta->dtype == pt2::ScalarType::kInt8 || meta->dtype == pt2::ScalarType::kInt32;
    const bool real =
        is_code && value.type.dtype == ir::DType::kF32 && !context_.dynamic_scales.empty();
    if (value.constant == nullptr && !power && !real && ir_dtype(meta->dtype) != value.type.dtype) {
      return unsupported_type(name, meta->dtype);
    }
    return ok();
  }

  static Error located(const pt2::Node& node, const Error& error) {
    const ir::Source source = source_of(node);
    const std::string where = source.where();
    if (where.empty()) return {error.kind, fmt::format("{}: {}", source.target, error.message)};
    if (error.message.starts_with(where)) return error;
    return {error.kind, fmt::format("{}: {}: {}", where, source.target, error.message)};
  }

  /// Returns the refusals that outputs depend on, directly or through states.
  Result<Refusals> needed_refusals() {
    Refusals needed;
    std::vector<ValueId> results;
    const auto ask = [&](const std::string& name) -> Status {
      if (const Refusals* refused = context_.tensors.refusals(name)) {
        needed.insert(refused->begin(), refused->end());
        return ok();
      }
      THIMBLE_TRY(const ValueId id, context_.tensors.read(name, {}));
      results.push_back(id);
      return ok();
    };
    for (const pt2::OutputSpec& spec : program_.output_specs) {
      if (is_tensor_output(spec)) THIMBLE_CHECK(ask(spec.value_name));
    }
    std::vector<bool> asked(states_.size(), false);
    for (bool grown = true; grown;) {
      grown = false;
      const std::vector<bool> used = reached_from(results);
      for (size_t i = 0; i < states_.size(); ++i) {
        const ValueId value = context_.builder.graph.states()[i].value;
        if (asked[i] || !used[static_cast<size_t>(value)]) continue;
        asked[i] = grown = true;
        THIMBLE_CHECK(ask(states_[i].next));
      }
    }
    return needed;
  }

  std::vector<bool> reached_from(const std::vector<ValueId>& results) const {
    const ir::Graph& graph = context_.builder.graph;
    std::vector<bool> reached(graph.value_count(), false);
    for (const ValueId id : results) reached[static_cast<size_t>(id)] = true;
    for (auto op = graph.ops().rbegin(); op != graph.ops().rend(); ++op) {
      if (!reached[static_cast<size_t>(op->output)]) continue;
      for (const ValueId id : op->inputs) {
        if (id != ir::kNoValue) reached[static_cast<size_t>(id)] = true;
      }
    }
    return reached;
  }

  Status check_refusals() {
    THIMBLE_TRY(const Refusals needed, needed_refusals());
    std::vector<const Refusal*> listed;
    for (size_t i = 0; i < refusals_.size(); ++i) {
      if (refusals_[i].counts || needed.count(static_cast<int>(i)) != 0)
        listed.push_back(&refusals_[i]);
    }
    if (listed.empty()) return ok();
    ErrorFacts facts;
    for (const Refusal* each : listed) {
      const std::string reason = each->reason.empty() ? "is not supported" : each->reason;
      facts.ops.push_back({each->source.target, each->source.where(), each->source.text,
                           each->source.module, reason});
      if (refused_ != nullptr) refused_->push_back({each->source, reason});
    }
    return refusal(describe(listed), std::move(facts));
  }

  /// Sets the next content of each state. A state that no output depends on may have a rejected
  /// next content; it then keeps its content.
  Status finish_states() {
    ir::Graph& graph = context_.builder.graph;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (context_.tensors.refusals(states_[i].next) != nullptr) continue;
      THIMBLE_TRY(const ValueId next, context_.tensors.read(states_[i].next, {}));
      const ir::Type& is = graph.type(graph.states()[i].value);
      const ir::Type& becomes = graph.type(next);
      if (is.dtype != becomes.dtype || is.shape != becomes.shape) {
        return bad_input("buffer {} is {}, the graph writes {} to it", states_[i].name,
                         ir::type_text(is.dtype, is.shape),
                         ir::type_text(becomes.dtype, becomes.shape));
      }
      graph.set_next(i, next);
    }
    return ok();
  }

  Result<ImportedModel> finish() {
    THIMBLE_CHECK(finish_states());
    for (const pt2::OutputSpec& spec : program_.output_specs) {
      if (spec.kind != pt2::OutputKind::kUserOutput) continue;
      if (!is_tensor_output(spec)) {
        THIMBLE_CHECK(check_omitted_output(spec));
        continue;
      }
      if (is_complex_output(spec)) {
        return unsupported("output {} is complex: return torch.view_as_real of it",
                           spec.value_name);
      }
      THIMBLE_TRY(ValueId id, context_.tensors.read(spec.value_name, {}));
      const ir::Type type = context_.builder.graph.type(id);
      const ir::DimOrder order =
          exported_order(*program_.graph.tensor(spec.value_name), type.shape);
      if (!ir::same_memory(type.shape, type.dim_order, order)) {
        const ir::Op* producer = context_.builder.producer(id);
        const ir::Source source = producer == nullptr ? ir::Source{} : producer->source;
        THIMBLE_TRY(id, context_.builder.graph.add(ir::OpKind::copy, {id}, {}, source,
                                                   {spec.value_name, order, type.quant}));
      }
      if (!spec.key.empty()) name_output(id, spec.key);
      context_.builder.graph.add_output(id);
      model_.outputs.push_back({spec.value_name, order});
    }
    mark_needed();
    model_.graph = ir::remove_unused(context_.builder.graph);
    note_quantization();
    return std::move(model_);
  }

  /// Names a value by its key in the dictionary that the model returns. An input, a constant, a
  /// value that already is an output, and a value whose name would not be unique keep their names.
  void name_output(ValueId id, std::string key) {
    ir::Graph& graph = context_.builder.graph;
    for (char& c : key) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain) c = '_';
    }
    if (context_.builder.producer(id) == nullptr) return;
    if (std::ranges::find(graph.outputs(), id) != graph.outputs().end()) return;
    for (size_t i = 0; i < graph.value_count(); ++i) {
      if (graph.value(static_cast<ValueId>(i)).name == key) return;
    }
    graph.value(id).name = std::move(key);
  }

  /// Marks the needed nodes. Nodes, not IR operators, are traversed: composed views leave operators
  /// without readers.
  void mark_needed() {
    std::set<std::string> needed;
    for (const pt2::OutputSpec& spec : program_.output_specs) needed.insert(spec.value_name);
    std::set<std::string> nodes;
    for (auto each = order_.rbegin(); each != order_.rend(); ++each) {
      const pt2::Node* node = *each;
      bool wanted = is_in_place(short_target(node->target));
      for (const pt2::Argument& output : node->outputs) {
        for_each_tensor(output,
                        [&](const std::string& name) { wanted = wanted || needed.contains(name); });
      }
      if (!wanted) continue;
      nodes.insert(name_of(*node));
      for (const pt2::NamedArgument& input : node->inputs) {
        for_each_tensor(input.value, [&](const std::string& name) { needed.insert(name); });
      }
    }
    for (ImportedNode& node : model_.nodes) node.needed = nodes.contains(node.source.node);
  }

  struct StateNames {
    std::string name;  // name of the buffer
    std::string next;  // name of the tensor that holds its content after the run
  };

  const pt2::ExportedProgram& program_;
  const Buffers& written_;
  std::vector<ir::RefusedNode>* refused_;
  const PairNames pairs_;
  Context context_;
  std::vector<StateNames> states_;  // in the order of graph.states()
  std::vector<Refusal> refusals_;
  std::deque<pt2::Node> expanded_;       // nodes that replace control flow
  std::vector<const pt2::Node*> order_;  // all imported nodes
  std::optional<std::string> found_;
  bool lstm_ranks_ = false;  // the archive has ranks of has_rank_of_lstm()
  ImportedModel model_;
};

/// Returns true if integers are computed at run time. A function of a position may become a table
/// when the number of positions is known.
bool computes_integers(const ir::Graph& graph) {
  return std::ranges::any_of(graph.ops(), [](const ir::Op& op) {
    return op.kind == ir::OpKind::int_pair || op.kind == ir::OpKind::int_to_float ||
           op.kind == ir::OpKind::int_cumsum || op.kind == ir::OpKind::int_reduce;
  });
}

Result<ImportedModel> import_graph(const pt2::ExportedProgram& program,
                                   const ImportOptions& options) {
  THIMBLE_TRY(const auto symbols, Symbols::fix(program, options));
  // Core ATen lists the written buffers. Training IR does not list them, and its in-place operators
  // write to them through views. Each time such a buffer is found, the import is repeated with this
  // buffer as a state.
  Buffers written;
  for (const pt2::OutputSpec& spec : program.output_specs) {
    if (spec.kind == pt2::OutputKind::kBufferMutation) written.insert(spec.target);
  }
  PositionCounts counts;
  while (true) {
    const size_t refused_before = options.refused == nullptr ? 0 : options.refused->size();
    Importer importer(program, symbols, written, counts, options.refused);
    auto model = importer.run();
    if (!importer.found()) {
      // Positions may be found after their first use. Counts only decrease, so the loop ends.
      PositionCounts next = counts;
      for (const auto& [name, count] : importer.counts()) {
        const auto [entry, fresh] = next.try_emplace(name, count);
        entry->second = std::min(entry->second, count);
      }
      const bool done = model.ok() && !computes_integers(model->graph);
      if (done || next == counts) return model;
      counts = std::move(next);
      if (options.refused != nullptr) options.refused->resize(refused_before);
      continue;
    }
    const bool fresh = written.insert(*importer.found()).second;
    assert(fresh && "a state's storage is not persistent");
    (void)fresh;
  }
}

}  // namespace

Result<ImportedModel> import_program(const pt2::ExportedProgram& program,
                                     const ImportOptions& options, std::string_view file_name) {
  auto model = import_graph(program, options);
  if (model.ok() || model.error().kind == ErrorKind::kUnsupported) return model;
  // Messages of the archive reader already begin with the archive's name.
  const std::string& message = model.error().message;
  if (message.starts_with(file_name)) return model;
  return bad_input("{}: {}", file_name, message);
}

}  // namespace thimble::import_pt2
