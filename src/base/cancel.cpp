// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.h"

namespace thimble {
namespace {

thread_local const Cancellation* current = nullptr;

}  // namespace

CancelScope::CancelScope(const Cancellation* cancellation) : outer_(current) {
  current = cancellation;
}

CancelScope::~CancelScope() {
  current = outer_;
}

const Cancellation* current_cancellation() {
  return current;
}

bool is_cancelled() {
  return current != nullptr && current->is_cancelled();
}

Status check_cancelled() {
  if (!is_cancelled()) return ok();
  return Error{ErrorKind::kCancelled, "cancelled"};
}

}  // namespace thimble
