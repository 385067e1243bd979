// SPDX-License-Identifier: Apache-2.0
#include "driver/linked_report.h"

#include "driver/linked_size.h"
#include "driver/report.h"

namespace thimble::driver {

std::string flash_detail(const CompileReport& report) {
  std::string text = fmt::format("weights {}, ", with_commas(report.weights_bytes));
  if (!report.linked) {
    return text + fmt::format("program {}; without code, whose size is not known",
                              with_commas(report.pte_bytes - report.weights_bytes));
  }
  const LinkedSize& linked = *report.linked;
  text +=
      fmt::format("program {}, code {}", with_commas(linked.program_bytes - report.weights_bytes),
                  with_commas(linked.code_bytes));
  if (report.linked_c) {
    text += fmt::format("; as C {} B", with_commas(report.linked_c->flash_bytes()));
  }
  return text;
}

std::string other_ram_detail(const CompileReport& report) {
  const bool has_state = !report.linked || !report.linked->c_output;
  std::string text =
      has_state ? fmt::format(", state {}", with_commas(report.state_bytes)) : std::string();
  if (!report.linked) return text;
  return text + fmt::format(", variables {}, stack {}", with_commas(report.linked->static_bytes),
                            with_commas(report.linked->stack_bytes));
}

std::string linked_line(const CompileReport& report) {
  if (!report.linked) return "";
  return fmt::format(
      "  code: {}; stack: bound by analysis;\n  not counted: startup code, application{}\n",
      built_with(*report.linked),
      report.linked->needs_driver ? ", the driver of the NPU's vendor" : "");
}

nlohmann::ordered_json linked_json(const CompileReport& report) {
  nlohmann::ordered_json json;
  if (!report.linked) {
    for (const char* name :
         {"code_bytes", "static_bytes", "stack_bytes", "flash_bytes", "code_built_with"}) {
      json[name] = nullptr;
    }
    return json;
  }
  json["code_bytes"] = report.linked->code_bytes;
  json["static_bytes"] = report.linked->static_bytes;
  json["stack_bytes"] = report.linked->stack_bytes;
  json["flash_bytes"] = report.linked->flash_bytes();
  json["code_built_with"] = built_with(*report.linked);
  if (report.linked_c) json["c_flash_bytes"] = report.linked_c->flash_bytes();
  return json;
}

}  // namespace thimble::driver
