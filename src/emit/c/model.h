#pragma once
// A `.pte` as straight-line C11: what its instructions do, written out call by call, with every
// address known when it is compiled. No interpreter, no heap, no check: the compiler has made sure.
//
// It is written from the program, not from the graph, so that nothing can stand in one and not in
// the other. docs/c-output.md says what a user sees.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::emit::c {

/// The kernel that an instruction calls.
struct Kernel {
  std::string variant;    // "mve"
  std::string op;         // id of abi/pte_ops.def: "thimble_conv2d_mve"
  std::string arguments;  // letters
  bool bare = false;      // it needs no more than the places of its operands
};

struct Options {
  std::string name;                 // what begins every name in the C, an identifier
  std::string target;               // "cortex-m4"
  std::vector<Kernel> kernels;      // of the instructions, in order
  std::vector<std::string> calls;   // what the instructions make, for hooks and comments
  std::vector<std::string> inputs;  // what the user calls them, for comments
  std::vector<std::string> outputs;
  /// The caller may write inputs into the arena itself; else run copies those that lie there.
  bool owns_inputs = false;
  /// Whether a linker file (emit/linker_file.h) says where arrays lie; and the memories, by name,
  /// to which constants are loaded.
  bool placed = false;
  std::vector<std::string> loaded = {};
};

struct Model {
  std::string header, source;
  bool has_calls = false;  // of kernels that are not bare: the source wants kernels/c_call.h
};

/// What names in the C begin with: a file's name as an identifier.
[[nodiscard]] std::string model_name(std::string_view stem);

/// The program has one plan, of Thimble's own. Anything but kernel calls in it is `unsupported`.
[[nodiscard]] Result<Model> write(const formats::pte::Program& program, const Options& options);

}  // namespace thimble::emit::c
