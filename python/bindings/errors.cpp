#include "python/bindings/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace thimble::python {
namespace {

nb::object exception_of(const Error& error, nb::handle module) {
  if (error.kind == ErrorKind::kCancelled) return module.attr("Cancelled")(error.message);
  if (error.kind == ErrorKind::kBadInput) return module.attr("BadInput")(error.message);
  const ErrorFacts facts = error.facts != nullptr ? *error.facts : ErrorFacts();
  if (!facts.memory.empty()) {
    return module.attr("DoesNotFit")(error.message, facts.memory, facts.needed_bytes,
                                     facts.available_bytes, facts.suggestions);
  }
  nb::list ops;
  for (const RefusedOp& op : facts.ops) {
    ops.append(module.attr("UnsupportedOp")(op.op, op.source, op.reason, op.text, op.module));
  }
  return module.attr("Unsupported")(error.message, ops);
}

}  // namespace

void raise(const Error& error) {
  const nb::module_ module = nb::module_::import_("thimble_ml._errors");
  const nb::object exception = exception_of(error, module);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace thimble::python
