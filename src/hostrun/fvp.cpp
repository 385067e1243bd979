// SPDX-License-Identifier: Apache-2.0
#include "hostrun/fvp.h"

namespace thimble::hostrun {

Status check_fvp(std::string_view target, const std::optional<FirmwareDevice>& npu) {
  if (target != "cortex-m55") {
    return bad_input("target {}: --on fvp runs the image of a Corstone-300, which has a Cortex-M55",
                     target);
  }
  if (npu && !npu->fvp_refusal.empty()) return bad_input("{}", npu->fvp_refusal);
  return ok();
}

std::vector<std::string> fvp_command(const std::filesystem::path& program,
                                     const std::filesystem::path& image,
                                     const std::filesystem::path& folder,
                                     const std::vector<std::string>& words,
                                     const std::optional<FirmwareDevice>& npu) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  std::vector<std::string> command = {program.string()};
  const auto set = [&](const std::string& parameter) {
    command.insert(command.end(), {"-C", parameter});
  };
  if (npu) {
    for (const std::string& parameter : npu->fvp) set(parameter);
  }
  set("mps3_board.visualisation.disable-visualisation=1");
  set("mps3_board.telnetterminal0.start_telnet=0");
  set("mps3_board.uart0.out_file=-");
  set("cpu0.semihosting-enable=1");
  set("cpu0.semihosting-stack_base=0");
  set("cpu0.semihosting-heap_limit=0");
  set("cpu0.semihosting-cwd=" + folder.string());
  set("cpu0.semihosting-cmd_line=" + line);
  command.insert(command.end(), {"-a", image.string()});
  return command;
}

}  // namespace thimble::hostrun
