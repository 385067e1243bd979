// SPDX-License-Identifier: Apache-2.0
#include "tools/engine_cli.h"

namespace thimble::tools {

std::vector<std::unique_ptr<EngineCli>> engine_clis() {
  std::vector<std::unique_ptr<EngineCli>> clis;
  for (EngineCliMaker* const make : engine_cli_rows()) clis.push_back(make());
  return clis;
}

}  // namespace thimble::tools
