// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <nlohmann/json.hpp>

#include "formats/pte/print.h"
#include "formats/pte/text_words.h"

namespace thimble::formats::pte {
namespace {

using nlohmann::ordered_json;

/// JSON has no infinities: they are written as the word of the text form.
ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return number(value);
}

class JsonPrinter {
 public:
  explicit JsonPrinter(const PrintOptions& options) : options_(options) {}

  ordered_json run(const Program& program) const {
    ordered_json out = {{"format", "ET12"}, {"version", program.version}};
    out["constants_in"] = program.constants_inline ? "flatbuffer" : "segment";
    out["constants"] = buffers(program.constants);
    size_t constants_bytes = 0;
    for (const Bytes& constant : program.constants) constants_bytes += constant.size();
    out["constants_bytes"] = constants_bytes;
    out["mutable_segments"] = ordered_json::array();
    for (const MutableSegment& segment : program.mutable_segments) {
      out["mutable_segments"].push_back(buffers(segment.buffers));
    }
    out["delegate_blobs"] = ordered_json::array();
    for (const DelegateBlob& blob : program.delegate_blobs) {
      ordered_json entry = data(blob.bytes);
      entry["location"] = blob.location == BlobLocation::kInline ? "flatbuffer" : "segment";
      entry["alignment"] = blob.alignment;
      out["delegate_blobs"].push_back(std::move(entry));
    }
    out["named_data"] = ordered_json::array();
    for (const NamedData& named : program.named_data) {
      ordered_json entry = {{"key", named.key}};
      entry.update(data(named.bytes));
      entry["alignment"] = named.alignment;
      out["named_data"].push_back(std::move(entry));
    }
    out["plans"] = ordered_json::array();
    for (const ExecutionPlan& p : program.plans) out["plans"].push_back(plan(p));
    return out;
  }

 private:
  ordered_json data(const Bytes& bytes) const {
    ordered_json out = {{"bytes", bytes.size()}};
    if (options_.data) out["hex"] = hex(bytes);
    return out;
  }
  ordered_json buffers(const std::vector<Bytes>& all) const {
    ordered_json out = ordered_json::array();
    for (size_t i = 1; i < all.size(); ++i) {
      ordered_json entry = {{"index", i}};
      entry.update(data(all[i]));
      out.push_back(std::move(entry));
    }
    return out;
  }

  ordered_json plan(const ExecutionPlan& plan) const {
    ordered_json out = {{"name", plan.name}, {"inputs", plan.inputs}, {"outputs", plan.outputs}};
    if (plan.container) {
      out["container"] = {{"input", plan.container->encoded_input},
                          {"output", plan.container->encoded_output}};
    }
    out["memory_sizes"] = plan.memory_sizes;
    if (!plan.memory_devices.empty()) {
      for (const MemoryDevice& d : plan.memory_devices) {
        out["memory_devices"].push_back({{"memory_id", d.memory_id},
                                         {"device_type", d.device.type},
                                         {"device_index", d.device.index}});
      }
    }
    out["operators"] = ordered_json::array();
    for (const Operator& op : plan.operators) out["operators"].push_back(full_name(op));
    out["delegates"] = ordered_json::array();
    for (const BackendDelegate& d : plan.delegates) {
      ordered_json entry = {{"id", d.id}, {"blob", d.blob}};
      entry["compile_specs"] = ordered_json::array();
      for (const CompileSpec& spec : d.compile_specs) {
        ordered_json item = {{"key", spec.key}};
        item.update(data(spec.value));
        entry["compile_specs"].push_back(std::move(item));
      }
      out["delegates"].push_back(std::move(entry));
    }
    out["values"] = ordered_json::array();
    for (const EValue& value : plan.values) {
      out["values"].push_back(std::visit([](const auto& x) { return json(x); }, value));
    }
    out["chains"] = ordered_json::array();
    for (const Chain& c : plan.chains) out["chains"].push_back(chain(plan, c));
    return out;
  }

  static ordered_json json(const Null&) { return {{"type", "null"}}; }
  static ordered_json json(const Int& x) { return {{"type", "int"}, {"value", x.value}}; }
  static ordered_json json(const Bool& x) { return {{"type", "bool"}, {"value", x.value}}; }
  static ordered_json json(const Double& x) {
    return {{"type", "double"}, {"value", json_number(x.value)}};
  }
  static ordered_json json(const String& x) { return {{"type", "string"}, {"value", x.value}}; }
  static ordered_json json(const IntList& x) { return {{"type", "ints"}, {"items", x.items}}; }
  static ordered_json json(const BoolList& x) { return {{"type", "bools"}, {"items", x.items}}; }
  static ordered_json json(const DoubleList& x) {
    ordered_json items = ordered_json::array();
    for (double item : x.items) items.push_back(json_number(item));
    return {{"type", "doubles"}, {"items", std::move(items)}};
  }
  static ordered_json json(const TensorList& x) {
    return {{"type", "tensors"}, {"items", x.items}};
  }
  static ordered_json json(const OptionalTensorList& x) {
    return {{"type", "optional_tensors"}, {"items", x.items}};
  }

  static ordered_json json(const Tensor& t) {
    ordered_json out = {{"type", "tensor"},
                        {"dtype", type_word(t.scalar_type)},
                        {"sizes", t.sizes},
                        {"dim_order", t.dim_order},
                        {"bytes", data_bytes(t).value_or(0)}};
    const bool external = t.extra && t.extra->location == TensorLocation::kExternal;
    const bool constant = t.data_buffer_idx != 0 && !t.allocation;
    out["storage"] = external       ? "external"
                     : constant     ? "constant"
                     : t.allocation ? "planned"
                                    : "caller";
    if (t.data_buffer_idx != 0) out[constant ? "constant" : "start"] = t.data_buffer_idx;
    if (t.allocation) {
      out["memory_id"] = t.allocation->memory_id;
      out["offset"] = t.allocation->offset;
    }
    if (t.shape_dynamism == ShapeDynamism::kDynamicBound) out["dynamic"] = "bound";
    if (t.shape_dynamism == ShapeDynamism::kDynamicUnbound) out["dynamic"] = "unbound";
    if (t.storage_offset != 0) out["storage_offset"] = t.storage_offset;
    if (t.requires_grad) out["requires_grad"] = true;
    if (t.layout != 0) out["layout"] = t.layout;
    if (!t.extra) return out;
    out["mutable_segment"] = t.extra->mutable_segment;
    if (t.extra->fully_qualified_name) out["name"] = *t.extra->fully_qualified_name;
    out["device_type"] = t.extra->device.type;
    out["device_index"] = t.extra->device.index;
    return out;
  }

  static ordered_json chain(const ExecutionPlan& plan, const Chain& chain) {
    ordered_json out = {{"inputs", chain.inputs}, {"outputs", chain.outputs}};
    out["instructions"] = ordered_json::array();
    for (const Instruction& x : chain.instructions) {
      out["instructions"].push_back(
          std::visit([&](const auto& call) { return json(plan, call); }, x));
    }
    for (const std::vector<Frame>& frames : chain.stacktrace) {
      ordered_json list = ordered_json::array();
      for (const Frame& f : frames) {
        list.push_back(
            {{"file", f.filename}, {"line", f.line}, {"name", f.name}, {"context", f.context}});
      }
      out["stacktrace"].push_back(std::move(list));
    }
    return out;
  }

  static ordered_json json(const ExecutionPlan& plan, const KernelCall& x) {
    const Operator& op = plan.operators[static_cast<size_t>(x.op_index)];
    return {{"kind", "call"}, {"operator", full_name(op)}, {"args", x.args}};
  }
  static ordered_json json(const ExecutionPlan& plan, const DelegateCall& x) {
    return {{"kind", "delegate"},
            {"delegate", x.delegate_index},
            {"id", plan.delegates[static_cast<size_t>(x.delegate_index)].id},
            {"args", x.args}};
  }
  static ordered_json json(const ExecutionPlan&, const MoveCall& x) {
    return {{"kind", "move"}, {"from", x.from}, {"to", x.to}};
  }
  static ordered_json json(const ExecutionPlan&, const JumpFalseCall& x) {
    return {{"kind", "jump_false"}, {"condition", x.condition}, {"destination", x.destination}};
  }
  static ordered_json json(const ExecutionPlan&, const FreeCall& x) {
    return {{"kind", "free"}, {"value", x.value}};
  }

  PrintOptions options_;
};

}  // namespace

std::string print_json(const Program& program, const PrintOptions& options) {
  // Strings of a hostile file may be invalid UTF-8; the JSON output is valid UTF-8.
  return JsonPrinter(options).run(program).dump(2, ' ', false,
                                                ordered_json::error_handler_t::replace);
}

}  // namespace thimble::formats::pte
