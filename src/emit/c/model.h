// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a `.pte` as straight-line C11: one block per instruction, with every address known when
// the C is compiled. The C has no interpreter, no heap and no checks: the compiler has checked.
//
// The input is the program, not the graph, so that the C and the `.pte` cannot differ.
// docs/c-output.md describes the generated files.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/chosen_kernel.h"
#include "formats/pte/program.h"

namespace thimble::emit::c {

/// Data of the model that the program does not contain.
struct ModelInfo {
  std::string name;                                 // prefix of every name in the C, an identifier
  std::string target;                               // "cortex-m4"
  std::vector<formats::pte::ChosenKernel> kernels;  // one per instruction, in order
  std::vector<std::string> result_names;            // one per instruction, for hooks and comments
  std::vector<std::string> input_names;             // in the model, for comments
  std::vector<std::string> output_names;
};

struct Options {
  /// The application may write inputs into the arena. If false, run() copies planned inputs.
  bool owns_inputs = false;
  /// `placed`: a linker file (emit/linker_file.h) places the arrays. `loaded`: names of the
  /// memories to which constants are copied at the start.
  bool placed = false;
  std::vector<std::string> loaded = {};
};

struct Model {
  std::string header, source;
  bool includes_c_call = false;  // the source includes kernels/c_call.h
};

/// Prefix of the names in the C: the file's stem as an identifier.
[[nodiscard]] std::string model_name(std::string_view stem);

/// The program must have one plan, in the native dialect. An instruction other than a kernel call
/// is an `unsupported` error.
[[nodiscard]] Result<Model> write(const formats::pte::Program& program, const ModelInfo& info,
                                  const Options& options);

}  // namespace thimble::emit::c
