// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the source line and the module of a node in the two metadata strings of the node.

#include <string>
#include <string_view>

#include "formats/pt2/program.h"

namespace thimble::formats::pt2 {

/// Returns the last frame of a Python stack trace outside site-packages: the user's own line, not
/// the line in torch/nn that it calls. If no such frame exists, returns the last frame outside the
/// torch packages (torchvision's models are in site-packages), or an empty SourceLine. If the
/// user's line calls a model in site-packages, the text ends with the model's last frame:
/// `return self.m(ids)  (bert.py:21: s = s + mask)`.
[[nodiscard]] SourceLine parse_stack_trace(std::string_view trace);

struct ModuleName {
  std::string path;  // "features.3.conv"
  std::string type;  // "torch.nn.modules.conv.Conv2d"
};
/// Returns the innermost module of `key,path,type;key,path,type`.
[[nodiscard]] ModuleName parse_module_stack(std::string_view stack);

}  // namespace thimble::formats::pt2
