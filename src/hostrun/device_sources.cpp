#include "hostrun/device_sources.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

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

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

class Closure {
 public:
  explicit Closure(fs::path root) : tree_(std::move(root)) {}

  /// Adds the file that defines a kernel: the only file of the variant with the operator's name.
  Status add_kernel(const ChosenKernel& kernel) {
    const std::regex word("\\b" + kernel.op + "\\b");
    bool found = false;
    for (const std::string& path : tree_.sources_in("kernels/" + kernel.variant)) {
      if (!std::regex_search(tree_.text(path), word)) continue;
      found = true;
      add(path);
    }
    if (found) return ok();
    return bad_input("kernels/{}: no source of {} there", kernel.variant, kernel.op);
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
    static const std::regex include("#[ \\t]*include[ \\t]*\"([^\"]+)\"");
    const std::string& text = tree_.text(path);
    for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at) {
      const std::string name = (*at)[1];
      if (!tree_.has(name)) continue;
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
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder :
       {program / ".." / "share" / "thimble" / "device", fs::path(THIMBLE_DEVICE_SOURCES)}) {
    if (fs::exists(folder / "kernels" / "kernels.def")) return folder.lexically_normal();
  }
  return bad_input(
      "{}: no kernels/kernels.def there: the device sources are installed with Thimble",
      THIMBLE_DEVICE_SOURCES);
}

Result<std::vector<DeviceFile>> device_sources(const std::vector<ChosenKernel>& kernels) {
  THIMBLE_TRY(const fs::path folder, device_folder());
  Closure closure(folder);
  for (const ChosenKernel& kernel : kernels) {
    THIMBLE_CHECK(closure.add_kernel(kernel));
    if (!kernel.bare) closure.add("kernels/c_call.cpp");
  }
  return closure.take();
}

}  // namespace thimble::hostrun
