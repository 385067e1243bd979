// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs an image under QEMU, and lists the cores with images.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/process.h"
#include "tests/folders.h"

namespace thimble::firmware_test {

/// Instruction sets that an image may be limited to; see disassembly_test.cpp.
enum class Isa { kV6m, kV8mBase, kV7m, kV7em, kMve };

struct Core {
  const char* name;
  const char* machine;
  Isa isa;
};
/// Prints a core in GoogleTest's messages.
inline void PrintTo(const Core& core, std::ostream* out) {
  *out << core.name;
}

inline constexpr Core kCores[] = {
    {"cortex-m0", "mps2-an385", Isa::kV6m},      {"cortex-m0plus", "mps2-an385", Isa::kV6m},
    {"cortex-m23", "mps2-an505", Isa::kV8mBase}, {"cortex-m3", "mps2-an385", Isa::kV7m},
    {"cortex-m33", "mps2-an505", Isa::kV7em},    {"cortex-m35p", "mps2-an505", Isa::kV7em},
    {"cortex-m4", "mps2-an386", Isa::kV7em},     {"cortex-m55", "mps3-an547", Isa::kMve},
    {"cortex-m7", "mps2-an500", Isa::kV7em},     {"cortex-m85", "mps3-an547", Isa::kMve},
    {"microbit", "microbit", Isa::kV6m},
};

inline std::filesystem::path firmware_folder() {
  return test::build_folder() / "firmware";
}
inline std::string image(const char* app, const Core& core) {
  return (firmware_folder() / (std::string(app) + "-" + core.name + ".elf")).string();
}

/// Returns the work folder of this test program; the first call empties it.
inline const std::filesystem::path& work_folder() {
  static const std::filesystem::path folder = [] {
    const auto path = test::build_folder() / "firmware_test_files" / THIMBLE_TEST;
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    return path;
  }();
  return folder;
}

void write_file(const std::string& name, ByteView bytes);
std::string read_file(const std::string& name);

struct QemuRun {
  std::string image;
  std::string machine;
  std::vector<std::string> words;  // semihosting command line
  std::string count_file;          // file for instruction counts; empty: no counting
  std::chrono::seconds time_limit = std::chrono::seconds(60);
};
base::ProcessResult run(const QemuRun& options);

/// Returns the instructions in the line of `counts` that starts with `scope`; 0 if no line does.
long counted(const std::string& counts, const std::string& scope);

}  // namespace thimble::firmware_test
