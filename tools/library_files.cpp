// SPDX-License-Identifier: Apache-2.0
#include "tools/library_files.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tools/output.h"

namespace thimble::tools {
namespace {

constexpr std::string_view kUrl = "https://pypi.org/project/thimble-ml/";
// The standard of device code.
constexpr std::string_view kStandard = "-std=gnu++17";

std::string properties(const Library& library) {
  return fmt::format(
      "name={0}\n"
      "version=1.0.0\n"
      "author=Thimble\n"
      "maintainer=Thimble\n"
      "sentence={0}, a neural network for {1}, with {2}.\n"
      "paragraph=A core whose default is an older C++ standard needs "
      "compiler.cpp.extra_flags={3} in platform.local.txt.\n"
      "category=Data Processing\n"
      "url={4}\n"
      "architectures=*\n"
      "includes={0}.h\n"
      "license=Apache-2.0\n",
      library.name, library.target, library.contains, kStandard, kUrl);
}

std::string platformio(const Library& library) {
  Json json = {{"name", library.name},
               {"version", "1.0.0"},
               {"description", fmt::format("{}, a neural network for {}, with {}", library.name,
                                           library.target, library.contains)},
               {"keywords", {"neural network", "tinyml", "int8"}},
               {"license", "Apache-2.0"},
               {"homepage", kUrl},
               {"authors", Json::array({{{"name", "Thimble"}}})},
               {"headers", library.name + ".h"},
               {"frameworks", "*"},
               {"platforms", "*"},
               {"build",
                {{"flags", {"-std=gnu++17", "-ffp-contract=off", "-fomit-frame-pointer"}},
                 {"unflags", {"-std=gnu++11", "-std=gnu++14"}},
                 {"srcDir", "src"},
                 {"includeDir", "src"}}}};
  return json.dump(2) + "\n";
}

/// Name of the core in a pack's condition: "cortex-m0plus" is "Cortex-M0+".
std::string pack_core(std::string_view cpu) {
  constexpr std::string_view kPrefix = "cortex-m";
  std::string number(cpu.substr(kPrefix.size()));
  if (number.ends_with("plus")) number = number.substr(0, number.size() - 4) + "+";
  return "Cortex-M" + number;
}

/// The component of a file, by its folder.
std::string component_of(const std::string& path) {
  if (path.starts_with("kernels/") || path.starts_with("numerics/")) return "Kernels";
  if (path.starts_with("engines/")) {
    const size_t start = sizeof "engines/" - 1;
    return "Delegate " + path.substr(start, path.find('/', start) - start);
  }
  return "Runtime";
}

std::string component(const std::string& sub, const std::string& condition,
                      const std::string& description, const std::string& files) {
  return fmt::format(
      "    <component Cclass=\"Machine Learning\" Cgroup=\"Thimble\" Csub=\"{}\" "
      "Cversion=\"1.0.0\" condition=\"{}\">\n"
      "      <description>{}</description>\n"
      "      <files>\n{}"
      "      </files>\n"
      "    </component>\n",
      sub, condition, description, files);
}

std::string file_row(const std::string& path) {
  const std::string_view category = path.ends_with(".cpp")                         ? "sourceCpp"
                                    : path.ends_with(".c")                         ? "sourceC"
                                    : path.ends_with(".h") || path.ends_with("pp") ? "header"
                                                                                   : "other";
  return fmt::format("        <file category=\"{}\" name=\"src/{}\"/>\n", category, path);
}

std::string pack(const Library& library) {
  const std::string folder = "        <file category=\"include\" name=\"src/\"/>\n";
  std::map<std::string, std::string> parts;
  for (const hostrun::DeviceFile& file : library.files) {
    parts[component_of(file.path)] += file_row(file.path);
  }
  std::string model = folder + file_row(library.name + ".h");
  for (const std::string& source : library.model_sources) model += file_row(source);
  std::string required, components;
  for (const auto& [sub, files] : parts) {
    required += fmt::format(
        "      <require Cclass=\"Machine Learning\" Cgroup=\"Thimble\" Csub=\"{}\"/>\n", sub);
    components += component(sub, "core", "Device code of Thimble, C++17: " + sub, folder + files);
  }
  components += component(library.name, "model", "The model " + library.name, model);
  std::string example;
  if (!library.main.empty()) {
    example = fmt::format(
        "  <examples>\n"
        "    <example name=\"{0}\" folder=\"examples/{0}\" doc=\"README.md\">\n"
        "      <description>Runs the model once</description>\n"
        "      <project>\n"
        "        <environment name=\"csolution\" load=\"{0}.csolution.yml\"/>\n"
        "      </project>\n"
        "    </example>\n"
        "  </examples>\n",
        library.name);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
      "<package schemaVersion=\"1.7.28\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\"\n"
      "         xs:noNamespaceSchemaLocation=\"PACK.xsd\">\n"
      "  <vendor>Thimble</vendor>\n"
      "  <name>{0}</name>\n"
      "  <description>{0}: a neural network for {1}, with {2}</description>\n"
      "  <url>{3}</url>\n"
      "  <license>LICENSE</license>\n"
      "  <releases>\n"
      "    <release version=\"1.0.0\">Written by thimble</release>\n"
      "  </releases>\n"
      "  <conditions>\n"
      "    <condition id=\"core\">\n"
      "      <description>The kernels are for this core</description>\n"
      "      <require Dcore=\"{4}\"/>\n"
      "    </condition>\n"
      "    <condition id=\"model\">\n"
      "      <description>The model calls these</description>\n"
      "      <require condition=\"core\"/>\n"
      "{5}"
      "    </condition>\n"
      "  </conditions>\n"
      "  <components>\n"
      "{6}"
      "  </components>\n"
      "{7}"
      "</package>\n",
      library.name, library.target, library.contains, kUrl, pack_core(library.cpu), required,
      components, example);
}

/// The device without a vendor of ARM::Cortex_DFP: "ARMCM4", "ARMCM0P".
std::string generic_device(std::string_view cpu) {
  std::string number = pack_core(cpu).substr(sizeof "Cortex-M" - 1);
  if (number.ends_with("+")) number.back() = 'P';
  return "ARMCM" + number;
}

std::string csolution(const Library& library) {
  return fmt::format(
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# cbuild {0}.csolution.yml, after `cpackget add ../../Thimble.{0}.pdsc`\n"
      "solution:\n"
      "  created-for: CMSIS-Toolbox@2.0.0\n"
      "  compiler: GCC\n"
      "  packs:\n"
      "    - pack: Thimble::{0}\n"
      "    - pack: ARM::CMSIS\n"
      "    - pack: ARM::Cortex_DFP\n"
      "  target-types:\n"
      "    - type: {1}\n"
      "      device: ARM::{1}\n"
      "  build-types:\n"
      "    - type: release\n"
      "      optimize: size\n"
      "  projects:\n"
      "    - project: {0}.cproject.yml\n",
      library.name, generic_device(library.cpu));
}

std::string cproject(const Library& library) {
  std::map<std::string, bool> subs;
  for (const hostrun::DeviceFile& file : library.files) subs[component_of(file.path)] = true;
  std::string components;
  for (const auto& [sub, unused] : subs) {
    components += fmt::format("    - component: Machine Learning:Thimble:{}\n", sub);
  }
  return fmt::format(
      "# SPDX-License-Identifier: Apache-2.0\n"
      "project:\n"
      "  define:\n"
      "    - THIMBLE_TRACE: 0\n"
      "  misc:\n"
      "    - for-compiler: GCC\n"
      "      CPP: [-std=c++17, -fno-exceptions, -fno-rtti, -fno-threadsafe-statics, "
      "-ffp-contract=off]\n"
      "  groups:\n"
      "    - group: Application\n"
      "      files:\n"
      "        - file: main.c\n"
      "  components:\n"
      "    - component: ARM::CMSIS:CORE\n"
      "    - component: ARM::Device:Startup&C Startup\n"
      "{1}"
      "    - component: Machine Learning:Thimble:{0}\n",
      library.name, components);
}

/// For Arduino's library manager; arduino-lint's rule LD001.
std::string arduino_readme(const Library& library) {
  return fmt::format(
      "# {0}\n\nA neural network for {1}, with Thimble's runtime and the kernels that it calls: a "
      "library "
      "for Arduino\nand PlatformIO. `{0}.h` declares the model, `thimble.h` the functions that run "
      "it. "
      "The kernels are C++17 and\nfor the instructions of {1}.\n\nApache-2.0, see LICENSE. Written "
      "by "
      "`thimble`.\n",
      library.name, library.target);
}

}  // namespace

std::vector<LibraryFile> arduino_files(const Library& library) {
  std::vector<LibraryFile> files = {{"library.properties", properties(library)},
                                    {"library.json", platformio(library)},
                                    {"README.md", arduino_readme(library)}};
  if (!library.sketch.empty()) {
    files.push_back({fmt::format("examples/{0}/{0}.ino", library.name), library.sketch});
  }
  return files;
}

std::vector<LibraryFile> cmsis_files(const Library& library) {
  std::vector<LibraryFile> files = {{"Thimble." + library.name + ".pdsc", pack(library)}};
  if (library.main.empty()) return files;
  const std::string folder = "examples/" + library.name + "/";
  files.push_back({folder + library.name + ".csolution.yml", csolution(library)});
  files.push_back({folder + library.name + ".cproject.yml", cproject(library)});
  files.push_back({folder + "main.c", library.main});
  files.push_back(
      {folder + "README.md", fmt::format("# {0}\n\n`cbuild {0}.csolution.yml` builds a program "
                                         "that runs the model once.\n",
                                         library.name)});
  return files;
}

}  // namespace thimble::tools
