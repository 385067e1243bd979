// SPDX-License-Identifier: Apache-2.0
// The extension module `_thimble`. The package thimble_ml is its documented interface: it turns
// objects of PyTorch into bytes and NumPy arrays, and reports (JSON) into Python objects.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "capi/calls.h"
#include "capi/delegates.h"
#include "capi/session.h"
#include "driver/compile.h"
#include "ir/dtype_text.h"
#include "python/bindings/arrays.h"
#include "python/bindings/errors.h"
#include "python/bindings/job.h"
#include "python/bindings/keywords.h"
#include "python/bindings/options.h"
#include "tools/output.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace thimble::python {
namespace {

/// The package's files must have the same number (python/thimble_ml/__init__.py). Increase both
/// when this module changes.
constexpr int kInterface = 4;

using capi::CompiledModel;
using capi::ModelSource;
using Items = std::vector<std::vector<NamedArray>>;

Bytes to_bytes(const nb::bytes& bytes) {
  const auto* const data = reinterpret_cast<const std::byte*>(bytes.c_str());
  return {data, data + bytes.size()};
}

nb::bytes to_python(const Bytes& bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// A model as the package gives it: a path, or bytes and a name for messages.
using Source = std::pair<std::string, std::optional<nb::bytes>>;

/// Stem of the name of bytes whose model has no name.
constexpr const char* kNoName = "model";

ModelSource to_source(const Source& source) {
  ModelSource result;
  result.name = std::filesystem::path(source.first).filename().string();
  if (source.second) {
    result.bytes = std::make_shared<const Bytes>(to_bytes(*source.second));
    const std::filesystem::path name(result.name);
    const std::string kind = name.extension() == ".pte" ? "compiled" : "exported";
    result.shown = fmt::format("the {} model", kind);
    if (name.stem() != kNoName) result.shown += " " + name.stem().string();
  } else {
    result.path = source.first;
  }
  return result;
}

/// A model for the package. A file is read, because it may change or vanish.
Source to_python(const ModelSource& source) {
  const std::shared_ptr<const Bytes> bytes = value_of(source.read());
  return {source.name, to_python(*bytes)};
}

std::shared_ptr<const driver::SampleArrays> samples_of(const std::optional<Items>& items,
                                                       const std::string& label) {
  return items ? to_samples(*items, label) : nullptr;
}

std::vector<tools::InputArray> inputs_of(const std::vector<NamedArray>& arrays) {
  std::vector<tools::InputArray> inputs;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const std::string& name = arrays[i].first;
    const std::string label = name.empty() ? fmt::format("input {}", i) : name;
    inputs.push_back({to_npy(arrays[i].second, label), label, name});
  }
  return inputs;
}

std::shared_ptr<CompiledModel> compile(const Source& model, const std::string& target,
                                       const nb::dict& options, const std::optional<Items>& items,
                                       const std::string& calibration, nb::handle progress) {
  capi::CompileRequest request;
  request.model = to_source(model);
  request.target = target;
  request.options = words_of("compile", options);
  request.samples = samples_of(items, "calibration");
  request.calibration.path = calibration;
  return run_job<std::shared_ptr<CompiledModel>>(
      [request = std::move(request)](const ProgressFunction& report) mutable {
        return CompiledModel::compile(std::move(request), report);
      },
      progress);
}

/// Content of a pickle: the request and the results.
using Arrays = std::vector<std::tuple<std::string, int, std::vector<int64_t>, nb::bytes>>;
using PickledState =
    std::tuple<Source, std::string, std::vector<std::string>, std::optional<std::vector<Arrays>>,
               Source, nb::bytes, std::string, std::string, bool, std::string>;

/// The path of the calibration data, and the content of the file.
Source calibration_of(const ModelSource& source) {
  if (source.bytes == nullptr) return {source.path.string(), std::nullopt};
  return {source.path.string(), to_python(*source.bytes)};
}

PickledState get_state(CompiledModel& model) {
  const capi::CompileRequest& request = model.request();
  std::optional<std::vector<Arrays>> items;
  if (request.samples != nullptr) {
    items.emplace();
    for (const formats::npy::NpzArrays& item : request.samples->items) {
      Arrays& arrays = items->emplace_back();
      for (const auto& [name, array] : item) {
        arrays.emplace_back(name, static_cast<int>(array.dtype), array.shape,
                            to_python(array.bytes));
      }
    }
  }
  const CompiledModel::State& state = model.state();
  return {to_python(request.model),
          request.target,
          request.options,
          std::move(items),
          calibration_of(request.calibration),
          to_python(state.pte),
          state.report_json,
          state.report_html,
          state.is_shared,
          state.version};
}

std::shared_ptr<CompiledModel> set_state(const PickledState& pickled) {
  const auto& [source, target, options, items, calibration, pte, json, html, is_shared, version] =
      pickled;
  capi::CompileRequest request;
  request.model = to_source(source);
  request.target = target;
  request.options = options;
  request.calibration = to_source(calibration);
  request.calibration.path = calibration.first;
  if (items) {
    auto samples = std::make_shared<driver::SampleArrays>();
    for (const Arrays& arrays : *items) {
      formats::npy::NpzArrays& item = samples->items.emplace_back();
      for (const auto& [name, dtype, shape, bytes] : arrays) {
        item.emplace_back(name, formats::npy::NpyArray{static_cast<formats::npy::DType>(dtype),
                                                       shape, to_bytes(bytes)});
      }
    }
    request.samples = std::move(samples);
  }
  return CompiledModel::restore(std::move(request),
                                {to_bytes(pte), json, html, version, is_shared});
}

void define_compiled(nb::module_& module) {
  nb::class_<CompiledModel>(module, "CompiledModel", "Result of compile().")
      .def_prop_ro("pte", [](const CompiledModel& model) { return to_python(model.pte()); })
      .def_prop_ro("label", &CompiledModel::label)
      .def_prop_ro("report_json",
                   [](const CompiledModel& model) { return model.state().report_json; })
      .def("report_html",
           [](const std::shared_ptr<CompiledModel>& model) {
             return run_job<std::string>(
                 [model](const ProgressFunction&) { return model->report_html(); }, nb::none());
           })
      .def("report_text",
           [](const std::shared_ptr<CompiledModel>& model) {
             return run_job<std::string>(
                 [model](const ProgressFunction&) { return model->report_text(); }, nb::none());
           })
      .def(
          "save",
          [](const std::shared_ptr<CompiledModel>& model, const std::string& path) {
            run_job<Done>([model, path](const ProgressFunction&) { return model->save(path); },
                          nb::none());
          },
          "path"_a)
      .def(
          "to_c",
          [](const std::shared_ptr<CompiledModel>& model, const std::string& layout) {
            return run_job<std::map<std::string, std::string>>(
                [model, layout](const ProgressFunction&) { return model->to_c(layout); },
                nb::none());
          },
          "layout"_a)
      .def(
          "compare",
          [](const std::shared_ptr<CompiledModel>& model, const std::optional<Items>& items,
             const std::string& path, const nb::dict& options, nb::handle progress) {
            const auto samples = samples_of(items, "data");
            const capi::Words words = words_of("compare", options);
            return run_job<std::string>(
                [model, samples, path, words](const ProgressFunction& report) {
                  return model->compare(samples, path, words, report);
                },
                progress);
          },
          "items"_a.none(), "path"_a, "options"_a, "progress"_a.none())
      .def("__getstate__", &get_state)
      .def_static("restore", &set_state, "state"_a);
}

/// An interpreter for the thread that created it.
struct PyInterpreter {
  std::unique_ptr<capi::Interpreter> interpreter;
  bool runs_in_place = false;
  unsigned long thread = PyThread_get_thread_ident();
  std::atomic<bool> is_running = false;  // also after an interrupted call, until its work ends

  void check_thread() const {
    if (thread == PyThread_get_thread_ident()) return;
    PyErr_SetString(nb::module_::import_("thimble_ml._errors").attr("WrongThread").ptr(),
                    "this Interpreter was created in another thread: create one in each thread");
    throw nb::python_error();
  }
};

/// Resets is_running at the end of the work.
class Running {
 public:
  explicit Running(PyInterpreter& interpreter) : interpreter_(interpreter) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { interpreter_.is_running = false; }

 private:
  PyInterpreter& interpreter_;
};

/// Calls work(interpreter) as a job. The interpreter lives until the work has ended.
template <typename T, typename Work>
T run_on(const std::shared_ptr<PyInterpreter>& self, Work work) {
  self->check_thread();
  if (self->is_running.exchange(true)) {
    raise(bad_input("Interpreter: an interrupted call has not ended yet"));
  }
  return run_job<T>(
      [self, work = std::move(work)](const ProgressFunction&) -> Result<T> {
        const Running running(*self);
        return work(*self->interpreter);
      },
      nb::none());
}

nb::list ports(const std::vector<hostrun::Port>& ports) {
  nb::list rows;
  for (const hostrun::Port& port : ports) {
    nb::object scale = nb::none(), zero_point = nb::none();
    if (port.quant) {
      scale = nb::float_(port.quant->scale[0]);
      zero_point = nb::int_(port.quant->zero_point[0]);
    }
    rows.append(nb::make_tuple(port.name, std::string(ir::dtype_text(port.dtype)),
                               nb::tuple(nb::cast(port.shape)), scale, zero_point));
  }
  return rows;
}

bool can_run_in_place(const PyInterpreter& self, const std::vector<NamedArray>& arrays) {
  const std::vector<hostrun::Port>& ports = self.interpreter->model().inputs;
  if (!self.runs_in_place || arrays.size() != ports.size()) return false;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!arrays[i].first.empty()) return false;
    if (!has_type(arrays[i].second, ports[i].dtype, ports[i].shape)) return false;
  }
  return true;
}

/// Runs one call without copies of the inputs. Without `copy`, also without copies of the outputs.
nb::list run_in_place(const std::shared_ptr<PyInterpreter>& self,
                      const std::vector<NamedArray>& arrays, bool copy) {
  // An interrupted call may still read the arrays. They are released with the GIL.
  const std::shared_ptr<std::vector<NamedArray>> kept(new std::vector<NamedArray>(arrays),
                                                      [](std::vector<NamedArray>* memory) {
                                                        const nb::gil_scoped_acquire gil;
                                                        delete memory;
                                                      });
  std::vector<ByteView> inputs;
  for (const auto& [name, array] : *kept) {
    inputs.emplace_back(static_cast<const std::byte*>(array.data()), array.nbytes());
  }
  const auto views = run_on<std::vector<ByteView>>(
      self,
      [kept, inputs](capi::Interpreter& interpreter) { return interpreter.run_in_place(inputs); });
  nb::list results;
  const std::vector<hostrun::Port>& ports = self->interpreter->model().outputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (copy) {
      ir::Tensor tensor{ports[i].dtype, ports[i].shape, {}};
      tensor.bytes.assign(views[i].begin(), views[i].end());
      results.append(to_numpy(std::move(tensor)));
    } else {
      results.append(to_numpy_view(views[i], ports[i].dtype, ports[i].shape, nb::cast(self)));
    }
  }
  return results;
}

void define_interpreter(nb::module_& module) {
  nb::class_<PyInterpreter>(module, "Interpreter", "A model that can be run.")
      .def_static(
          "open",
          [](const Source& source, const nb::dict& options, const capi::Words& input_names) {
            const ModelSource model = to_source(source);
            const capi::Words words = words_of("run", options);
            auto result = std::make_shared<PyInterpreter>();
            result->interpreter = run_job<std::unique_ptr<capi::Interpreter>>(
                [model, words, input_names](const ProgressFunction&) {
                  return capi::Interpreter::open(model, words, input_names);
                },
                nb::none());
            result->runs_in_place = result->interpreter->runs_in_place();
            return result;
          },
          "source"_a, "options"_a, "input_names"_a)
      .def_prop_ro(
          "inputs",
          [](const PyInterpreter& self) { return ports(self.interpreter->model().inputs); })
      .def_prop_ro(
          "outputs",
          [](const PyInterpreter& self) { return ports(self.interpreter->model().outputs); })
      .def_prop_ro("where",
                   [](const PyInterpreter& self) { return self.interpreter->model().where; })
      .def_prop_ro("has_state",
                   [](const PyInterpreter& self) { return self.interpreter->model().has_state; })
      .def(
          "run",
          [](const std::shared_ptr<PyInterpreter>& self, const std::vector<NamedArray>& arrays,
             bool steps, bool copy) {
            self->check_thread();
            if (!steps && can_run_in_place(*self, arrays)) return run_in_place(self, arrays, copy);
            auto outputs = run_on<std::vector<ir::Tensor>>(
                self, [inputs = inputs_of(arrays), steps](capi::Interpreter& interpreter) {
                  return interpreter.run(inputs, steps);
                });
            nb::list results;
            for (ir::Tensor& output : outputs) results.append(to_numpy(std::move(output)));
            return results;
          },
          "arrays"_a, "steps"_a, "copy"_a)
      .def("reset", [](const std::shared_ptr<PyInterpreter>& self) {
        run_on<Done>(self, [](capi::Interpreter& interpreter) { return interpreter.reset(); });
      });
}

void define_functions(nb::module_& module) {
  module.def("compile", &compile, "model"_a, "target"_a, "options"_a, "items"_a.none(),
             "calibration"_a, "progress"_a.none());
  module.def(
      "share_arena",
      [](const std::vector<std::shared_ptr<CompiledModel>>& models, bool exclusive) {
        CompiledModel::Shared shared = run_job<CompiledModel::Shared>(
            [models, exclusive](const ProgressFunction&) {
              return CompiledModel::share_arena(models, exclusive);
            },
            nb::none());
        return std::pair(std::move(shared.models), std::move(shared.summary));
      },
      "models"_a, "exclusive"_a);
  module.def(
      "profile",
      [](const Source& source, const nb::dict& options, const std::vector<NamedArray>& arrays,
         const capi::Words& input_names, nb::handle progress) {
        const ModelSource model = to_source(source);
        const capi::Words words = words_of("run", options);
        auto inputs = std::make_shared<std::vector<tools::InputArray>>(inputs_of(arrays));
        return run_job<std::string>(
            [model, words, inputs, input_names](const ProgressFunction& report) {
              return capi::profile(model, words, std::move(*inputs), input_names, report);
            },
            progress);
      },
      "source"_a, "options"_a, "arrays"_a, "input_names"_a, "progress"_a.none());
  module.def(
      "fit",
      [](const std::vector<Source>& models, const std::vector<std::optional<Items>>& items,
         const nb::dict& options, nb::handle progress) {
        capi::FitRequest request;
        for (const Source& source : models) request.models.push_back(to_source(source));
        for (const std::optional<Items>& each : items) {
          request.samples.push_back(samples_of(each, "calibration"));
        }
        request.options = words_of("fit", options);
        return run_job<std::string>(
            [request](const ProgressFunction& report) { return capi::fit(request, report); },
            progress);
      },
      "models"_a, "items"_a, "options"_a, "progress"_a.none());
  module.def(
      "annotate",
      [](const Source& source, const std::string& target, bool arithmetic) {
        const ModelSource model = to_source(source);
        return run_job<std::string>(
            [model, target, arithmetic](const ProgressFunction&) {
              return capi::annotate(model, target, arithmetic);
            },
            nb::none());
      },
      "source"_a, "target"_a, "arithmetic"_a);
  module.def(
      "engine_nodes",
      [](const Source& source, const std::string& target, const nb::dict& options) {
        const ModelSource model = to_source(source);
        const capi::Words words = words_of("compile", options);
        return run_job<std::string>(
            [model, target, words](const ProgressFunction& report) {
              return capi::engine_nodes(model, target, words, report);
            },
            nb::none());
      },
      "source"_a, "target"_a, "options"_a);
  module.def(
      "program_calls",
      [](const Source& source, const std::string& target, const nb::dict& options,
         bool thimble_operators) {
        const ModelSource model = to_source(source);
        const capi::Words words = words_of("compile", options);
        const capi::ProgramCalls result = run_job<capi::ProgramCalls>(
            [model, target, words, thimble_operators](const ProgressFunction& report) {
              return capi::program_calls(model, target, words, thimble_operators, report);
            },
            nb::none());
        nb::list constants;
        for (const Bytes& bytes : result.constants) constants.append(to_python(bytes));
        return nb::make_tuple(result.json, constants);
      },
      "source"_a, "target"_a, "options"_a, "thimble_operators"_a);
  module.def(
      "compile_delegate",
      [](const Source& source, const std::string& target, const nb::dict& options) {
        const ModelSource model = to_source(source);
        const capi::Words words = words_of("compile", options);
        capi::DelegatePayload result = run_job<capi::DelegatePayload>(
            [model, target, words](const ProgressFunction& report) {
              return capi::compile_delegate(model, target, words, report);
            },
            nb::none());
        nb::list named;
        for (const auto& [key, bytes] : result.named) {
          named.append(nb::make_tuple(key, to_python(bytes)));
        }
        return nb::make_tuple(result.id, to_python(result.payload), named, result.files,
                              result.report_json);
      },
      "source"_a, "target"_a, "options"_a);
  module.def(
      "inspect",
      [](const Source& source, bool commands) {
        const ModelSource model = to_source(source);
        return run_job<std::string>(
            [model, commands](const ProgressFunction&) { return capi::inspect(model, commands); },
            nb::none());
      },
      "source"_a, "commands"_a);
  module.def(
      "targets", [](const std::string& name) { return value_of(capi::targets(name)); }, "name"_a);
  module.def(
      "diff",
      [](const Source& before, const Source& after, const nb::dict& options) {
        const ModelSource first = to_source(before), second = to_source(after);
        const capi::Words words = words_of("diff", options);
        return run_job<std::string>(
            [first, second, words](const ProgressFunction&) {
              return capi::diff(first, second, words);
            },
            nb::none());
      },
      "before"_a, "after"_a, "options"_a);
  module.def(
      "write_file",
      [](const std::string& path, const nb::bytes& bytes) {
        const auto content = std::make_shared<const Bytes>(to_bytes(bytes));
        run_job<Done>(
            [path, content](const ProgressFunction&) -> Status {
              tools::OutputFiles files;
              THIMBLE_CHECK(files.add(path, *content));
              return files.commit();
            },
            nb::none());
      },
      "path"_a, "bytes"_a);
  module.def("options", &option_rows, "verb"_a, "all"_a);
  module.def("with_keywords", &with_keywords, "text"_a);
  module.def("pass_names", &driver::pass_names);
}

}  // namespace
}  // namespace thimble::python

NB_MODULE(_thimble, module) {
  using namespace thimble::python;
  module.attr("INTERFACE") = kInterface;
  module.attr("__version__") = thimble::capi::version();
  define_compiled(module);
  define_interpreter(module);
  define_functions(module);
  // The process must not end while the thread of an interrupted call runs.
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&wait_for_abandoned_work));
  nb::module_::import_("os").attr("register_at_fork")("after_in_child"_a =
                                                          nb::cpp_function(&forget_abandoned_work));
}
