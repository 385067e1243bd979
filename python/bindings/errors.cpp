#include "python/bindings/errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "python/bindings/keywords.h"

namespace nb = nanobind;

namespace thimble::python {
namespace {

nb::object exception_of(const Error& error, nb::handle module) {
  const std::string message = with_keywords(error.message);
  if (error.kind == ErrorKind::kCancelled) return module.attr("Cancelled")(message);
  if (error.kind == ErrorKind::kBadInput) return module.attr("BadInput")(message);
  const ErrorFacts facts = error.facts != nullptr ? *error.facts : ErrorFacts();
  if (!facts.memory.empty()) {
    std::vector<std::string> suggestions;
    for (const std::string& each : facts.suggestions) suggestions.push_back(with_keywords(each));
    return module.attr("DoesNotFit")(message, facts.memory, facts.needed_bytes,
                                     facts.available_bytes, suggestions);
  }
  nb::list ops;
  for (const RefusedOp& op : facts.ops) {
    ops.append(module.attr("UnsupportedOp")(op.op, op.source, with_keywords(op.reason), op.text,
                                            op.module));
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
