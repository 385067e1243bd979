// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "python/bindings/keywords.h"

namespace nb = nanobind;

namespace thimble::python {
namespace {

/// A text of the compiler. It may quote bytes of a damaged file that are no UTF-8.
nb::object text_of(const std::string& text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

nb::object exception_of(const Error& error, nb::handle module) {
  const nb::object message = text_of(with_keywords(error.message));
  if (error.kind == ErrorKind::kCancelled) return module.attr("Cancelled")(message);
  if (error.kind == ErrorKind::kBadInput) return module.attr("BadInput")(message);
  const ErrorFacts facts = error.facts != nullptr ? *error.facts : ErrorFacts();
  if (!facts.memory.empty()) {
    nb::list suggestions;
    for (const std::string& each : facts.suggestions) {
      suggestions.append(text_of(with_keywords(each)));
    }
    return module.attr("DoesNotFit")(message, facts.memory, facts.needed_bytes,
                                     facts.available_bytes, suggestions);
  }
  nb::list ops;
  for (const RefusedOp& op : facts.ops) {
    ops.append(module.attr("UnsupportedOp")(text_of(op.op), text_of(op.source),
                                            text_of(with_keywords(op.reason)), text_of(op.text),
                                            text_of(op.module)));
  }
  return module.attr("Unsupported")(message, ops);
}

}  // namespace

void raise(const Error& error) {
  const nb::module_ module = nb::module_::import_("thimble_ml._errors");
  const nb::object exception = exception_of(error, module);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace thimble::python
