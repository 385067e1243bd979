// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/vendor/sdk.h"

#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "base/library.h"
#include "base/lines.h"
#include "base/process.h"
#include "base/work_folder.h"

namespace thimble::engine::axon {
namespace {

namespace fs = std::filesystem;

using base::last_lines;
using base::WorkFolder;

/// The helper's reply file: each line is a keyword and numbers.
struct Reply {
  std::map<std::string, std::vector<long long>> numbers;
  std::string error;
};
Reply parse_reply(std::string_view text) {
  Reply reply;
  for (const std::string_view line : base::lines_of(text)) {
    const std::vector<std::string_view> words = base::words_of(line);
    if (words.empty()) continue;
    const std::string key(words[0]);
    if (key == "error") {
      reply.error = line.substr(std::min(line.size(), key.size() + 1));
      continue;
    }
    for (const std::string_view word : std::span(words).subspan(1)) {
      long long number = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), number).ec != std::errc()) break;
      reply.numbers[key].push_back(number);
    }
  }
  return reply;
}

/// Returns the version in "Error: version in binary file is 0x... while expected 0x...".
std::optional<uint32_t> expected_version(std::string_view log) {
  constexpr std::string_view kBefore = "expected 0x";
  const size_t found = log.find(kBefore);
  if (found == std::string_view::npos) return std::nullopt;
  const char* const first = log.data() + found + kBefore.size();
  uint32_t version = 0;
  const auto [end, error] = std::from_chars(first, log.data() + log.size(), version, 16);
  if (error != std::errc() || end == first) return std::nullopt;
  return version;
}

/// Describes the last layer that the log names: "compiling layer 3...".
std::string last_layer(std::string_view log, const formats::axon::IrFile& network) {
  constexpr std::string_view kBefore = "compiling layer ";
  const size_t found = log.rfind(kBefore);
  if (found == std::string_view::npos) return "";
  size_t layer = 0;
  const char* const first = log.data() + found + kBefore.size();
  if (std::from_chars(first, log.data() + log.size(), layer).ec != std::errc()) return "";
  if (layer >= network.layers.size()) return "";
  const formats::axon::IrDimensions& out = network.layers[layer].output;
  return fmt::format(" at layer {} (operation {}, output {}x{}x{})", layer,
                     network.layers[layer].operation, out.channels, out.height, out.width);
}

/// One call of the helper, in a temporary folder.
class Session {
 public:
  Session(const SdkOptions& options, const formats::axon::IrFile& network, WorkFolder folder)
      : options_(options), network_(network), folder_(std::move(folder)) {}

  /// `function`: a function of the helper, compile or infer.
  Status run(const std::string& function, uint32_t version, std::vector<std::string> more) {
    THIMBLE_TRY(library_, find_sdk_library(options_));
    THIMBLE_TRY(const Bytes ir, formats::axon::write_ir(network_, version));
    THIMBLE_CHECK(folder_.write("network.bin", ir));
    // File names are relative because the library runs in the temporary folder.
    std::vector<std::string> command = {options_.helper.string(),
                                        "reply",
                                        library_.string(),
                                        function,
                                        "-c" + library_.string(),
                                        "-bnetwork.bin",
                                        "-fprogram",
                                        "-player",
                                        "-ssimulator",
                                        "-lresults.csv"};
    command.insert(command.end(), more.begin(), more.end());
    std::error_code ignored;
    fs::remove(folder_.file("reply"), ignored);
    base::ProcessOptions process;
    process.folder = folder_.path();
    process.time_limit = options_.time_limit;
    THIMBLE_TRY(const base::ProcessResult result, base::run_process(command, process));
    log_ = result.output;
    THIMBLE_CHECK(check_end(result));
    return check_reply(version);
  }

  /// Returns the version that the library expected, if it rejected the file's version.
  [[nodiscard]] std::optional<uint32_t> wanted_version() const { return wanted_; }

  Result<SdkProgram> program() const {
    SdkProgram program;
    const auto header = folder_.read("program_.h");
    if (!header || header->empty()) {
      return bad_input("{}: reported success for {}, but wrote no program", library_.string(),
                       network_.name);
    }
    program.header = *header;
    program.log = log_;
    const std::vector<long long>& sizes = reply_.numbers.at("sizes");
    program.constant_bytes = static_cast<uint32_t>(sizes[0]);
    program.interlayer_bytes = static_cast<uint32_t>(sizes[1]);
    program.partial_sum_bytes = static_cast<uint32_t>(sizes[2]);
    constexpr uint32_t kHostWordBytes = 8;
    program.command_words = static_cast<uint32_t>(sizes[3]) / kHostWordBytes;
    return program;
  }
  [[nodiscard]] uint32_t cycles() const {
    return static_cast<uint32_t>(reply_.numbers.at("sizes")[4]);
  }
  [[nodiscard]] const WorkFolder& folder() const { return folder_; }

 private:
  [[nodiscard]] Error failure(const std::string& what) const {
    return bad_input("{}: compiling {}: {}{}", library_.string(), network_.name, what,
                     last_lines(log_));
  }

  /// Returns an error unless the process ended by itself and wrote a reply.
  [[nodiscard]] Status check_end(const base::ProcessResult& result) const {
    const std::string place = last_layer(log_, network_);
    if (result.timed_out) {
      return failure(fmt::format("it did not end within {} s and was stopped{}",
                                 options_.time_limit.count(), place));
    }
    std::error_code error;
    if (result.exit_code == 0 && fs::exists(folder_.file("reply"), error)) return ok();
    if (result.exit_code > 128) {
      return failure(fmt::format("it crashed (signal {}){}", result.exit_code - 128, place));
    }
    return failure(fmt::format("its process ended with code {}{}", result.exit_code, place));
  }

  Status check_reply(uint32_t version) {
    constexpr int kInvalidFile = -219;
    constexpr size_t kSizes = 5;
    reply_ = parse_reply(folder_.read("reply").value_or(""));
    if (!reply_.error.empty()) return failure(reply_.error);
    for (const char* const function : {"compile", "infer"}) {
      const auto found = reply_.numbers.find(function);
      if (found == reply_.numbers.end() || found->second.empty() || found->second[0] == 0) continue;
      const auto code = static_cast<int>(found->second[0]);
      wanted_ = code == kInvalidFile ? expected_version(log_) : std::nullopt;
      if (wanted_ && *wanted_ != version) {
        THIMBLE_CHECK(named_check(*wanted_));
      }
      return failure(explain_sdk_code(code) + last_layer(log_, network_));
    }
    if (reply_.numbers.contains("compile") && reply_.numbers["sizes"].size() == kSizes) return ok();
    return failure("its answer is not complete");
  }

  [[nodiscard]] Status named_check(uint32_t version) const {
    const Status known = formats::axon::check_ir_version(version);
    if (known) return ok();
    return bad_input("{}: it requires another IR file: {}", library_.string(),
                     known.error().message);
  }

  const SdkOptions& options_;
  const formats::axon::IrFile& network_;
  WorkFolder folder_;
  fs::path library_;
  std::string log_;
  Reply reply_;
  std::optional<uint32_t> wanted_;
};

/// Runs with the newest layout version. If the library expects another known one, runs again.
Result<Session> run_session(const formats::axon::IrFile& network, const SdkOptions& options,
                            const std::string& function, const std::vector<std::string>& more,
                            std::string_view vectors) {
  THIMBLE_TRY(WorkFolder folder, WorkFolder::create("axon"));
  if (!vectors.empty()) {
    THIMBLE_CHECK(folder.write("vectors.csv", as_byte_view(vectors)));
  }
  Session session(options, network, std::move(folder));
  const uint32_t newest = formats::axon::ir_versions().front();
  const Status first = session.run(function, newest, more);
  if (first) return session;
  const std::optional<uint32_t> wanted = session.wanted_version();
  if (!wanted || *wanted == newest || !formats::axon::check_ir_version(*wanted)) {
    return first.error();
  }
  THIMBLE_CHECK(session.run(function, *wanted, more));
  return session;
}

Result<std::vector<std::vector<int32_t>>> parse_results(const std::string& text, size_t expected) {
  std::vector<std::vector<int32_t>> results;
  for (const std::string_view line : base::lines_of(text)) {
    std::vector<int32_t> values;
    const char* at = line.data();
    const char* const end = at + line.size();
    while (at < end) {
      int32_t value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      at = error == std::errc() ? next : at + 1;
      if (error == std::errc()) values.push_back(value);
    }
    if (!values.empty()) results.push_back(std::move(values));
  }
  // The file has one line per output of each input vector.
  if (results.empty() || results.size() % expected != 0) {
    return bad_input("the AXON simulator wrote {} lines for {} inputs", results.size(), expected);
  }
  const size_t lines_each = results.size() / expected;
  std::vector<std::vector<int32_t>> joined(expected);
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<int32_t>& to = joined[i / lines_each];
    to.insert(to.end(), results[i].begin(), results[i].end());
  }
  return joined;
}

}  // namespace

Result<fs::path> find_sdk_library(const SdkOptions& options) {
  if (options.root.empty()) {
    return bad_input(
        "{} is not set: it names the folder of Nordic's sdk-edge-ai, whose compiler "
        "library makes the NPU's program",
        kSdkVariable);
  }
  const std::string root = options.root.string();
  std::error_code error;
  if (!fs::is_directory(options.root, error)) {
    return bad_input(
        "{} (or --axon-sdk) is {}: no such folder; a copy of nrfconnect/sdk-edge-ai expected",
        kSdkVariable, root);
  }
  const base::Host host = base::host();
  const fs::path library = options.root / "tools" / "axon" / "compiler" / "bin" / host.system /
                           fmt::format("{}nrf-axon-nn-compiler-lib-{}{}", host.library_prefix,
                                       host.machine, host.library_suffix);
  if (!fs::is_regular_file(library, error)) {
    return bad_input("{} is {}: the compiler library for this machine is missing ({} expected)",
                     kSdkVariable, root, library.string());
  }
  return fs::absolute(library, error);
}

Result<SdkProgram> compile_with_sdk(const formats::axon::IrFile& network,
                                    const SdkOptions& options) {
  THIMBLE_TRY(const Session session, run_session(network, options, "compile", {}, ""));
  return session.program();
}

Result<SdkInference> infer_with_sdk(const formats::axon::IrFile& network,
                                    const std::vector<std::vector<int32_t>>& inputs,
                                    const SdkOptions& options) {
  std::string vectors;
  for (const std::vector<int32_t>& input : inputs) {
    vectors += fmt::format("{}\n", fmt::join(input, ","));
  }
  THIMBLE_TRY(const Session session,
              run_session(network, options, "infer",
                          {"-vvectors.csv", "-tvectors_.h", "-rlayers.csv"}, vectors));
  SdkInference inference;
  THIMBLE_TRY(inference.program, session.program());
  inference.cycles = session.cycles();
  const auto text = session.folder().read("results.csv");
  THIMBLE_TRY(inference.results, parse_results(text.value_or(""), inputs.size()));
  return inference;
}

}  // namespace thimble::engine::axon
