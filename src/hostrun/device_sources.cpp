// SPDX-License-Identifier: Apache-2.0
#include "hostrun/device_sources.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/folder.h"
#include "base/lines.h"
#include "base/program_folder.h"
#include "base/read_file.h"
#include "hostrun/board_image.h"

namespace thimble::hostrun {
namespace {

namespace fs = std::filesystem;

/// Files of the device source folder; each is read once.
class Tree {
 public:
  explicit Tree(fs::path root) : root_(std::move(root)) { engines_ = entries_of("engines"); }

  /// The first file or folder that could not be read. Its text is empty.
  [[nodiscard]] const Failure& failure() const { return failure_; }

  const std::string& text(const std::string& path) {
    const auto [found, is_new] = texts_.try_emplace(path);
    if (is_new) {
      Result<Bytes> bytes = base::read_file(root_ / path);
      if (bytes.ok()) {
        found->second = as_text(*bytes);
      } else if (!failure_) {
        failure_ = bytes.take_failure();
      }
    }
    return found->second;
  }
  bool has(const std::string& path) {
    std::error_code error;
    const bool found = fs::is_regular_file(root_ / path, error);
    const bool is_missing =
        error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
    if (error && !is_missing && !failure_) {
      failure_ = Failure(base::read_error(root_ / path, error.value()));
    }
    return found;
  }
  /// Returns the file that `#include "name"` means: a path in this folder, or a header of an
  /// interface. Empty if there is none.
  [[nodiscard]] std::string path_of(const std::string& name) {
    if (has(name)) return name;
    if (has("runtime/include/" + name)) return "runtime/include/" + name;
    for (const std::string& engine : engines_) {
      const std::string path = engine + "/delegate/include/" + name;
      if (has(path)) return path;
    }
    return "";
  }
  /// Returns true if the name is that of a file of this folder, not of the application.
  [[nodiscard]] bool is_own(const std::string& name) const {
    const size_t slash = name.find('/');
    std::error_code error;
    return slash != std::string::npos && fs::is_directory(root_ / name.substr(0, slash), error);
  }
  /// Remembers that a file includes one that does not exist.
  void fail(const std::string& path, const std::string& name) {
    if (failure_) return;
    failure_ =
        Failure(bad_input("{}: #include \"{}\": no such file", (root_ / path).string(), name));
  }
  /// Sources that define what `path` uses, by the rows of device_links.def; empty: it uses none.
  const std::vector<std::string>& links_of(const std::string& path) {
    if (links_.empty()) {
      read_links("kernels/device_links.def");
      for (const std::string& engine : engines_) read_links(engine + "/delegate/device_links.def");
    }
    return links_[path];
  }
  /// Paths of the sources in a folder, without its subfolders.
  [[nodiscard]] std::vector<std::string> sources_in(const std::string& folder) {
    std::vector<std::string> paths = entries_of(folder);
    std::erase_if(paths, [](const std::string& path) { return !path.ends_with(".cpp"); });
    return paths;
  }

 private:
  /// Paths of the files and folders in a folder.
  std::vector<std::string> entries_of(const std::string& folder) {
    std::vector<std::string> paths;
    auto entries = base::list_folder(root_ / folder);
    if (!entries.ok()) {
      if (!failure_) failure_ = entries.take_failure();
      return paths;
    }
    for (const fs::path& entry : *entries) {
      paths.push_back(folder + "/" + entry.filename().string());
    }
    return paths;
  }
  void read_links(const std::string& path) {
    if (!has(path)) return;
    for (const std::string_view line : base::lines_of(text(path))) {
      const size_t end = line.find(": ");
      if (line.starts_with("//") || end == std::string_view::npos) continue;
      std::vector<std::string>& row = links_[std::string(line.substr(0, end))];
      for (const std::string_view word : base::words_of(line.substr(end + 2))) {
        row.emplace_back(word);
      }
    }
  }

  fs::path root_;
  Failure failure_;
  std::vector<std::string> engines_;  // entries of `engines`: most are folders
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<std::string>> links_;
};

bool is_word_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Returns true if `word` is in the text and no letter, digit or underscore is next to it.
bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || !is_word_letter(text[at - 1]);
    if (starts && (end == text.size() || !is_word_letter(text[end]))) return true;
  }
  return false;
}

/// Returns the names of the `#include "name"` lines.
std::vector<std::string> includes_of(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view line : base::lines_of(text)) {
    const size_t open = line.starts_with("#include") ? line.find('"') : std::string_view::npos;
    if (open == std::string_view::npos) continue;
    names.emplace_back(line.substr(open + 1, line.find('"', open + 1) - open - 1));
  }
  return names;
}

/// Returns true if the loops of files named *_m7.cpp are used.
bool is_dual_issue(const DeviceSelection& selection) {
  return selection.core == "cortex-m7";
}

/// Returns true if the macro of kernels/isa.h or kernels/dsp/dual_issue.h is 1 for the core.
bool has_variant(std::string_view macro, const DeviceSelection& selection) {
  const bool is_thumb1 = selection.isa == abi::Isa::kThumb1;
  const bool has_mve = selection.isa == abi::Isa::kMve;
  const bool has_dsp = selection.isa == abi::Isa::kDsp || has_mve;
  if (macro == "THIMBLE_HAS_V6M") return is_thumb1;
  if (macro == "THIMBLE_HAS_V7M") return !is_thumb1;
  if (macro == "THIMBLE_HAS_MVE") return has_mve;
  if (macro == "THIMBLE_HAS_DSP_M7") return has_dsp && is_dual_issue(selection);
  if (macro == "THIMBLE_HAS_DSP_SINGLE") return has_dsp && !is_dual_issue(selection);
  return has_dsp;
}

/// Returns false if the whole source is excluded for the core by its `#if THIMBLE_HAS_...`.
bool is_compiled(std::string_view text, const DeviceSelection& selection) {
  const size_t start = text.find("\n#if ");
  if (start == std::string_view::npos) return true;
  const std::string_view condition = text.substr(start + 5, text.find('\n', start + 5) - start - 5);
  for (const std::string_view word : base::words_of(condition)) {
    const bool negated = word.starts_with('!');
    const std::string_view macro = word.substr(negated ? 1 : 0);
    if (macro.starts_with("THIMBLE_HAS_") && has_variant(macro, selection) == negated) return false;
  }
  return true;
}

/// Collects files, what they include, and the sources that they need by the rows of
/// device_links.def.
class Closure {
 public:
  Closure(fs::path root, const DeviceSelection& selection)
      : tree_(std::move(root)), selection_(selection) {}

  /// Adds the definition of a kernel: the files of the variant's folder with the operator's name.
  Status add_kernel(const formats::pte::ChosenKernel& kernel) {
    bool found = false;
    for (const std::string& path : tree_.sources_in("kernels/" + kernel.variant)) {
      if (!has_word(tree_.text(path), kernel.op)) continue;
      found = true;
      add(path);
    }
    if (found) return ok();
    if (tree_.failure()) return Error(*tree_.failure());
    return bad_input("kernels/{}: no source of {} was found", kernel.variant, kernel.op);
  }

  /// Adds the header of a delegate, and the sources of its folder.
  void add_delegate(const std::string& header) {
    add(header);
    for (const std::string& path : tree_.sources_in(header.substr(0, header.rfind('/')))) add(path);
  }

  void add(const std::string& path) {
    waiting_.push_back(path);
    while (!waiting_.empty()) {
      const std::string next = std::move(waiting_.back());
      waiting_.pop_back();
      const std::string& text = tree_.text(next);
      if (next.ends_with(".cpp") && !is_compiled(text, selection_)) continue;
      if (files_.try_emplace(next, text).second) follow(next);
    }
  }

  Result<std::vector<DeviceFile>> take() {
    if (tree_.failure()) return Error(*tree_.failure());
    std::vector<DeviceFile> files;
    for (auto& [path, text] : files_) files.push_back({path, std::move(text)});
    return files;
  }

 private:
  void follow(const std::string& path) {
    for (const std::string& written : includes_of(tree_.text(path))) {
      std::string name = tree_.path_of(written);
      if (name.empty() && tree_.is_own(written)) tree_.fail(path, written);
      if (!name.empty()) waiting_.push_back(std::move(name));
    }
    const std::vector<std::string>& links = tree_.links_of(path);
    waiting_.insert(waiting_.end(), links.begin(), links.end());
  }

  Tree tree_;
  const DeviceSelection& selection_;
  std::map<std::string, std::string> files_;
  std::vector<std::string> waiting_;
};

}  // namespace

Result<fs::path> device_folder() {
  const fs::path own = base::program_folder();
  const fs::path installed = fs::path("share") / "thimble" / "device";
  std::vector<fs::path> folders = {own.parent_path() / installed, own / installed};
  THIMBLE_TRY(const Bytes in_build, base::read_if_exists(firmware_folder() / "device_folder.txt"));
  for (const std::string_view line : base::lines_of(as_text(in_build))) folders.emplace_back(line);
  for (const fs::path& folder : folders) {
    THIMBLE_TRY(const bool exists, base::path_exists(folder / "kernels" / "device_links.def"));
    if (exists) return folder;
  }
  return bad_input(
      "{}: kernels/device_links.def not found: the device sources are installed with Thimble",
      (own.parent_path() / installed).string());
}

Result<std::vector<DeviceFile>> device_sources(const DeviceSelection& selection) {
  THIMBLE_TRY(const fs::path folder, device_folder());
  Closure closure(folder, selection);
  if (selection.runtime) {
    for (const char* path : {"kernels/kernel_list.h", "kernels/require_isa.h",
                             "runtime/core/model.cpp", "runtime/core/status_text.cpp",
                             "runtime/core/version.cpp", "runtime/include/thimble.hpp"}) {
      closure.add(path);
    }
  }
  if (selection.flatbuffer_executor) closure.add("runtime/exec/flatbuffer_executor.cpp");
  for (const DeviceKind& device : selection.devices) {
    closure.add_delegate(std::string(device.header));
  }
  for (const formats::pte::ChosenKernel& kernel : selection.kernels) {
    THIMBLE_CHECK(closure.add_kernel(kernel));
    if (!kernel.addresses_only) closure.add("kernels/c_call.cpp");
  }
  THIMBLE_TRY(std::vector<DeviceFile> files, closure.take());
  for (DeviceFile& file : files) {
    // The product's flags may select the loops of another core (kernels/dsp/dual_issue.h).
    if (file.path != "kernels/dsp/dual_issue.h") continue;
    file.text = fmt::format("#define THIMBLE_DUAL_ISSUE {}\n{}", is_dual_issue(selection) ? 1 : 0,
                            file.text);
  }
  return files;
}

}  // namespace thimble::hostrun
