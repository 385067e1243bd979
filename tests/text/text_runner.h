// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text tests: a file holds its input and the expected output.
//
//   comments and input
//   // ----
//   expected output
//
// With THIMBLE_BLESS=1 in the environment, the actual output replaces the expected part. The
// difference is then reviewed in git.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::test {

/// Returns the files tests/text/<folder>/*.ir as `<folder>/<name>.ir`, sorted.
[[nodiscard]] std::vector<std::string> text_files(std::string_view folder);

/// Maps the input part and the file's name (for located errors) to the output, or to the text
/// `error: <message>` and a newline.
using TextStage = std::function<std::string(std::string_view input, std::string_view name)>;

/// Runs one file through the stage and compares the output, or rewrites the expected part.
void check_text_file(const std::string& name, const TextStage& stage);

/// Runs a file of trials: lines `? <trial>`, each followed by `= <answer>` or `! <answer>`. All
/// other lines except comments are the prelude, which every trial receives. An answer includes its
/// mark.
using TrialStage = std::function<std::string(std::string_view prelude, std::string_view trial)>;
void check_trial_file(const std::string& name, const TrialStage& stage);

}  // namespace thimble::test
