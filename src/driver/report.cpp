// SPDX-License-Identifier: Apache-2.0
#include "driver/report.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "driver/linked_report.h"
#include "driver/output_quality.h"
#include "ir/dtype_text.h"

namespace thimble::driver {
namespace {

int64_t total_macs(const CompileReport& report) {
  int64_t macs = 0;
  for (const OpReport& op : report.ops) macs += op.macs;
  return macs;
}

std::string join(const std::vector<IoReport>& ports) {
  std::string text;
  for (const IoReport& port : ports) {
    text += (text.empty() ? "" : ", ") + port.name + " " +
            std::string(ir::dtype_text(port.type.dtype)) + ir::list_text(port.type.shape);
    const bool codes = port.type.quant.has_value();
    if (!codes || !port.type.quant) continue;
    text += fmt::format(" scale {} zero point {}", port.type.quant->scale[0],
                        port.type.quant->zero_point[0]);
  }
  return text;
}

std::string quality_line(const CompileReport& report) {
  if (report.keeps_float) {
    return fmt::format("float32        {} operators, not quantized\n", report.float_ops);
  }
  const quant::QuantReport& quant = report.quant;
  std::string width = "int8";
  if (quant.wide_ops > 1) width += fmt::format(", {} operators in int16", quant.wide_ops);
  if (report.float_ops > 0) width += fmt::format(", {} operators in float32", report.float_ops);
  if (quant.samples == 0) return fmt::format("quantized      {}, as in the .pt2\n", width);
  std::string line = fmt::format("quantized      {}, {} samples", width, quant.samples);
  if (!quant.output_agreement.empty() && quant.output_agreement[0]) {
    line += fmt::format("; {:.1f} % of the values of {} equal those in float",
                        100 * *quant.output_agreement[0], report.outputs[0].name);
  }
  if (is_constant_output(quant, 0)) {
    return line + "; the output never varies over them: check the calibration data\n";
  }
  const std::optional<double> sqnr_db = output_sqnr_db(quant, 0);
  if (sqnr_db) line += fmt::format("; SQNR{} {:.1f} dB", of_first_samples(quant), *sqnr_db);
  if (is_not_finite_output(quant, 0)) line += "; the output is not finite";
  if (is_exact_output(quant, 0)) line += "; the output equals that in float";
  if (quant.weakest) {
    const quant::OpQuality& op = quant.ops[*quant.weakest];
    line += fmt::format("; weakest op: {:.1f} dB  {}  {}", op.sqnr_db, op.source.target,
                        op.source.where());
  }
  return line + "\n";
}

/// Returns the optimization goal, if it is not the default.
std::string optimize_line(const CompileReport& report) {
  if (report.optimize == engine::Optimize::kSpeed) return "";
  return fmt::format("optimized      for {}\n", engine::optimize_name(report.optimize));
}

/// Returns a line for each note. Notes with the same text, such as those of a loop over layers,
/// have one line with their number.
std::string note_lines(const std::vector<quant::WidthNote>& notes) {
  std::vector<std::pair<std::string, int>> lines;
  for (const quant::WidthNote& note : notes) {
    std::string line =
        fmt::format("  {:<14} {}   {}", note.source.where(), note.source.text, note.reason);
    const auto same = std::ranges::find(lines, line, &std::pair<std::string, int>::first);
    if (same == lines.end()) {
      lines.emplace_back(std::move(line), 1);
    } else {
      ++same->second;
    }
  }
  std::string text;
  for (const auto& [line, count] : lines) {
    text += line + (count == 1 ? "\n" : fmt::format(" ({} operators)\n", count));
  }
  return text;
}

/// Returns lines on the choice of 16-bit operators, if there was any.
std::string width_lines(const quant::QuantReport& quant) {
  std::string text;
  if (quant.goal) {
    const quant::GoalReport& goal = *quant.goal;
    text += fmt::format("accuracy       {} {:.4g} before", quant::metric_name(goal.metric),
                        goal.narrow);
    if (goal.promoted.empty()) {
      if (goal.rounded) text += fmt::format(", {:.4g} with rounded weights", goal.reached);
      text += fmt::format(", {:.4g} required\n", goal.least);
    } else {
      text +=
          fmt::format(", {:.4g} with {} operators in int16 ({:.4g} with all), {:.4g} required\n",
                      goal.reached, goal.promoted.size(), goal.wide, goal.least);
    }
    text += note_lines(goal.promoted);
  }
  return text + note_lines(quant.kept_int8);
}

/// Returns lines on the choice of --weights auto.
std::string int4_choice_lines(const quant::QuantReport& quant) {
  const quant::Int4Choice& choice = *quant.int4_choice;
  std::string text = fmt::format("flash          {} B allowed, {} B with int8 weights",
                                 with_commas(choice.limit_bytes), with_commas(choice.int8_bytes));
  if (choice.chosen.empty()) return text + '\n';
  text += fmt::format(", {} B with int4 in {} of {} operators", with_commas(choice.bytes),
                      choice.chosen.size(), choice.candidates);
  for (size_t i = 0; i < choice.int8_sqnr_db.size() && i < quant.output_sqnr_db.size(); ++i) {
    text +=
        fmt::format("; SQNR {:.1f} -> {:.1f} dB", choice.int8_sqnr_db[i], quant.output_sqnr_db[i]);
  }
  text += '\n';
  for (const quant::Int4Candidate& op : choice.chosen) {
    text += fmt::format("  {:<14} {}   {}   int4: saves {} B; {:.1f} dB if it alone has 4 bits\n",
                        op.source.where(), op.source.text, op.output, with_commas(op.weights / 2),
                        op.sqnr_db);
  }
  return text;
}

/// Returns lines on weights of 4 bits, if they were requested.
std::string int4_lines(const CompileReport& report) {
  const quant::QuantReport& quant = report.quant;
  std::string text;
  if (quant.int4_ops > 0) {
    const std::string grouped =
        quant.int4_grouped_ops == 0
            ? ""
            : fmt::format(", {} with a factor for each 32 inputs", quant.int4_grouped_ops);
    text += fmt::format("int4 weights   {} operators{}: {} B with scales, {} B with int8 weights\n",
                        quant.int4_ops, grouped, with_commas(quant.int4_bytes),
                        with_commas(quant.int4_as_int8_bytes));
  }
  if (report.int8_cycles && report.cycles && *report.int8_cycles > 0) {
    text +=
        fmt::format("               {:.2f} times the estimated cycles of int8 weights\n",
                    static_cast<double>(*report.cycles) / static_cast<double>(*report.int8_cycles));
  }
  if (quant.int4_choice) text += int4_choice_lines(quant);
  return text + note_lines(quant.kept_int8_weights);
}

/// Returns `tuned          24.9 -> 26.1 dB on samples held back: equalize (all layers) +0.8; ...`
std::string tuning_lines(const quant::QuantReport& quant) {
  if (quant.trials.empty()) return "";
  std::string kept;
  double last_db = quant.trials.front().before_db;
  for (const quant::Trial& trial : quant.trials) {
    if (!trial.kept) continue;
    kept += fmt::format("\n               kept {} ({}): {:+.2f} dB", trial.tool, trial.where,
                        trial.after_db - trial.before_db);
    last_db = trial.after_db;
  }
  if (kept.empty()) kept = "; no improvement";
  return fmt::format("tuned          {} trials, {:.1f} -> {:.1f} dB on samples held back{}\n",
                     quant.trials.size(), quant.trials.front().before_db, last_db, kept);
}

/// Returns lines on choices that --effort 0 does not make, if there were any.
std::string effort_lines(const quant::QuantReport& quant) {
  std::string text;
  if (const auto& choice = quant.observer_choice) {
    text +=
        fmt::format("observer       {}: {:.1f} -> {:.1f} dB on samples held back\n",
                    quant::observer_name(choice->observer), choice->before_db, choice->after_db);
  }
  if (const auto& rounding = quant.rounding) {
    text += fmt::format(
        "rounding       weights of {} operators, biases of {}: {:.1f} -> {:.1f} dB on {} samples "
        "held back\n",
        rounding->operators, rounding->biases, rounding->before_db, rounding->after_db,
        rounding->samples);
  }
  return text;
}

/// States if inputs are part of the arena; otherwise the application needs additional memory.
std::string inputs_detail(const CompileReport& report) {
  return fmt::format("inputs ({}) {}", with_commas(report.input_bytes),
                     report.inputs_in_arena ? "in it" : "not in it");
}

/// Returns "arena, 9 constants, 70,000 B".
std::string placed_detail(const ObjectPlacement& placement, std::string_view memory) {
  std::string text;
  int64_t arrays = 0, bytes = 0, loaded = 0;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  for (const PlacedObject& object : placement.objects) {
    if (object.image == memory) loaded += object.bytes;
    if (object.memory != memory) continue;
    if (!object.name.starts_with("constant_")) {
      add(object.name);
    } else {
      ++arrays;
      bytes += object.bytes;
    }
  }
  if (arrays > 0) add(fmt::format("{} constants, {} B", arrays, with_commas(bytes)));
  if (loaded > 0) add(fmt::format("{} B loaded at startup", with_commas(loaded)));
  if (placement.code_memory == memory) {
    add(fmt::format("code {} B", with_commas(placement.code_bytes)));
  }
  if (placement.stack_memory == memory) {
    add(fmt::format("variables and stack {} B", with_commas(placement.stack_bytes)));
  }
  return text;
}

std::string placement_lines(const ObjectPlacement& placement) {
  constexpr std::string_view kRow = "  {:<16} {:>13} {:>17}   {:<8} {}\n";
  std::string text = "\n" + fmt::format(kRow, "object", "bytes", "accessed bytes", "memory", "why");
  for (const PlacedObject& object : placement.objects) {
    const std::string of = object.of.empty() ? "" : fmt::format(" ({})", object.of);
    text += fmt::format(kRow, object.name, with_commas(object.bytes),
                        with_commas(object.accessed_bytes), object.memory, object.reason + of);
  }
  const double gap = 100.0 * static_cast<double>(placement.cycles - placement.cycles_at_least) /
                     static_cast<double>(std::max<int64_t>(placement.cycles_at_least, 1));
  return text + fmt::format("  {} cycles for accesses, an estimate; {}\n",
                            with_commas(placement.cycles),
                            placement.proven ? "proven minimal"
                                             : fmt::format("at most {:.2f} % above minimal", gap));
}

/// Describes the kernels' code in a memory of data; empty for all other memories.
std::string kernel_code_detail(const CompileReport& report, std::string_view memory) {
  if (!report.kernel_code || memory != report.kernel_code->memory) return "";
  return fmt::format("code of kernels {} (loaded from flash)",
                     with_commas(report.kernel_code->bytes));
}

/// Describes the content of a memory. The arena is in SRAM, or in DRAM if the SRAM is the NPU's
/// fast scratch.
std::string memory_detail(const CompileReport& report, std::string_view memory) {
  if (memory == "flash") return flash_detail(report);
  const bool dedicated = report.dedicated_sram;
  if (dedicated && memory == "sram") return "fast scratch of the NPU";
  if (!dedicated && memory == "dram") return "not used";
  const int64_t gap = report.arena_bytes - report.arena_lower_bound_bytes;
  const std::string kept = report.kept_bytes == 0 ? ""
                                                  : fmt::format(" ({} kept between runs)",
                                                                with_commas(report.kept_bytes));
  const int64_t constant_bytes =
      dedicated ? report.dram_constant_bytes : report.sram_constant_bytes;
  const std::string constants = constant_bytes == 0
                                    ? ""
                                    : fmt::format("constants of the NPU {} (loaded from flash), ",
                                                  with_commas(constant_bytes));
  std::string code = kernel_code_detail(report, memory);
  if (!code.empty()) code += ", ";
  return fmt::format(
      "{}{}arena {}{}{}, {}; {}", code, constants, with_commas(report.arena_bytes), kept,
      other_ram_detail(report), inputs_detail(report),
      gap == 0 ? "proven minimal" : fmt::format("at most {} B above minimal", with_commas(gap)));
}

bool is_npu(const CompileReport& report, const std::string& engine) {
  return std::ranges::find(report.npus, engine, &NpuUse::engine) != report.npus.end();
}

/// States the calls of the core that run while an NPU works, and the time that this saves.
std::string overlap_lines(const CompileReport& report) {
  std::string text;
  for (const OverlapReport& overlap : report.overlaps) {
    text += fmt::format("  {} call{} while {} works: {} cycles of the core, {} of the NPU",
                        overlap.calls, overlap.calls == 1 ? "" : "s", overlap.engine,
                        with_commas(overlap.core_cycles),
                        overlap.npu_cycles ? with_commas(*overlap.npu_cycles) : "?");
    if (overlap.saved_us) {
      text += fmt::format("; saves {}", time_text(*overlap.saved_us));
    } else if (overlap.saved_cycles) {
      text += fmt::format("; saves {} cycles if both have one clock",
                          with_commas(*overlap.saved_cycles));
    }
    text += "\n";
  }
  if (report.overlap_arena_bytes > 0) {
    text += fmt::format(
        "  the arena is {} B larger because of these calls (not with --optimize size)\n",
        with_commas(report.overlap_arena_bytes));
  }
  return text;
}

/// One line per engine with its share of the work, then the sum of the times.
std::string engine_lines(const CompileReport& report, int64_t macs) {
  struct Use {
    int64_t ops = 0, macs = 0, cycles = 0;
    double time_us = 0;
    bool cycles_known = true, time_known = true;
  };
  std::map<std::string, Use> engines;
  for (const OpReport& op : report.ops) {
    Use& use = engines[op.engine];
    use.ops += 1;
    use.macs += op.macs;
    if (is_npu(report, op.engine)) continue;
    use.cycles += op.cycles.value_or(0);
    use.time_us += op.time_us.value_or(0);
    use.cycles_known = use.cycles_known && op.cycles.has_value();
    use.time_known = use.time_known && op.time_us.has_value();
  }
  for (const NpuUse& npu : report.npus) {
    Use& use = engines[npu.engine];
    use.cycles = npu.cycles.value_or(0);
    use.time_us = npu.time_us.value_or(0);
    use.cycles_known = npu.cycles.has_value();
    use.time_known = npu.time_us.has_value();
  }
  std::string text = fmt::format("\n  {:<18} {:>4} {:>9} {:>15} {:>11}\n", "engine", "ops", "MACs",
                                 "cycles", "time");
  for (const auto& [engine, use] : engines) {
    const double share =
        macs == 0 ? 0.0 : 100.0 * static_cast<double>(use.macs) / static_cast<double>(macs);
    text += fmt::format("  {:<18} {:>4} {:>7.1f} % {:>15} {:>11}\n", engine, use.ops, share,
                        use.cycles_known ? with_commas(use.cycles) : "",
                        use.time_known ? time_text(use.time_us) : "");
  }
  if (report.runtime_cycles) {
    const std::string time =
        report.clock_mhz > 0
            ? time_text(static_cast<double>(*report.runtime_cycles) / report.clock_mhz)
            : "";
    text += fmt::format("  {:<18} {:>4} {:>9} {:>15} {:>11}\n", "runtime", "", "",
                        with_commas(*report.runtime_cycles), time);
  }
  text += overlap_lines(report);
  if (!report.time_us) {
    return report.npu_cycles ? text + "  cycles: an estimate, of the NPU on its own clock\n" : text;
  }
  text += fmt::format(
      "  {} for one run, an estimate{}", time_text(*report.time_us),
      report.time_error_percent > 0 ? fmt::format(", +-{:.0f} %", report.time_error_percent) : "");
  if (report.clock_mhz > 0) text += fmt::format("; core at {:g} MHz", report.clock_mhz);
  if (report.npu_calls > 0) {
    text +=
        fmt::format("; {} call{} of the NPU", report.npu_calls, report.npu_calls == 1 ? "" : "s");
  }
  if (report.energy_uj) text += fmt::format("; {:.3g} uJ of the core", *report.energy_uj);
  return text + "\n";
}

/// Lists the files other than the `.pte`. A folder of device sources has many: the first ones are
/// the model's.
std::string file_lines(const CompileReport& report, const std::filesystem::path& pte) {
  constexpr size_t kListed = 12;
  std::string text;
  size_t count = 0;
  int64_t others = 0;
  for (const WrittenFile& file : report.files) {
    if (file.path == pte.string()) continue;
    if (++count > kListed) {
      others += file.bytes;
    } else {
      text += fmt::format("{:<14} {} {:>13} B\n", count == 1 ? "files" : "",
                          fmt::format("{:<50}", file.path), with_commas(file.bytes));
    }
  }
  if (count <= kListed) return text;
  return text + fmt::format("{:<14} {} {:>13} B\n", "",
                            fmt::format("{:<50}", fmt::format("and {} more", count - kListed)),
                            with_commas(others));
}

}  // namespace

std::string wrapped(const std::string& prefix, const std::string& text) {
  constexpr size_t kColumns = 100;
  std::string lines, line = prefix;
  bool is_empty = true;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(' ', begin), text.size());
    // A number and its unit stay in one line.
    if (text.substr(end, 2) == " B") end = std::min(text.find(' ', end + 1), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!is_empty && line.size() + 1 + word.size() > kColumns) {
      lines += line + "\n";
      line = std::string(prefix.size(), ' ');
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + word;
    is_empty = false;
    begin = end + 1;
  }
  return lines + line + "\n";
}

std::string time_text(double time_us) {
  if (time_us < 1000) return fmt::format("{:.1f} us", time_us);
  return time_us < 1e5 ? fmt::format("{:.2f} ms", time_us / 1e3)
                       : fmt::format("{:.0f} ms", time_us / 1e3);
}

namespace {

/// States the SRAM of the NPU's schedule, the rule that selected it, and what less and more SRAM
/// change.
std::string choice_lines(const engine::SramChoice& choice) {
  const auto other = [&](std::string_view name, const engine::ParetoPoint& point) {
    if (choice.chosen.cycles == 0 || point.sram_bytes == choice.chosen.sram_bytes) {
      return std::string();
    }
    const double ratio =
        static_cast<double>(point.cycles) / static_cast<double>(choice.chosen.cycles);
    return fmt::format("; {} {} B with {:.2f} times the cycles", name,
                       with_commas(point.sram_bytes), ratio);
  };
  const std::string smallest = other("smallest", choice.smallest);
  const std::string fastest = other("fastest", choice.fastest);
  if (smallest.empty() && fastest.empty()) return "";
  return wrapped(
      "  sram of the NPU: ",
      fmt::format("{} B, {}{}{} (--pareto lists schedules, --memory sram=BYTES limits)",
                  with_commas(choice.chosen.sram_bytes), choice.rule, smallest, fastest));
}

}  // namespace

std::string text_report(const CompileReport& report, const std::filesystem::path& output) {
  const int64_t macs = total_macs(report);
  std::string text = fmt::format("{:<14} {} parameters, {:.2f} MMAC, {} -> {}\n", report.model,
                                 with_commas(report.parameters), static_cast<double>(macs) / 1e6,
                                 join(report.inputs), join(report.outputs));
  for (const std::string& warning : report.warnings) text += fmt::format("warning: {}\n", warning);
  text += quality_line(report) + tuning_lines(report.quant) + effort_lines(report.quant) +
          width_lines(report.quant) + int4_lines(report);
  text += optimize_line(report);
  text += engine_lines(report, macs);
  for (const std::string& note : report.notes) text += fmt::format("  note: {}\n", note);
  if (report.sram_choice) text += choice_lines(*report.sram_choice);
  for (const engine::ParetoPoint& point : report.pareto) {
    text += fmt::format("  {:>13} B of SRAM: {:>15} cycles\n", with_commas(point.sram_bytes),
                        with_commas(point.cycles));
  }
  for (const Fallback& fallback : report.fallbacks) {
    text += fmt::format("  on the CPU: {:<20} {}\n", fallback.op, fallback.reason);
  }
  text += fmt::format("\n  {:<8} {:>15} {:>15}\n", "memory", "used", "of");
  for (const MemoryUse& memory : report.memories) {
    const std::string size = memory.bytes_size == 0 ? "" : with_commas(memory.bytes_size) + " B";
    const bool known = memory.name == "sram" || memory.name == "flash" || memory.name == "dram";
    const std::string detail = report.placement ? placed_detail(*report.placement, memory.name)
                               : known          ? memory_detail(report, memory.name)
                                                : "";
    text += wrapped(fmt::format("  {:<8} {:>13} B {:>15}   ", memory.name,
                                with_commas(memory.bytes_used), size),
                    detail.empty() ? kernel_code_detail(report, memory.name) : detail);
  }
  text += linked_line(report);
  if (report.placement) text += placement_lines(*report.placement);
  text += file_lines(report, output);
  if (!output.empty()) {
    text += fmt::format("{:<14} {} B   written in {:.2f} s\n", output.filename().string(),
                        with_commas(report.pte_bytes), report.compile_seconds);
  }
  return text;
}

std::string table_report(const CompileReport& report) {
  constexpr std::string_view kRow =
      "  {:<28} {:<14} {:<34} {:>10} {:>10} {:>12} {:>13} {:>12} {:>10}  {}\n";
  std::string text = "\n" + fmt::format(kRow, "operator", "engine", "kernel", "bytes out",
                                        "constants", "MACs", "instructions", "cycles", "arena", "");
  int64_t total = 0;
  std::set<size_t> shown;
  const auto add_call = [&](size_t index, std::string_view node) {
    const OpReport& op = report.ops[index];
    shown.insert(index);
    total += op.instructions.value_or(0);
    const std::string cycles =
        op.cycles ? (op.has_measured_cycles() ? "" : "~") + with_commas(*op.cycles) : "";
    text += fmt::format(kRow, node, op.engine, op.op, with_commas(op.bytes_out),
                        with_commas(op.constant_bytes), with_commas(op.macs),
                        op.instructions ? with_commas(*op.instructions) : "", cycles,
                        with_commas(op.live_bytes), op.reason);
  };
  std::string where;
  for (const SourceOpReport& op : report.source_ops) {
    const std::string line = fmt::format("{}  {}", op.source.where(), op.source.text);
    if (line != where) text += fmt::format("  -- {}\n", line);
    where = line;
    for (const size_t index : op.calls) {
      add_call(index, index == op.calls.front() ? op.source.node : "");
    }
    if (op.calls.empty()) {
      text += fmt::format("  {:<28} -  {}\n", op.source.node, op.reason);
    } else if (!op.reason.empty()) {
      text += fmt::format("  {:<28} {}\n", "", op.reason);
    }
  }
  for (size_t index = 0; index < report.ops.size(); ++index) {
    if (!shown.contains(index)) add_call(index, "(inserted by the compiler)");
  }
  text +=
      fmt::format("  instructions of the core per run: {}, an estimate from counts under QEMU\n",
                  with_commas(total));
  if (report.cycles) {
    text += fmt::format("  cycles of the core per run: {}, modelled from counted instructions{}\n",
                        with_commas(*report.cycles),
                        report.clock_mhz > 0 ? ", with wait states of constants" : "");
  }
  return text;
}

}  // namespace thimble::driver
