// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors of the compiler as Python exceptions (thimble_ml/_errors.py).

#include "base/result.h"

namespace thimble::python {

/// Throws the exception for the error, with its facts.
[[noreturn]] void raise(const Error& error);

/// Returns the value of the result, or throws the exception for its error.
template <typename T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

}  // namespace thimble::python
