#include "hostrun/device_sources.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>

#include "base/program_folder.h"
#include "hostrun/board_image.h"

namespace thimble::hostrun {
namespace {

namespace fs = std::filesystem;

/// Files of the device source folder; each is read once.
class Tree {
 public:
  explicit Tree(fs::path root) : root_(std::move(root)) {}

  const std::string& text(const std::string& path) {
    const auto [found, is_new] = texts_.try_emplace(path);
    if (is_new) {
      std::ifstream stream(root_ / path, std::ios::binary);
      std::ostringstream text;
      text << stream.rdbuf();
      found->second = text.str();
    }
    return found->second;
  }
  [[nodiscard]] bool has(const std::string& path) const {
    return fs::is_regular_file(root_ / path);
  }
  /// Returns the file that `#include "name"` means: a path in this folder, or a header of an
  /// interface. Empty if there is none.
  [[nodiscard]] std::string path_of(const std::string& name) const {
    if (has(name)) return name;
    if (has("runtime/include/" + name)) return "runtime/include/" + name;
    std::error_code error;
    for (const fs::directory_entry& engine : fs::directory_iterator(root_ / "engines", error)) {
      const std::string path =
          "engines/" + engine.path().filename().string() + "/delegate/include/" + name;
      if (has(path)) return path;
    }
    return "";
  }
  /// Paths of the sources in a folder, without its subfolders.
  [[nodiscard]] std::vector<std::string> sources_in(const std::string& folder) const {
    std::vector<std::string> paths;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(root_ / folder, error)) {
      if (entry.path().extension() != ".cpp") continue;
      paths.push_back(folder + "/" + entry.path().filename().string());
    }
    return paths;
  }

 private:
  fs::path root_;
  std::map<std::string, std::string> texts_;
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
std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t open = line.starts_with("#include") ? line.find('"') : std::string::npos;
    if (open == std::string::npos) continue;
    names.push_back(line.substr(open + 1, line.find('"', open + 1) - open - 1));
  }
  return names;
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

class Closure {
 public:
  explicit Closure(fs::path root) : tree_(std::move(root)) {}

  /// Adds the file that defines a kernel: the only file of the variant with the operator's name.
  Status add_kernel(const formats::pte::ChosenKernel& kernel) {
    bool found = false;
    for (const std::string& path : tree_.sources_in("kernels/" + kernel.variant)) {
      if (!has_word(tree_.text(path), kernel.op)) continue;
      found = true;
      add(path);
    }
    if (found) return ok();
    return bad_input("kernels/{}: no source of {} was found", kernel.variant, kernel.op);
  }

  void add(const std::string& path) {
    waiting_.push_back(path);
    while (!waiting_.empty()) {
      const std::string next = std::move(waiting_.back());
      waiting_.pop_back();
      if (files_.try_emplace(next, tree_.text(next)).second) follow(next);
    }
  }

  std::vector<DeviceFile> take() {
    std::vector<DeviceFile> files;
    for (auto& [path, text] : files_) files.push_back({path, std::move(text)});
    return files;
  }

 private:
  void follow(const std::string& path) {
    for (const std::string& written : includes_of(tree_.text(path))) {
      const std::string name = tree_.path_of(written);
      if (name.empty()) continue;
      waiting_.push_back(name);
      // The folder kernels/ has the table of all kernels, which is not needed.
      const std::string folder = folder_of(name);
      if (!name.ends_with(".h") || folder == "kernels" || !folders_.insert({folder, true}).second) {
        continue;
      }
      for (const std::string& source : tree_.sources_in(folder)) {
        if (tree_.text(source).find("THIMBLE_DEFINE_") == std::string::npos) {
          waiting_.push_back(source);
        }
      }
    }
  }

  Tree tree_;
  std::map<std::string, std::string> files_;
  std::map<std::string, bool> folders_;
  std::vector<std::string> waiting_;
};

}  // namespace

Result<fs::path> device_folder() {
  const fs::path own = base::program_folder();
  const fs::path installed = fs::path("share") / "thimble" / "device";
  std::string in_build;
  std::getline(std::ifstream(firmware_folder() / "device_folder.txt"), in_build);
  for (const fs::path& folder :
       {own.parent_path() / installed, own / installed, fs::path(in_build)}) {
    if (fs::exists(folder / "kernels" / "kernels.def")) return folder;
  }
  return bad_input(
      "{}: kernels/kernels.def not found: the device sources are installed with Thimble",
      (own.parent_path() / installed).string());
}

Result<std::vector<DeviceFile>> device_sources(
    const std::vector<formats::pte::ChosenKernel>& kernels) {
  DeviceSelection selection;
  selection.kernels = kernels;
  return device_sources(selection);
}

Result<std::vector<DeviceFile>> device_sources(const DeviceSelection& selection) {
  THIMBLE_TRY(const fs::path folder, device_folder());
  Closure closure(folder);
  if (selection.runtime) {
    for (const char* path :
         {"kernels/kernel_list.h", "kernels/require_isa.h", "runtime/core/model.cpp",
          "runtime/core/status_text.cpp", "runtime/include/thimble.hpp"}) {
      closure.add(path);
    }
  }
  for (const DeviceKind& device : selection.devices) closure.add(std::string(device.header));
  for (const formats::pte::ChosenKernel& kernel : selection.kernels) {
    THIMBLE_CHECK(closure.add_kernel(kernel));
    if (!kernel.addresses_only) closure.add("kernels/c_call.cpp");
  }
  return closure.take();
}

}  // namespace thimble::hostrun
