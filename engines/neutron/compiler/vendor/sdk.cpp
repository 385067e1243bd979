// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/vendor/sdk.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/folder.h"
#include "base/library.h"
#include "base/process.h"
#include "base/work_folder.h"

namespace thimble::engine::neutron {
namespace {

namespace fs = std::filesystem;
using base::last_lines;
using base::WorkFolder;

constexpr std::string_view kConverter = "neutron-converter";
constexpr std::string_view kMerger = "merge_kernel_selection_code";
/// Upper bound for a converted model; microcode, weights and kernels of a payload are smaller.
constexpr uint64_t kModelBytesMax = uint64_t{3} << 28;
constexpr std::string_view kInput = "network.tflite", kOutput = "converted.tflite";

std::string program_name(std::string_view name) {
  return std::string(name) + (base::host().system == "Windows" ? ".exe" : "");
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// Returns the SDK folders of the eIQ Toolkit ("MCU_SDK_2.16.000"), newest first. Each has a
/// converter.
std::vector<fs::path> releases(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with("MCU_SDK_")) found.push_back(entry.path());
  }
  std::ranges::sort(found, std::greater<>());
  return found;
}

/// Describes the failure of an SDK process; empty if it succeeded.
std::string ended_badly(const base::ProcessResult& result, const SdkOptions& options) {
  if (result.timed_out) {
    return fmt::format("it did not end within {} s and was stopped", options.time_limit.count());
  }
  if (result.exit_code > 128) {
    return fmt::format("it crashed (signal {})", result.exit_code - 128);
  }
  if (result.exit_code != 0) return fmt::format("it ended with code {}", result.exit_code);
  return "";
}

/// Checks the output file before it is read; returns what is wrong with it, or empty.
std::string no_model(const WorkFolder& folder) {
  const fs::path path = folder.file(kOutput);
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::not_found) return "it ended with code 0, but wrote no model";
  if (type != fs::file_type::regular) {
    return "it ended with code 0, but its output is a folder, a link or a device";
  }
  const auto bytes = fs::file_size(path, error);
  if (error || bytes == 0) return "it ended with code 0, but wrote no model";
  if (bytes <= kModelBytesMax) return "";
  return fmt::format("it wrote {} bytes, a model has at most {}", bytes, kModelBytesMax);
}

/// Returns the first number after the word "version": "Converter version 3.2.0".
std::string version_in(std::string_view log) {
  std::string lower(log);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::string_view kWord = "version";
  for (size_t at = lower.find(kWord); at != std::string::npos; at = lower.find(kWord, at + 1)) {
    const size_t first = lower.find_first_not_of(" :=v", at + kWord.size());
    if (first == std::string::npos || std::isdigit(static_cast<unsigned char>(lower[first])) == 0) {
      continue;
    }
    const size_t end = lower.find_first_not_of("0123456789.", first);
    std::string version = lower.substr(first, end - std::min(end, first));
    if (end == std::string::npos) version = lower.substr(first);
    while (version.ends_with('.')) version.pop_back();
    return version;
  }
  return "";
}

/// Returns the kernel selection files, sorted by name.
Result<std::vector<std::string>> selections_in(const WorkFolder& folder) {
  std::map<std::string, std::string> texts;
  THIMBLE_TRY(const std::vector<fs::path> paths, base::list_folder(folder.path()));
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    if (!name.ends_with(".c") || name.find("kernel_selection") == std::string::npos) continue;
    auto text = folder.read(name);
    if (!text) return bad_input("{}: cannot be read", path.string());
    texts[name] = *std::move(text);
  }
  std::vector<std::string> list;
  for (auto& [name, text] : texts) list.push_back(std::move(text));
  return list;
}

/// Returns the command of the merge tool without its arguments; empty if the tool does not exist.
std::vector<std::string> find_merger(const fs::path& given) {
  const fs::path root = is_file(given) ? given.parent_path() : given;
  for (const fs::path& folder : {root, root / "bin"}) {
    const fs::path program = folder / program_name(kMerger);
    if (is_file(program)) return {program.string()};
  }
  const fs::path script = fmt::format("{}.py", kMerger);
  for (const fs::path& folder : {root, root / "bin", root / "neutron_library_utils",
                                 root / "eiq_neutron_sdk" / "neutron_library_utils"}) {
    if (is_file(folder / script)) return {"python3", (folder / script).string()};
  }
  return {};
}

}  // namespace

Result<fs::path> find_converter(const fs::path& root) {
  if (root.empty()) {
    return bad_input(
        "{} is not set: it names the folder of NXP's eIQ Neutron SDK, whose converter makes the "
        "NPU's microcode (or --neutron-sdk DIR)",
        kSdkVariable);
  }
  std::error_code error;
  if (is_file(root)) return fs::absolute(root, error);
  if (!fs::is_directory(root, error)) {
    return bad_input(
        "{} (or --neutron-sdk) is {}: no such folder; a copy of the eIQ Neutron SDK expected",
        kSdkVariable, root.string());
  }
  const std::string name = program_name(kConverter);
  std::vector<fs::path> places = {root / "bin", root, root / "eiq_neutron_sdk" / "bin"};
  for (const fs::path& release : releases(root / "bin" / kConverter)) places.push_back(release);
  for (const fs::path& folder : places) {
    if (is_file(folder / name)) return fs::absolute(folder / name, error);
  }
  return bad_input("{} is {}: no {} in it ({} expected)", kSdkVariable, root.string(), name,
                   (root / "bin" / name).string());
}

Result<Converted> convert(ByteView model, std::string_view label, const SdkOptions& options) {
  THIMBLE_TRY(const fs::path converter, find_converter(options.root));
  THIMBLE_TRY(const WorkFolder folder, WorkFolder::create("neutron"));
  THIMBLE_CHECK(folder.write(kInput, model));
  // File names are relative because the converter writes other files to its working directory.
  std::vector<std::string> command = {
      converter.string(),   "--input",  std::string(kInput), "--output",
      std::string(kOutput), "--target", options.target};
  if (options.prefetch) command.emplace_back("--fetch-constants-to-sram");
  if (options.kernel_selection) command.emplace_back("--dump-kernel-selection-code");
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  base::ProcessOptions process;
  process.folder = folder.path();
  process.time_limit = options.time_limit;
  THIMBLE_TRY(const base::ProcessResult result, base::run_process(command, process));
  const auto failure = [&](const std::string& what) {
    return bad_input("{}: converting {}: {}{}", converter.string(), label, what,
                     last_lines(result.output));
  };
  if (const std::string badly = ended_badly(result, options); !badly.empty()) {
    return failure(badly);
  }
  if (const std::string none = no_model(folder); !none.empty()) return failure(none);
  const auto written = folder.read(kOutput);
  if (!written) return failure("it ended with code 0, but its model cannot be read");
  Converted converted;
  const ByteView bytes = as_byte_view(*written);
  converted.model.assign(bytes.begin(), bytes.end());
  converted.version = version_in(result.output);
  THIMBLE_TRY(converted.selections, selections_in(folder));
  if (options.kernel_selection && converted.selections.empty()) {
    return failure("it wrote no kernel selection (*kernel_selection*.c)");
  }
  return converted;
}

Result<std::optional<std::string>> merge_selections(const std::vector<GeneratedFile>& files,
                                                    const SdkOptions& options) {
  std::vector<std::string> command = find_merger(options.root);
  if (command.empty()) return std::optional<std::string>();
  THIMBLE_TRY(const WorkFolder folder, WorkFolder::create("neutron"));
  constexpr std::string_view kMerged = "merged.c";
  command.emplace_back("-input-files");
  for (const GeneratedFile& file : files) {
    THIMBLE_CHECK(folder.write(file.name, as_byte_view(file.text)));
    command.push_back(file.name);
  }
  command.insert(command.end(), {"-output-file", std::string(kMerged)});
  const std::string tool = command[0] == "python3" ? command[1] : command[0];
  base::ProcessOptions process;
  process.folder = folder.path();
  process.time_limit = options.time_limit;
  THIMBLE_TRY(const base::ProcessResult result, base::run_process(command, process));
  std::string badly = ended_badly(result, options);
  auto merged = folder.read(kMerged);
  if (badly.empty() && (!merged || merged->empty())) badly = "it wrote no file";
  if (badly.empty()) return merged;
  return bad_input("{}: merging {} kernel selections: {}{}", tool, files.size(), badly,
                   last_lines(result.output));
}

}  // namespace thimble::engine::neutron
