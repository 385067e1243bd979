#pragma once
// Text tests: a file holds its input and the expected output, so that a reader sees both.
//
//   comments and input
//   // ----
//   expected output
//
// With THIMBLE_BLESS=1 in the environment the expected part is rewritten with what came out; the
// difference is then reviewed in git.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::test {

/// The files tests/text/<folder>/*.ir as `<folder>/<name>.ir`, sorted.
[[nodiscard]] std::vector<std::string> text_files(std::string_view folder);

/// From the input part and the file's name (for located errors) to the output, or the text
/// `error: <message>` and a line end.
using TextStage = std::function<std::string(std::string_view input, std::string_view name)>;

/// Runs one file through the stage and compares, or blesses.
void check_text_file(const std::string& name, const TextStage& stage);

/// As above for a file of trials: lines `? <trial>`, each followed by `= <answer>` or `! <answer>`.
/// The other lines, less comments, are the prelude that every trial gets. An answer comes with its
/// mark.
using TrialStage = std::function<std::string(std::string_view prelude, std::string_view trial)>;
void check_trial_file(const std::string& name, const TrialStage& stage);

}  // namespace thimble::test
