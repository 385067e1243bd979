// SPDX-License-Identifier: Apache-2.0
#include "hostrun/qemu.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/lines.h"
#include "base/process.h"
#include "base/read_file.h"
#include "base/work_folder.h"
#include "cycles/counted_blocks.h"
#include "hostrun/board_image.h"
#include "hostrun/fvp.h"
#include "hostrun/status_error.h"

namespace thimble::hostrun {
namespace {

namespace fs = std::filesystem;

struct Board {
  std::string_view target;
  std::string_view machine;
};

// Same pairs as in firmware/cores.cmake. keep-sorted
constexpr Board kBoards[] = {
    {"cortex-m0", "mps2-an385"},  {"cortex-m0plus", "mps2-an385"}, {"cortex-m23", "mps2-an505"},
    {"cortex-m3", "mps2-an385"},  {"cortex-m33", "mps2-an505"},    {"cortex-m35p", "mps2-an505"},
    {"cortex-m4", "mps2-an386"},  {"cortex-m55", "mps3-an547"},    {"cortex-m7", "mps2-an500"},
    {"cortex-m85", "mps3-an547"},
};

/// Returns the content of a file of the board; empty if it wrote none.
Result<std::string> read_text(const fs::path& path) {
  THIMBLE_TRY(const Bytes bytes, base::read_if_exists(path));
  return std::string(as_text(bytes));
}

/// Lines of a report, by their first word. Each line is `key value...`.
using Lines = std::multimap<std::string, std::vector<std::string>>;
Lines parse_lines(std::string_view text) {
  Lines lines;
  for (const std::string_view line : base::lines_of(text)) {
    const std::vector<std::string_view> words = base::words_of(line);
    if (words.empty()) continue;
    lines.emplace(words.front(), std::vector<std::string>(words.begin() + 1, words.end()));
  }
  return lines;
}

/// Number `index` of the first line with this key; 0 if there is none.
int64_t number(const Lines& lines, const std::string& key, size_t index = 0) {
  const auto line = lines.find(key);
  if (line == lines.end() || line->second.size() <= index) return 0;
  return std::strtoll(line->second[index].c_str(), nullptr, 10);
}

/// Column in the counter's lines: index, times, instructions.
constexpr size_t kInstructions = 2;

/// One boot of the board. File names are relative to the folder: a path could contain characters of
/// QEMU's option syntax, or spaces, at which the firmware splits its command line.
class Boot {
 public:
  Boot(const fs::path& folder, std::string_view label, const Interface& interface,
       const QemuOptions& options)
      : folder_(folder), label_(label), interface_(interface), options_(options) {}

  Status run(bool profile) {
    THIMBLE_TRY(const fs::path image,
                board_image(fmt::format("{}-{}", options_.image, options_.target)));
    const std::vector<std::string> words = firmware_words(profile);
    if (!options_.fvp.empty()) {
      THIMBLE_CHECK(launch(fvp_command(options_.fvp, image, folder_, words, options_.npu)));
    } else {
      THIMBLE_TRY(std::vector<std::string> command, qemu_command(image, words));
      if (counts(profile)) {
        std::error_code error;
        fs::remove(folder_ / "counts", error);  // of an earlier boot
        THIMBLE_TRY(const fs::path plugin, counting_plugin());
        command.insert(command.end(), {"-plugin", plugin.string() + ",out=counts", "-d", "plugin"});
      }
      THIMBLE_CHECK(launch(command));
      if (counts(profile)) {
        THIMBLE_TRY(const std::string text, read_text(folder_ / "counts"));
        THIMBLE_CHECK(read_counts(text));
      }
    }
    THIMBLE_TRY(const std::string text, read_text(folder_ / "out.txt"));
    report_ = parse_lines(text);
    return check_report_status();
  }

  [[nodiscard]] const Lines& report() const { return report_; }
  [[nodiscard]] const Lines& counts() const { return counts_; }
  /// Returns the modelled cycles by scope; empty if nothing was counted.
  [[nodiscard]] std::map<cycles::Scope, int64_t> cycles() const {
    return cycles::scope_cycles(blocks_, options_.timing);
  }

 private:
  /// The lines of the scopes come before those of the blocks. The last line of a complete file is
  /// `end`.
  Status read_counts(const std::string& text) {
    if (!text.ends_with("\nend\n")) {
      return bad_input("{}: the emulator's file of counts ends after {} bytes: is the disk full?",
                       label_, text.size());
    }
    if (text.find("\nunbalanced\n") != std::string::npos) {
      return bad_input("{}: more operators in a run than the emulator's counter has places for",
                       label_);
    }
    counts_ = parse_lines(text.substr(0, text.find("\nblock ")));
    THIMBLE_TRY(blocks_, cycles::parse_counted_blocks(text, "insn_count"));
    return ok();
  }

  [[nodiscard]] bool counts(bool profile) const { return options_.count_instructions || profile; }

  /// Command line of the firmware.
  [[nodiscard]] std::vector<std::string> firmware_words(bool profile) const {
    std::vector<std::string> words = {"runner"};
    if (options_.npu) {
      const FirmwareDevice& npu = *options_.npu;
      const std::vector<std::string>& own = options_.fvp.empty() ? npu.simulated : npu.on_board;
      words.insert(words.end(), own.begin(), own.end());
    }
    if (profile) words.emplace_back("-p");
    words.emplace_back("model.pte");
    for (size_t i = 0; i < interface_.inputs.size(); ++i) words.push_back(fmt::format("in_{}", i));
    words.emplace_back("out");
    return words;
  }

  [[nodiscard]] Result<std::vector<std::string>> qemu_command(
      const fs::path& image, const std::vector<std::string>& words) const {
    THIMBLE_TRY(const std::string machine, qemu_board(options_.target));
    std::string firmware = "enable=on,target=native";
    for (const std::string& word : words) firmware += ",arg=" + word;
    return std::vector<std::string>{"qemu-system-arm", "-M",       machine,
                                    "-nographic",      "-monitor", "none",
                                    "-serial",         "none",     "-semihosting-config",
                                    firmware,          "-kernel",  image.string()};
  }

  /// Reads the status in the report, because the exit codes of emulators differ.
  [[nodiscard]] Status check_report_status() const {
    const auto status = report_.find("status");
    if (status != report_.end() && !status->second.empty() && status->second[0] == "0") return ok();
    return bad_input("{}: {} {}: ended without a result", label_, options_.target, under());
  }

  [[nodiscard]] std::string under() const {
    return options_.fvp.empty() ? "under QEMU" : "in " + options_.fvp.filename().string();
  }

  /// Adds the package of QEMU to the error of a start.
  [[nodiscard]] Error with_package(Error error) const {
    if (options_.fvp.empty()) {
      error.message +=
          "; install QEMU's emulator for Arm: the package qemu-system-arm of Debian "
          "and Ubuntu, qemu of Homebrew";
    }
    return error;
  }

  Status launch(const std::vector<std::string>& command) {
    base::ProcessOptions process;
    process.folder = folder_;
    process.time_limit = options_.time_limit;
    const Result<base::ProcessResult> started = base::run_process(command, process);
    if (!started.ok()) return with_package(started.error());
    const base::ProcessResult& result = *started;
    if (result.timed_out) {
      return bad_input("{}: {} {}: not finished after {} s", label_, options_.target, under(),
                       options_.time_limit.count());
    }
    if (result.exit_code == 0) return ok();
    const std::string said = result.output.substr(0, result.output.find('\n'));
    const Lines lines = parse_lines(said);
    if (const auto status = static_cast<thimble_status>(number(lines, "status")); status != 0) {
      Error error = status_error(status, label_, interface_);
      if (error.kind == ErrorKind::kUnsupported) return error;
    }
    return bad_input("{}: {} {}: exit code {}: {}", label_, options_.target, under(),
                     result.exit_code, said);
  }

  const fs::path& folder_;
  std::string_view label_;
  const Interface& interface_;
  const QemuOptions& options_;
  Lines report_;
  Lines counts_;
  cycles::CountedBlocks blocks_;
};

/// Writes one file per input, with the data of all calls one after another.
Status write_inputs(const base::WorkFolder& folder, std::string_view label,
                    const Interface& interface, std::span<const std::vector<ir::Tensor>> calls) {
  std::vector<Bytes> inputs(interface.inputs.size());
  for (const std::vector<ir::Tensor>& call : calls) {
    THIMBLE_CHECK(check_inputs(interface.inputs, call, label));
    for (size_t i = 0; i < inputs.size(); ++i) {
      append(inputs[i], ir::to_memory(call[i], interface.inputs[i].dim_order));
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    THIMBLE_CHECK(folder.write(fmt::format("in_{}", i), inputs[i]));
  }
  return ok();
}

Result<std::vector<std::vector<ir::Tensor>>> read_outputs(const fs::path& folder,
                                                          std::string_view label,
                                                          const Interface& interface,
                                                          size_t calls) {
  std::vector<std::vector<ir::Tensor>> outputs(calls);
  for (size_t i = 0; i < interface.outputs.size(); ++i) {
    const Port& port = interface.outputs[i];
    THIMBLE_TRY(const std::string bytes, read_text(folder / fmt::format("out_{}.bin", i)));
    if (bytes.size() != port.bytes() * calls) {
      return bad_input("{}: {}: the board wrote {} bytes, expected {}", label, port.name,
                       bytes.size(), port.bytes() * calls);
    }
    for (size_t call = 0; call < calls; ++call) {
      const ByteView one = as_byte_view(bytes).subspan(call * port.bytes(), port.bytes());
      outputs[call].push_back(ir::from_memory(one, port.dtype, port.shape, port.dim_order));
    }
  }
  return outputs;
}

std::vector<OpInstructions> op_counts(const Interface& interface, const Boot& boot) {
  std::vector<OpInstructions> ops;
  for (const std::string& op : interface.ops) ops.push_back({op, 0, {}});
  const std::map<cycles::Scope, int64_t> cycles = boot.cycles();
  const std::vector<size_t> order = traced_order(interface);
  const auto [first, last] = boot.counts().equal_range("op");
  for (auto line = first; line != last; ++line) {
    if (line->second.size() <= kInstructions) continue;
    const auto position = static_cast<size_t>(std::strtoll(line->second[0].c_str(), nullptr, 10));
    if (position >= order.size()) continue;
    OpInstructions& op = ops[order[position]];
    op.instructions += std::strtoll(line->second[kInstructions].c_str(), nullptr, 10);
    const auto scope = cycles.find({"op", static_cast<int>(position)});
    if (scope != cycles.end()) op.cycles = op.cycles.value_or(0) + scope->second;
  }
  return ops;
}

}  // namespace

Result<std::string> qemu_board(std::string_view target) {
  const auto* board = std::find_if(std::begin(kBoards), std::end(kBoards),
                                   [&](const Board& each) { return each.target == target; });
  if (board == std::end(kBoards))
    return bad_input("target {}: QEMU has no board for this core", target);
  return std::string(board->machine);
}

Result<QemuRun> run_on_qemu(ByteView pte, std::string_view label, const Interface& interface,
                            std::span<const std::vector<ir::Tensor>> calls,
                            const QemuOptions& options) {
  if (!options.fvp.empty()) THIMBLE_CHECK(check_fvp(options.target, options.npu));
  THIMBLE_TRY(const base::WorkFolder folder, base::WorkFolder::create("qemu"));
  THIMBLE_CHECK(folder.write("model.pte", pte));
  THIMBLE_CHECK(write_inputs(folder, label, interface, calls));
  Boot boot(folder.path(), label, interface, options);
  QemuRun run;
  if (options.profile) {
    // The hook around each operator executes instructions, so the sum is counted in another boot.
    THIMBLE_CHECK(boot.run(true));
    run.facts.ops = op_counts(interface, boot);
    // In the image without kernel code, each kernel is one instruction.
    if (boot.counts().contains("scope")) {
      run.facts.instructions_overhead = number(boot.counts(), "scope", kInstructions) -
                                        static_cast<int64_t>(interface.ops.size());
    }
  }
  THIMBLE_CHECK(boot.run(false));
  run.facts.arena_bytes = number(boot.report(), "arena_bytes");
  run.facts.state_bytes = number(boot.report(), "state_bytes");
  run.facts.stack_bytes = number(boot.report(), "stack_bytes");
  run.facts.instructions = number(boot.counts(), "run", kInstructions);
  run.facts.instructions_init = number(boot.counts(), "load", kInstructions);
  run.facts.instructions_total = number(boot.counts(), "total", kInstructions);
  for (const auto& [scope, cycles] : boot.cycles()) {
    const bool inside = scope.first == "run" || scope.first == "op" || scope.first == "scope";
    if (inside) run.facts.cycles = run.facts.cycles.value_or(0) + cycles;
  }
  THIMBLE_TRY(run.outputs, read_outputs(folder.path(), label, interface, calls.size()));
  return run;
}

}  // namespace thimble::hostrun
