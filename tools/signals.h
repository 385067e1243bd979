// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signals that end the program from outside.

#include "base/cancel.h"

namespace thimble::tools {

/// On POSIX systems, SIGINT, SIGTERM and SIGHUP cancel the work of the calling thread, so that its
/// temporary files are removed; work that does not end soon is ended. A signal that the parent
/// process ignores stays ignored. A file that becomes too large is an error of the write.
class SignalScope {
 public:
  SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
  /// Ends the process by the signal, if there was one.
  ~SignalScope();

 private:
  CancelScope cancel_;
};

}  // namespace thimble::tools
