// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "driver/linked_report.h"
#include "driver/report.h"
#include "ir/dtype_text.h"

namespace thimble::driver {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::vector<IoReport>& ports) {
  Json list = Json::array();
  for (const IoReport& port : ports) {
    list.push_back({{"name", port.name},
                    {"dtype", ir::dtype_text(port.type.dtype)},
                    {"shape", port.type.shape}});
    const bool codes = port.type.quant.has_value();
    if (!codes || !port.type.quant) continue;
    list.back()["scale"] = port.type.quant->scale[0];
    list.back()["zero_point"] = port.type.quant->zero_point[0];
  }
  return list;
}

Json source_ops(const CompileReport& report) {
  Json list = Json::array();
  for (const SourceOpReport& op : report.source_ops) {
    Json kernels = Json::array();
    for (const size_t call : op.calls) kernels.push_back(report.ops[call].op);
    list.push_back({{"node", op.source.node},
                    {"op", op.source.target},
                    {"source", op.source.where()},
                    {"source_text", op.source.text},
                    {"module", op.source.module},
                    {"engine", op.engine.empty() ? Json(nullptr) : Json(op.engine)},
                    {"calls", op.calls},
                    {"kernels", kernels},
                    {"bytes_out", op.bytes_out},
                    {"constant_bytes", op.constant_bytes},
                    {"macs", op.macs},
                    {"instructions", op.instructions ? Json(*op.instructions) : Json(nullptr)},
                    {"reason", op.reason}});
  }
  return list;
}

Json to_json(const std::vector<quant::WidthNote>& notes) {
  Json json = Json::array();
  for (const quant::WidthNote& note : notes) {
    json.push_back({{"name", note.name},
                    {"source", note.source.where()},
                    {"source_text", note.source.text},
                    {"reason", note.reason}});
  }
  return json;
}

Json to_json(const std::vector<quant::Trial>& trials) {
  Json list = Json::array();
  for (const quant::Trial& trial : trials) {
    list.push_back({{"tool", trial.tool},
                    {"where", trial.where},
                    {"before_db", trial.before_db},
                    {"after_db", trial.after_db},
                    {"kept", trial.kept}});
  }
  return list;
}

Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json to_json(const engine::CostTerms& terms) {
  return {
#define THIMBLE_COST_TERM(name) {#name, terms.name},
#include "engine/cost_terms.def"
#undef THIMBLE_COST_TERM
  };
}

/// By form; forms without calls are left out.
Json to_json(const engine::RuntimeWork& work) {
  Json json = Json::object();
  for (size_t form = 0; form < engine::kCallForms; ++form) {
    const engine::RuntimeTerms& terms = work.forms[form];
    if (terms.runs == 0 && terms.calls == 0) continue;
    json[engine::kCallFormNames[form]] = {
#define THIMBLE_RUNTIME_TERM(name) {#name, terms.name},
#include "engine/runtime_terms.def"
#undef THIMBLE_RUNTIME_TERM
    };
  }
  return json;
}

Json to_json(const std::vector<OverlapReport>& overlaps) {
  Json list = Json::array();
  for (const OverlapReport& overlap : overlaps) {
    list.push_back(
        {{"engine", overlap.engine},
         {"delegate", overlap.delegate},
         {"calls", overlap.calls},
         {"npu_cycles", overlap.npu_cycles ? Json(*overlap.npu_cycles) : Json(nullptr)},
         {"core_cycles", overlap.core_cycles},
         {"saved_cycles", overlap.saved_cycles ? Json(*overlap.saved_cycles) : Json(nullptr)},
         {"saved_us", overlap.saved_us ? Json(*overlap.saved_us) : Json(nullptr)}});
  }
  return list;
}

Json ops(const CompileReport& report) {
  Json rows = Json::array();
  for (const OpReport& op : report.ops) {
    rows.push_back({{"name", op.name},
                    {"op", op.op},
                    {"types", op.types},
                    {"engine", op.engine},
                    {"node", op.source.node},
                    {"source", op.source.where()},
                    {"source_text", op.source.text},
                    {"module", op.source.module},
                    {"macs", op.macs},
                    {"terms", to_json(op.terms)},
                    {"elements_out", op.elements_out},
                    {"bytes_out", op.bytes_out},
                    {"constant_bytes", op.constant_bytes},
                    {"arena_live_bytes", op.live_bytes},
                    {"instructions", op.instructions ? Json(*op.instructions) : Json(nullptr)},
                    {"cycles", op.cycles ? Json(*op.cycles) : Json(nullptr)},
                    {"cycles_measured", op.has_measured_cycles()},
                    {"cycle_basis", engine::cycle_basis_name(op.cycle_basis)},
                    {"time_us", op.time_us ? Json(*op.time_us) : Json(nullptr)},
                    {"reason", op.reason}});
  }
  return rows;
}

std::map<std::string, int64_t> engine_counts(const CompileReport& report) {
  std::map<std::string, int64_t> counts;
  for (const OpReport& op : report.ops) counts[op.engine] += 1;
  return counts;
}

Json to_json(const ObjectPlacement& placement) {
  Json list = Json::array();
  for (const PlacedObject& object : placement.objects) {
    list.push_back({{"name", object.name},
                    {"contents", engine::contents_name(object.contents)},
                    {"of", object.of},
                    {"bytes", object.bytes},
                    {"accessed_bytes", object.accessed_bytes},
                    {"memory", object.memory},
                    {"image", object.image.empty() ? Json(nullptr) : Json(object.image)},
                    {"reason", object.reason}});
  }
  return list;
}

}  // namespace

std::string json_report(const CompileReport& report) {
  Json json;
  json["target"] = report.target;
  json["optimize"] = engine::optimize_name(report.optimize);
  json["compile_seconds"] = report.compile_seconds;
  json["calibrate_seconds"] = report.calibrate_seconds;
  json["pte_bytes"] = report.pte_bytes;
  json["weights_bytes"] = report.weights_bytes;
  json["arena_bytes"] = report.arena_bytes;
  json["arena_lower_bound_bytes"] = report.arena_lower_bound_bytes;
  json["kept_bytes"] = report.kept_bytes;
  json["state_bytes"] = report.state_bytes;
  json.update(linked_json(report));
  json["input_bytes"] = report.input_bytes;
  json["inputs_in_arena"] = report.inputs_in_arena;
  json["memories"] = Json::array();
  for (const MemoryUse& memory : report.memories) {
    json["memories"].push_back(
        {{"name", memory.name},
         {"bytes_used", memory.bytes_used},
         {"bytes_size", memory.bytes_size == 0 ? Json(nullptr) : Json(memory.bytes_size)}});
  }
  if (report.placement) {
    json["placement"] = {{"objects", to_json(*report.placement)},
                         {"cycles", report.placement->cycles},
                         {"cycles_at_least", report.placement->cycles_at_least},
                         {"proven", report.placement->proven}};
  }
  if (report.kernel_code) {
    const std::optional<int64_t>& saved = report.kernel_code->cycles_saved;
    json["kernel_code"] = {{"memory", report.kernel_code->memory},
                           {"bytes", report.kernel_code->bytes},
                           {"cycles_saved", saved ? Json(*saved) : Json(nullptr)}};
  }
  json["ops"] = ops(report);
  json["source_ops"] = source_ops(report);
  json["engines"] = engine_counts(report);
  json["sram_constant_bytes"] = report.sram_constant_bytes;
  json["dram_constant_bytes"] = report.dram_constant_bytes;
  json["float_ops"] = report.float_ops;
  json["arena"] = Json::array();
  for (const Buffer& buffer : report.buffers) {
    json["arena"].push_back({{"name", buffer.name},
                             {"offset", buffer.offset},
                             {"bytes", buffer.bytes},
                             {"first_op", buffer.first},
                             {"last_op", buffer.last}});
  }
  json["fallbacks"] = Json::array();
  for (const Fallback& fallback : report.fallbacks) {
    json["fallbacks"].push_back({{"op", fallback.op}, {"reason", fallback.reason}});
  }
  json["pareto"] = Json::array();
  for (const engine::ParetoPoint& point : report.pareto) {
    json["pareto"].push_back({{"sram_bytes", point.sram_bytes}, {"cycles", point.cycles}});
  }
  json["sram_choice"] = nullptr;
  if (report.sram_choice) {
    const auto point = [](const engine::ParetoPoint& from) {
      return Json{{"sram_bytes", from.sram_bytes}, {"cycles", from.cycles}};
    };
    json["sram_choice"] = {{"rule", report.sram_choice->rule},
                           {"chosen", point(report.sram_choice->chosen)},
                           {"smallest", point(report.sram_choice->smallest)},
                           {"fastest", point(report.sram_choice->fastest)}};
  }
  json["npu_cycles"] = report.npu_cycles ? Json(*report.npu_cycles) : Json(nullptr);
  json["npu_calls"] = report.npu_calls;
  json["overlaps"] = to_json(report.overlaps);
  json["overlap_arena_bytes"] = report.overlap_arena_bytes;
  json["npus"] = Json::array();
  for (const NpuUse& npu : report.npus) {
    json["npus"].push_back({{"engine", npu.engine},
                            {"cycles", npu.cycles ? Json(*npu.cycles) : Json(nullptr)},
                            {"time_us", npu.time_us ? Json(*npu.time_us) : Json(nullptr)}});
  }
  json["cycles"] = report.cycles ? Json(*report.cycles) : Json(nullptr);
  json["clock_mhz"] = report.clock_mhz > 0 ? Json(report.clock_mhz) : Json(nullptr);
  json["runtime_cycles"] = report.runtime_cycles ? Json(*report.runtime_cycles) : Json(nullptr);
  json["runtime_terms"] = Json::object();
  if (report.runtime_work) json["runtime_terms"] = to_json(*report.runtime_work);
  json["time_us"] = report.time_us ? Json(*report.time_us) : Json(nullptr);
  json["time_error_percent"] =
      report.time_error_percent > 0 ? Json(report.time_error_percent) : Json(nullptr);
  json["memories_without_waits"] = report.memories_without_waits;
  json["energy_uj"] = report.energy_uj ? Json(*report.energy_uj) : Json(nullptr);
  if (!report.refusal.empty()) json["refusal"] = report.refusal;
  json["notes"] = report.notes;
  json["warnings"] = report.warnings;
  json["files"] = Json::array();
  for (const WrittenFile& file : report.files) {
    json["files"].push_back({{"path", file.path}, {"bytes", file.bytes}});
  }
  json["parameters"] = report.parameters;
  json["inputs"] = to_json(report.inputs);
  json["outputs"] = to_json(report.outputs);
  json["sqnr_db"] = Json::array();
  json["sqnr_samples"] = report.quant.quality_samples;
  json["output_agreement"] = Json::array();
  for (size_t i = 0; i < report.quant.output_sqnr_db.size(); ++i) {
    const std::optional<double>& agreement = report.quant.output_agreement[i];
    json["sqnr_db"].push_back(agreement ? Json(nullptr) : finite(report.quant.output_sqnr_db[i]));
    json["output_agreement"].push_back(agreement ? Json(*agreement) : Json(nullptr));
  }
  json["kept_int8"] = to_json(report.quant.kept_int8);
  if (report.quant.int4_ops > 0 || !report.quant.kept_int8_weights.empty()) {
    json["int4_weights"] = {
        {"ops", report.quant.int4_ops},
        {"grouped_ops", report.quant.int4_grouped_ops},
        {"bytes", report.quant.int4_bytes},
        {"as_int8_bytes", report.quant.int4_as_int8_bytes},
        {"as_int8_cycles", report.int8_cycles ? Json(*report.int8_cycles) : Json()},
        {"kept_int8", to_json(report.quant.kept_int8_weights)}};
  }
  if (report.quant.int4_choice) {
    const quant::Int4Choice& choice = *report.quant.int4_choice;
    Json& entry = json["int4_choice"];
    entry = {{"flash_allowed", choice.limit_bytes},
             {"flash_int8", choice.int8_bytes},
             {"flash", choice.bytes},
             {"sqnr_db_int8", Json::array()},
             {"candidates", choice.candidates},
             {"ops", Json::array()}};
    for (const double db : choice.int8_sqnr_db) entry["sqnr_db_int8"].push_back(finite(db));
    for (const quant::Int4Candidate& op : choice.chosen) {
      entry["ops"].push_back({{"name", op.integer},
                              {"source", op.source.where()},
                              {"bytes_saved", op.weights / 2},
                              {"sqnr_db", finite(op.sqnr_db)}});
    }
  }
  if (report.quant.goal) {
    const quant::GoalReport& goal = *report.quant.goal;
    json["accuracy"] = {{"metric", quant::metric_name(goal.metric)},
                        {"asked", goal.least},
                        {"before", goal.narrow},
                        {"reached", goal.reached},
                        {"promoted", to_json(goal.promoted)}};
  }
  if (report.accuracy_warning) {
    const AccuracyWarning& warning = *report.accuracy_warning;
    json["accuracy_warning"] = {{"sqnr_db", warning.sqnr_db},
                                {"output", warning.output},
                                {"operator", warning.op},
                                {"source", warning.source.where()},
                                {"option", warning.option}};
    Json& tried = json["accuracy_warning"]["tried"] = Json::array();
    for (const quant::TriedOption& option : report.quant.tried_options) {
      tried.push_back({{"option", option.text},
                       {"sqnr_db", option.sqnr_db},
                       {"weights_bytes", option.weight_bytes}});
    }
    if (!warning.option.empty()) {
      json["accuracy_warning"]["option_sqnr_db"] = warning.option_sqnr_db;
    }
  }
  if (const auto& rounding = report.quant.rounding) {
    json["rounding"] = {{"operators", rounding->operators},
                        {"biases", rounding->biases},
                        {"samples", rounding->samples},
                        {"before_db", rounding->before_db},
                        {"after_db", rounding->after_db}};
  }
  if (const auto& choice = report.quant.observer_choice) {
    json["observer_choice"] = {{"observer", quant::observer_name(choice->observer)},
                               {"before_db", choice->before_db},
                               {"after_db", choice->after_db}};
  }
  if (!report.quant.trials.empty()) json["trials"] = to_json(report.quant.trials);
  // A name of the model may have bytes that are no UTF-8.
  return json.dump(2, ' ', false, decltype(json)::error_handler_t::replace) + "\n";
}

}  // namespace thimble::driver
