// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "abi/kernel_layout.h"
#include "base/sha256.h"
#include "driver/output_quality.h"
#include "driver/report.h"
#include "report/assets.h"
#include "report/report.h"
#include "report/report_data.h"
#include "report/text.h"

namespace thimble::report {
namespace {

using driver::with_commas;

/// Returns the hash of a script as a content policy states it (CSP level 2, section 4.2.5).
std::string policy_hash(std::string_view script) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string hex = sha256(as_byte_view(script));
  std::vector<uint32_t> bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint32_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](size_t k) { return i + k < bytes.size() ? bytes[i + k] : 0U; };
    const uint32_t group = at(0) << 16 | at(1) << 8 | at(2);
    for (size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
    }
  }
  return "sha256-" + text;
}

std::string tile(std::string_view title, std::string_view value, std::string_view detail) {
  return fmt::format("<div class=\"tile\"><h3>{}</h3><b>{}</b><span>{}</span></div>\n",
                     escape_html(title), escape_html(value), escape_html(detail));
}

std::string memory_tiles(const driver::CompileReport& report) {
  std::string html;
  for (const driver::MemoryUse& memory : report.memories) {
    const std::string used = with_commas(memory.bytes_used) + " B";
    if (memory.bytes_size == 0) {
      html += tile(memory.name, short_bytes(memory.bytes_used), used);
      continue;
    }
    const double percent =
        100.0 * static_cast<double>(memory.bytes_used) / static_cast<double>(memory.bytes_size);
    html += fmt::format(
        "<div class=\"tile\"><h3>{}</h3><b>{}</b><span>{} of {} B</span><span class=\"meter\" "
        "role=\"img\" aria-label=\"{:.0f} percent used\" style=\"--p:{}%\"></span></div>\n",
        escape_html(memory.name), short_bytes(memory.bytes_used), used,
        with_commas(memory.bytes_size), percent, coordinate(std::min(percent, 100.0)));
  }
  return html;
}

std::string summary(const ReportData& data) {
  const driver::CompileReport& report = data.report;
  std::string html = "<div class=\"tiles\">\n";
  if (report.time_us) {
    std::string detail = "per run, an estimate";
    if (report.time_error_percent > 0) {
      detail += fmt::format(" \xC2\xB1 {:.0f} %", report.time_error_percent);
    }
    if (report.clock_mhz > 0) detail += fmt::format(", at {:g} MHz", report.clock_mhz);
    html += tile("time", driver::time_text(*report.time_us), detail);
  }
  if (report.cycles) {
    html += tile("cycles", short_number(static_cast<double>(*report.cycles)),
                 with_commas(*report.cycles) + ", an estimate");
  }
  if (report.npu_cycles) {
    html += tile("NPU cycles", short_number(static_cast<double>(*report.npu_cycles)),
                 with_commas(*report.npu_cycles) + ", an estimate");
  }
  int64_t instructions = 0, macs = 0;
  for (const driver::OpReport& op : report.ops) {
    instructions += op.instructions.value_or(0);
    macs += op.macs;
  }
  if (instructions > 0 && !report.time_us && !report.cycles) {
    html += tile("core instructions", short_number(static_cast<double>(instructions)),
                 with_commas(instructions) + ", an estimate");
  }
  if (report.energy_uj) {
    html +=
        tile("energy", fmt::format("{:.3g} \xC2\xB5J", *report.energy_uj), "per run, an estimate");
  }
  html += memory_tiles(report);
  html += tile("MACs", short_number(static_cast<double>(macs)),
               with_commas(report.parameters) + " parameters");
  if (const auto sqnr_db = driver::output_sqnr_db(report.quant, 0)) {
    html += tile("SQNR", fmt::format("{:.1f} dB", *sqnr_db),
                 fmt::format("of the output, {} of {} samples", report.quant.quality_samples,
                             report.quant.samples));
  } else if (!report.quant.output_agreement.empty() && report.quant.output_agreement[0]) {
    html += tile("agreement", fmt::format("{:.1f} %", 100 * *report.quant.output_agreement[0]),
                 fmt::format("of the output's values with float, {} of {} samples",
                             report.quant.quality_samples, report.quant.samples));
  }
  return html + "</div>\n";
}

/// Operators, MACs and cost of each engine, as a bar of shares and as text.
std::string engine_legend(const ReportData& data) {
  std::vector<int64_t> ops(data.engines.size(), 0), macs(data.engines.size(), 0);
  std::vector<double> cost(data.engines.size(), 0);
  int64_t all_macs = 0;
  for (size_t row = 0; row < data.report.ops.size(); ++row) {
    const size_t engine = data.engine_of[row];
    ops[engine] += 1;
    macs[engine] += data.report.ops[row].macs;
    all_macs += data.report.ops[row].macs;
    cost[engine] += data.cost[row];
  }
  std::string html = "<ul class=\"legend\">\n";
  for (size_t i = 0; i < data.engines.size(); ++i) {
    if (ops[i] == 0) continue;
    html += fmt::format("<li><span class=\"dot e{}\"></span><b>{}</b> {} operators", data.color(i),
                        escape_html(data.engines[i]), ops[i]);
    if (all_macs > 0) {
      html += fmt::format(", {:.1f} % of the MACs",
                          100.0 * static_cast<double>(macs[i]) / static_cast<double>(all_macs));
    }
    if (data.cost_total > 0 && data.cost_unit == CostUnit::kTime) {
      html += fmt::format(", {:.1f} % of the time", 100 * cost[i] / data.cost_total);
    }
    html += "</li>\n";
  }
  return html + fmt::format("<li><span class=\"costkey\"></span>bar and percentage: {}</li></ul>\n",
                            cost_name(data.cost_unit));
}

/// Details before an operator is selected: the operators with the highest cost.
std::string costliest(const ReportData& data) {
  constexpr size_t kShown = 10;
  std::vector<size_t> rows;
  for (size_t row = 0; row < data.report.ops.size(); ++row) {
    if (data.cost[row] > 0) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, [&](size_t a, size_t b) { return data.cost[a] > data.cost[b]; });
  rows.resize(std::min(rows.size(), kShown));
  std::string html =
      "<p>Select an operator to see its kernel, its cost and its line of the model.</p>";
  if (rows.empty()) return html;
  html += "<h3>Costliest</h3><ol>\n";
  for (const size_t row : rows) {
    const size_t node = data.node_of_row[row];
    html += fmt::format(
        "<li><span class=\"dot e{}\"></span><a href=\"#n{}\" data-n=\"{}\">{}</a> {}{:.1f} "
        "%<br><small>{}</small></li>\n",
        data.color_of_row(row), node, node, escape_html(data.title(row)), data.cost_mark(row),
        100 * data.cost[row] / data.cost_total, escape_html(data.graph.nodes[node].name));
  }
  return html + "</ol>";
}

std::string graph_section(const ReportData& data) {
  return "<section id=\"graph-section\" aria-labelledby=\"h-graph\"><h2 id=\"h-graph\">Operators "
         "by "
         "engine</h2>\n" +
         engine_legend(data) + "<div class=\"graph\"><div class=\"stage\">" + graph_svg(data) +
         "<div class=\"zoom\"><button type=\"button\" data-zoom=\"in\" aria-label=\"zoom "
         "in\">+</button><button type=\"button\" data-zoom=\"out\" aria-label=\"zoom "
         "out\">\xE2\x88\x92</button><button type=\"button\" data-zoom=\"all\" aria-label=\"show "
         "all\">all</button></div></div>"
         "<aside id=\"details\" aria-live=\"polite\" aria-label=\"details of the selected "
         "operator\">" +
         costliest(data) +
         "</aside></div>\n"
         "<p class=\"hint\">Drag or arrow keys: pan. + and \xE2\x88\x92, or Ctrl and the wheel: "
         "zoom. "
         "0: show all. Enter: select. Comma and full stop: previous and next operator.</p>"
         "</section>\n";
}

std::string location(const ir::Source& source) {
  return fmt::format("{} <code>{}</code>", escape_html(source.where()), escape_html(source.text));
}

/// Explains the peak: the operator with its line, and the buffers that are live there.
std::string peak_text(const ReportData& data) {
  const driver::CompileReport& report = data.report;
  if (report.ops.empty()) return "";
  const auto row = static_cast<int>(data.peak_row);
  const driver::OpReport& op = report.ops[data.peak_row];
  std::string html = fmt::format(
      "<p>The peak of <b>{} B</b> is at operator {}, <a href=\"#n{}\" data-n=\"{}\">{}</a> on {}, "
      "{}. "
      "Live there:</p><ul class=\"live\">\n",
      with_commas(op.live_bytes), row + 1, data.node_of_row[data.peak_row],
      data.node_of_row[data.peak_row], escape_html(data.title(data.peak_row)),
      escape_html(op.engine), location(op.source));
  std::vector<const driver::Buffer*> live;
  for (const driver::Buffer& buffer : report.buffers) {
    if (buffer.first <= row && row <= buffer.last) live.push_back(&buffer);
  }
  std::ranges::stable_sort(live, [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  for (const driver::Buffer* buffer : live) {
    html +=
        fmt::format("<li>{} B <b>{}</b>, from operator {} to {}</li>\n", with_commas(buffer->bytes),
                    escape_html(data.buffer_name(*buffer)), buffer->first + 1,
                    std::min<size_t>(static_cast<size_t>(buffer->last) + 1, report.ops.size()));
  }
  html += "</ul>\n";
  if (op.live_bytes > report.arena_bytes) {
    html += fmt::format(
        "<p>Some of these buffers overlap, because the operator reads bytes before it overwrites "
        "them: {} B of the arena hold them.</p>\n",
        with_commas(report.arena_bytes));
  }
  return html;
}

std::string arena_section(const ReportData& data) {
  const driver::CompileReport& report = data.report;
  if (report.buffers.empty()) return "";
  const int64_t gap = report.arena_bytes - report.arena_lower_bound_bytes;
  std::string html = fmt::format(
      "<section aria-labelledby=\"h-arena\"><h2 id=\"h-arena\">Arena over time</h2>\n<p>{} B of "
      "memory for values and scratch; {}. {}</p>\n",
      with_commas(report.arena_bytes),
      gap == 0 ? "proven minimal" : fmt::format("at most {} B above minimal", with_commas(gap)),
      report.inputs_in_arena
          ? "Inputs are in it."
          : fmt::format("Inputs ({} B) are not in it.", with_commas(report.input_bytes)));
  return html + "<div class=\"scroll\">" + arena_svg(data) + "</div>" + peak_text(data) +
         "</section>\n";
}

std::string op_section(const ReportData& data) {
  return "<section aria-labelledby=\"h-ops\"><h2 id=\"h-ops\">Operators in execution order</h2>\n"
         "<div class=\"scroll\">" +
         op_table(data) + "</div></section>\n";
}

std::string memory_section(const driver::CompileReport& report) {
  std::string html =
      "<section aria-labelledby=\"h-memory\"><h2 id=\"h-memory\">Memories</h2>\n<table "
      "class=\"narrow\"><thead><tr>"
      "<th>memory</th><th class=\"num\">used, B</th><th class=\"num\">of, "
      "B</th></tr></thead><tbody>\n";
  for (const driver::MemoryUse& memory : report.memories) {
    html += fmt::format("<tr><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>\n",
                        escape_html(memory.name), with_commas(memory.bytes_used),
                        memory.bytes_size == 0 ? "" : with_commas(memory.bytes_size));
  }
  html += "</tbody></table>\n";
  if (report.placement) {
    html +=
        "<table><thead><tr><th>object</th><th class=\"num\">bytes</th><th class=\"num\">accessed "
        "bytes</th><th>memory</th><th>reason</th></tr></thead><tbody>\n";
    for (const driver::PlacedObject& object : report.placement->objects) {
      html += fmt::format(
          "<tr><td>{}</td><td class=\"num\">{}</td><td "
          "class=\"num\">{}</td><td>{}</td><td>{}</td></tr>\n",
          escape_html(object.name), with_commas(object.bytes), with_commas(object.accessed_bytes),
          escape_html(object.memory), escape_html(object.reason));
    }
    html += "</tbody></table>\n";
  }
  return html + "</section>\n";
}

std::string quality_section(const ReportData& data) {
  const quant::QuantReport& quant = data.report.quant;
  if (quant.ops.empty()) return "";
  std::string html =
      "<section aria-labelledby=\"h-quality\"><h2 id=\"h-quality\">Accuracy of each layer</h2>\n"
      "<p>SQNR of the integer value against the float value of the same layer, on calibration "
      "samples. 6 dB is one bit.</p><div class=\"scroll\">" +
      quality_svg(data) + "</div>\n";
  if (quant.weakest) {
    const quant::OpQuality& op = quant.ops[*quant.weakest];
    html += fmt::format("<p>Weakest: <b>{:.1f} dB</b>, {}, {}</p>\n", op.sqnr_db,
                        escape_html(op.source.target), location(op.source));
  }
  std::vector<quant::WidthNote> notes = quant.kept_int8;
  notes.insert(notes.end(), quant.kept_int8_weights.begin(), quant.kept_int8_weights.end());
  if (quant.goal)
    notes.insert(notes.end(), quant.goal->promoted.begin(), quant.goal->promoted.end());
  if (!notes.empty()) {
    html += "<table><thead><tr><th>value</th><th>source</th><th>reason</th></tr></thead><tbody>\n";
    for (const quant::WidthNote& note : notes) {
      html += fmt::format("<tr><td>{}</td><td class=\"src\">{}</td><td>{}</td></tr>\n",
                          escape_html(note.name), location(note.source), escape_html(note.reason));
    }
    html += "</tbody></table>\n";
  }
  return html + "</section>\n";
}

/// Returns the source of an operator that is named by its node or by its result; null if unknown.
const ir::Source* source_of(const driver::CompileReport& report, const std::string& name) {
  for (const driver::SourceOpReport& op : report.source_ops) {
    if (op.source.node == name) return &op.source;
  }
  for (const driver::OpReport& op : report.ops) {
    if (op.name == name) return &op.source;
  }
  return nullptr;
}

std::string fallback_table(const ReportData& data) {
  const driver::CompileReport& report = data.report;
  if (report.fallbacks.empty()) {
    const bool has_npu = data.engines.size() > 1;
    return fmt::format("<p>No fallbacks: every operator runs on {}{}.</p>\n",
                       escape_html(data.engines[has_npu ? 1 : 0]),
                       has_npu ? ", except conversions of the model's inputs and outputs" : "");
  }
  std::string html =
      "<table id=\"fallbacks\"><thead><tr><th>operator</th><th>source</th><th>reason</th></tr>"
      "</thead><tbody>\n";
  for (const driver::Fallback& fallback : report.fallbacks) {
    const ir::Source* const source = source_of(report, fallback.op);
    html += fmt::format("<tr><td>{}</td><td class=\"src\">{}</td><td>{}</td></tr>\n",
                        escape_html(fallback.op), source == nullptr ? "" : location(*source),
                        escape_html(fallback.reason));
  }
  return html + "</tbody></table>\n";
}

std::string notes_list(const std::vector<std::string>& notes) {
  if (notes.empty()) return "";
  std::string html = "<ul class=\"notes\">\n";
  for (const std::string& note : notes) html += "<li>" + escape_html(note) + "</li>\n";
  return html + "</ul>\n";
}

std::string removed_table(const std::vector<driver::SourceOpReport>& ops) {
  std::string rows;
  size_t count = 0;
  for (const driver::SourceOpReport& op : ops) {
    if (!op.calls.empty()) continue;
    ++count;
    rows += fmt::format("<tr><td>{}</td><td class=\"src\">{}</td><td>{}</td></tr>\n",
                        escape_html(op.source.node), location(op.source), escape_html(op.reason));
  }
  if (count == 0) return "";
  return fmt::format(
      "<details><summary>{} operators of the model need no kernel call</summary><table><thead><tr>"
      "<th>operator</th><th>source</th><th>reason</th></tr></thead><tbody>\n{}</tbody></table>"
      "</details>\n",
      count, rows);
}

std::string fallback_section(const ReportData& data) {
  return "<section aria-labelledby=\"h-fallback\"><h2 id=\"h-fallback\">Fallbacks, removed "
         "operators, notes</h2>\n" +
         fallback_table(data) + notes_list(data.report.notes) +
         removed_table(data.report.source_ops) + "</section>\n";
}

std::string about_section(const driver::CompileReport& report, const Provenance& provenance) {
  std::string html =
      "<section aria-labelledby=\"h-about\"><h2 id=\"h-about\">How this was made</h2>\n";
  html += "<pre id=\"command\">" + escape_html(provenance.command) + "</pre>\n";
  html += fmt::format(
      "<p>Thimble {}, kernel layout {}; compiled in {:.2f} s, of which calibration {:.2f} s; "
      "optimized for {}; file of {} B.</p>\n",
      escape_html(provenance.version), abi::kKernelLayoutVersion, report.compile_seconds,
      report.calibrate_seconds, engine::optimize_name(report.optimize),
      with_commas(report.pte_bytes));
  return html + "<details><summary>As text</summary><pre>" +
         escape_html(driver::text_report(report, {})) + "</pre></details></section>\n";
}

/// Why the program does not fit, as the command printed it.
std::string refusal_section(const driver::CompileReport& report) {
  if (report.refusal.empty()) return "";
  return "<section id=\"refusal\" aria-labelledby=\"h-refusal\"><h2 id=\"h-refusal\">Does not fit: "
         "no program was written</h2>\n<pre>" +
         escape_html(report.refusal) + "</pre></section>\n";
}

std::string port_text(const std::vector<driver::IoReport>& ports) {
  std::string text;
  for (const driver::IoReport& port : ports) {
    text += (text.empty() ? "" : ", ") + port.name + " " +
            std::string(ir::dtype_name(port.type.dtype)) + " " + shape_text(port.type.shape);
  }
  return text;
}

}  // namespace

std::string html_page(const driver::Compiled& compiled, const Provenance& provenance) {
  const ReportData data(compiled);
  const driver::CompileReport& report = data.report;
  struct Section {
    const char *id, *link;
    std::string html;  // empty: the compilation has no such data
  };
  const Section sections[] = {
      {"h-refusal", "Does not fit", refusal_section(report)},
      {"h-graph", "Graph", graph_section(data)},
      {"h-arena", "Arena", arena_section(data)},
      {"h-ops", "Operators", op_section(data)},
      {"h-quality", "Accuracy", quality_section(data)},
      {"h-fallback", "Reasons", fallback_section(data)},
      {"h-memory", "Memories", memory_section(report)},
      {"h-about", "About", about_section(report, provenance)},
  };
  std::string links, content;
  for (const auto& [id, link, html] : sections) {
    if (!html.empty()) links += fmt::format("<a href=\"#{}\">{}</a>", id, link);
    content += html;
  }
  const std::string script = "\n" + std::string(page_js());
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src '{}'\">\n<title>{} on "
      "{}</title>\n<style>\n{}</style>\n</head>\n",
      policy_hash(script), escape_html(report.model), escape_html(report.target), page_css());
  page += fmt::format(
      "<body>\n<header><div><h1>{} <small>on {}</small></h1><p>{} \xE2\x86\x92 {}</p></div><nav "
      "aria-label=\"sections\">{}<label><span>Search</span><input id=\"search\" type=\"search\" "
      "placeholder=\"Search operators\"></label><output id=\"found\"></output></nav></header>\n"
      "<main>\n",
      escape_html(report.model), escape_html(report.target), escape_html(port_text(report.inputs)),
      escape_html(port_text(report.outputs)), links);
  page += summary(data) + content;
  page += "</main>\n<script type=\"application/json\" id=\"nodes\">" + node_data(data) +
          "</script>\n<script>" + script + "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace thimble::report
