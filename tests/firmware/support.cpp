// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <fstream>
#include <sstream>

namespace thimble::firmware_test {

void write_file(const std::string& name, ByteView bytes) {
  std::ofstream stream(work_folder() / name, std::ios::binary);
  stream << as_text(bytes);
  ASSERT_TRUE(stream.good()) << name;
}

std::string read_file(const std::string& name) {
  std::ifstream stream(work_folder() / name, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

base::ProcessResult run(const QemuRun& options) {
  std::string semihosting = "enable=on,target=native";
  for (const std::string& word : options.words) semihosting += ",arg=" + word;
  std::vector<std::string> command = {"qemu-system-arm",
                                      "-M",
                                      options.machine,
                                      "-nodefaults",
                                      "-display",
                                      "none",
                                      "-monitor",
                                      "none",
                                      "-serial",
                                      "stdio",
                                      "-kernel",
                                      options.image,
                                      "-semihosting-config",
                                      semihosting};
  if (!options.count_file.empty()) {
    const std::string plugin = (firmware_folder() / "insn_count.so").string();
    command.insert(command.end(), {"-plugin", plugin + ",out=" + options.count_file});
  }
  base::ProcessOptions process;
  process.folder = work_folder();
  process.time_limit = options.time_limit;
  Result<base::ProcessResult> result = base::run_process(command, process);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  if (!result.ok()) return {};
  EXPECT_FALSE(result->timed_out) << options.image;
  return *result;
}

long counted(const std::string& counts, const std::string& scope) {
  const size_t at = ("\n" + counts).find("\n" + scope + " ");
  if (at == std::string::npos) return 0;
  // The words after the scope's name: times entered, instructions, instructions of each class.
  std::istringstream words(counts.substr(at + scope.size(), counts.find('\n', at) - at));
  long times = 0, instructions = 0;
  words >> times >> instructions;
  return instructions;
}

}  // namespace thimble::firmware_test
