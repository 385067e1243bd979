// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of the compiler for partitioners and delegates of other compilers: which nodes each
// engine runs, and a partition as the payload of one delegate call.

#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/progress.h"
#include "base/result.h"
#include "capi/session.h"

namespace thimble::capi {

/// Returns driver::engine_nodes() as JSON: `engines`, `nodes`, `refused`. `options` are those of
/// `thimble compile`.
[[nodiscard]] Result<std::string> engine_nodes(const ModelSource& source, const std::string& target,
                                               const Words& options,
                                               const ProgressFunction& progress);

struct DelegatePayload {
  std::string id;  // backend id in the file
  Bytes payload;
  std::vector<std::pair<std::string, Bytes>> named;        // named data of the payload, by key
  std::vector<std::pair<std::string, std::string>> files;  // for the firmware's build, by name
  std::string report_json;  // engine, inputs, outputs, operators with cycles and source lines
};
/// Returns the result of driver::compile_delegate().
[[nodiscard]] Result<DelegatePayload> compile_delegate(const ModelSource& source,
                                                       const std::string& target,
                                                       const Words& options,
                                                       const ProgressFunction& progress);

}  // namespace thimble::capi
