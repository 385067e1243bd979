// SPDX-License-Identifier: Apache-2.0
#include "tests/text/text_runner.h"
#include "tests/folders.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace thimble::test {
namespace {

const std::filesystem::path kRoot = test::source_folder() / "tests/text";
constexpr std::string_view kSeparator = "// ----\n";

std::string read(const std::string& name) {
  std::ifstream file(kRoot / name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name << " cannot be read";
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void compare(const std::string& name, const std::string& found, const std::string& expected) {
  if (found == expected) return;
  if (std::getenv("THIMBLE_BLESS") != nullptr) {
    std::ofstream(kRoot / name, std::ios::binary) << found;
    return;
  }
  EXPECT_EQ(found, expected) << "tests/text/" << name << ": set THIMBLE_BLESS=1 to accept";
}

}  // namespace

std::vector<std::string> text_files(std::string_view folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / folder)) {
    if (entry.path().extension() != ".ir") continue;
    names.push_back(std::string(folder) + "/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void check_text_file(const std::string& name, const TextStage& stage) {
  const std::string text = read(name);
  const std::string input = text.substr(0, text.find(kSeparator));
  compare(name, input + std::string(kSeparator) + stage(input, name), text);
}

void check_trial_file(const std::string& name, const TrialStage& stage) {
  const std::string text = read(name);
  std::string prelude;
  std::string found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("= ") || line.starts_with("! ")) continue;
    found += line + "\n";
    if (line.starts_with("? ")) {
      found += stage(prelude, std::string_view(line).substr(2)) + "\n";
    } else {
      prelude += line + "\n";
    }
  }
  compare(name, found, text);
}

}  // namespace thimble::test
