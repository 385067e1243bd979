// SPDX-License-Identifier: Apache-2.0
// thimble boards: the serial ports of this machine, for `run --on serial:PORT`.

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/serial_port.h"
#include "hostrun/serial_link.h"
#include "tools/commands.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

struct UsbKind {
  std::string_view id;  // vendor, or vendor:product
  std::string_view name;
};

// Debug probes and bridges with a serial port on boards of targets/. Identifiers: usb.ids of
// linux-usb.org, and the makers' udev rules. keep-sorted
constexpr UsbKind kUsbKinds[] = {
    {"0403", "FTDI bridge"},
    {"0483", "ST-LINK"},
    {"04b4", "Infineon KitProg"},
    {"0d28", "CMSIS-DAP probe"},
    {"10c4", "Silicon Labs bridge"},
    {"1366", "SEGGER J-Link"},
    {"1a86", "WCH bridge"},
    {"1fc9", "NXP MCU-Link"},
    {"2341", "Arduino"},
    {"2886", "Seeed Studio"},
    {"2e8a", "Raspberry Pi"},
    {"303a", "Espressif"},
};

std::string_view kind_of(const std::string& usb_id) {
  for (const UsbKind& kind : kUsbKinds) {
    if (usb_id.starts_with(kind.id)) return kind.name;
  }
  return "";
}

struct BoardsArguments {
  bool probe = false;
  int baud = 115200;
  bool json = false;
};

struct PortRow {
  base::SerialPortFacts port;
  std::string kind;
  std::string runner;  // board and core of an answering runner, or the error; empty: not asked
};

std::vector<PortRow> find_port_rows(const BoardsArguments& arguments) {
  std::vector<PortRow> rows;
  for (base::SerialPortFacts& port : base::list_serial_ports()) {
    PortRow row = {std::move(port), "", ""};
    row.kind = kind_of(row.port.usb_id);
    if (arguments.probe) {
      const auto link =
          hostrun::SerialLink::open(row.port.name, arguments.baud, std::chrono::seconds(2));
      row.runner = link ? fmt::format("{}, {}", link->board().board, link->board().core)
                        : link.error().message;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

int boards(const BoardsArguments& arguments) {
  const std::vector<PortRow> rows = find_port_rows(arguments);
  if (arguments.json) {
    Json list = Json::array();
    for (const PortRow& row : rows) {
      list.push_back({{"port", row.port.name},
                      {"usb_id", row.port.usb_id},
                      {"product", row.port.product},
                      {"kind", row.kind}});
      if (arguments.probe) list.back()["runner"] = row.runner;
    }
    print_json({{"ports", list}});
    return 0;
  }
  for (const PortRow& row : rows) {
    std::printf("%-20s %-10s %-20s %s\n", row.port.name.c_str(), row.port.usb_id.c_str(),
                row.kind.c_str(), row.port.product.c_str());
    if (!row.runner.empty()) std::printf("  %s\n", row.runner.c_str());
  }
  if (rows.empty()) std::printf("no serial port of a board found\n");
  return 0;
}

}  // namespace

void add_boards(CommandLine& line, int* exit_code) {
  Verb verb(line, "boards", "List serial ports for run --on serial:PORT");
  auto arguments = std::make_shared<BoardsArguments>();
  BoardsArguments& a = *arguments;
  verb.flag("--probe", a.probe, "Ask each port whether examples/serial_runner answers");
  verb.option("--baud", a.baud, "Baud rate of --probe").positive();
  verb.flag("--json", a.json, "Print the result as one JSON object");
  verb.callback([arguments, exit_code] { *exit_code = boards(*arguments); });
}

}  // namespace thimble::tools
