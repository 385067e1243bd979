#pragma once
// Where in the user's program a node comes from, out of the two metadata strings of a node.

#include <string>
#include <string_view>

#include "formats/pt2/program.h"

namespace thimble::formats::pt2 {

/// The last frame of a Python stack trace outside site-packages: the user's own line, not the line
/// of torch/nn that it ends in. Without such a frame the last one outside the torch package (models
/// of torchvision live in site-packages), else the last.
[[nodiscard]] SourceLine parse_stack_trace(std::string_view trace);

struct ModuleName {
  std::string path;  // "features.3.conv"
  std::string type;  // "torch.nn.modules.conv.Conv2d"
};
/// The innermost module of `key,path,type;key,path,type`.
[[nodiscard]] ModuleName parse_module_stack(std::string_view stack);

}  // namespace thimble::formats::pt2
