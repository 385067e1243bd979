// SPDX-License-Identifier: Apache-2.0
// The first stage of compile(): a `.pt2` becomes a float graph.

#include <algorithm>
#include <map>
#include <span>

#include "base/cancel.h"
#include "driver/stages.h"
#include "formats/kind/file_kind.h"
#include "formats/pt2/reader.h"
#include "import/import.h"
#include "ir/dce.h"
#include "ir/print.h"
#include "passes/pipeline.h"

namespace thimble::driver {
namespace {

namespace fs = std::filesystem;

/// Returns true for the frame of a camera, whose last dimension has the bytes of a pixel.
bool is_frame(const ir::Graph& graph, ir::ValueId input) {
  return std::ranges::any_of(graph.ops(), [&](const ir::Op& op) {
    return op.kind == ir::OpKind::camera_image && op.inputs[0] == input;
  });
}

Status declare_channels_last(ir::Graph* graph) {
  for (const auto& values : {graph->inputs(), graph->outputs()}) {
    for (const ir::ValueId id : values) {
      if (graph->type(id).shape.size() != 4 || is_frame(*graph, id)) continue;
      graph->value(id).type.dim_order = ir::channels_last_order();
    }
  }
  const auto is_image = [&](ir::ValueId id) {
    return graph->type(id).shape.size() == 4 && !is_frame(*graph, id);
  };
  if (std::none_of(graph->inputs().begin(), graph->inputs().end(), is_image)) {
    return bad_input("--io-layout nhwc: the model has no input of four dimensions");
  }
  return ok();
}

int64_t count_parameters(const ir::Graph& graph) {
  int64_t count = 0;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const ir::Value& value = graph.value(static_cast<ir::ValueId>(i));
    if (value.constant) count += value.type.elements();
  }
  return count;
}

Result<import_pt2::ImportedModel> read_model(const fs::path& model,
                                             const std::map<std::string, int64_t>& shapes,
                                             std::vector<ir::RefusedNode>* refused = nullptr) {
  const Result<formats::pt2::ExportedProgram> read = formats::pt2::read(model);
  if (!read) return formats::explain_file(model, formats::FileUse::kExport, read.error());
  const formats::pt2::ExportedProgram& program = *read;
  import_pt2::ImportOptions options;
  options.shapes = shapes;
  options.refused = refused;
  return import_pt2::import_program(program, options, model.filename().string());
}

/// Runs passes::run_float_passes pass by pass: records removed operators and saves changed graphs.
Result<ir::Graph> run_passes(const ir::Graph& imported, std::span<const std::string> skipped,
                             StageFiles* files, OpProvenance* provenance) {
  for (const std::string& name : skipped) {
    if (passes::find_pass(name) == nullptr) {
      return bad_input("--skip-passes {}: no such pass: `thimble opt --list` prints them", name);
    }
  }
  ir::Graph current = ir::remove_unused(imported);
  for (const passes::Pass& pass : passes::float_passes()) {
    if (std::ranges::find(skipped, pass.name) != skipped.end()) continue;
    THIMBLE_TRY(ir::Graph next, passes::run_pass(pass, current));
    provenance->step(current, next, pass.removal_reason);
    if (files->wanted() && ir::print(next) != ir::print(current)) {
      THIMBLE_CHECK(files->save(fmt::format("{}.ir", pass.name), next));
    }
    current = std::move(next);
  }
  return current;
}

/// --input-mean and --input-std as the format of the input that they apply to.
Result<std::vector<passes::InputFormat>> input_formats(const ir::Graph& graph,
                                                       const CompileOptions& options) {
  std::vector<passes::InputFormat> formats = options.preprocess;
  if (options.input_mean.empty() && options.input_std.empty()) return formats;
  std::vector<passes::InputFormat> found;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& value = graph.value(id);
    const quant::Io io = options.io.of(value.name);
    const bool sensor = io == quant::Io::kUint8 || io == quant::Io::kInt16;
    if (!sensor || value.type.dtype != ir::DType::kF32) continue;
    passes::InputFormat format;
    format.input = value.name;
    format.format = quant::io_name(io);
    format.mean = options.input_mean;
    format.std = options.input_std;
    format.text = fmt::format("{}: {}", value.name, format.format);
    if (!format.mean.empty())
      format.text += fmt::format(" -> mean {}", fmt::join(format.mean, ","));
    if (!format.std.empty()) format.text += fmt::format(" -> std {}", fmt::join(format.std, ","));
    found.push_back(std::move(format));
  }
  if (found.size() != 1) {
    return bad_input(
        "--input-mean, --input-std: {} inputs are uint8 or int16, one expected: --io NAME=uint8, "
        "or "
        "--preprocess for each input",
        found.size());
  }
  formats.push_back(std::move(found[0]));
  return formats;
}

}  // namespace

std::vector<std::string> pass_names() {
  return passes::pass_names();
}

Result<ir::Graph> load_float_graph(const fs::path& model,
                                   const std::map<std::string, int64_t>& shapes,
                                   const std::vector<passes::InputFormat>& preprocess) {
  THIMBLE_TRY(const import_pt2::ImportedModel imported, read_model(model, shapes));
  if (preprocess.empty()) return passes::run_float_passes(imported.graph);
  THIMBLE_TRY(const ir::Graph whole, passes::add_prologue(imported.graph, preprocess));
  return passes::run_float_passes(whole);
}

Result<FloatModel> import_model(const fs::path& path, const CompileOptions& options,
                                StageFiles* files, std::vector<ir::RefusedNode>* refused) {
  report_progress(options.progress, "importing");
  THIMBLE_CHECK(check_cancelled());
  THIMBLE_TRY(import_pt2::ImportedModel read, read_model(path, options.shapes, refused));
  FloatModel model{path.filename().string(),
                   std::move(read.graph),
                   {},
                   OpProvenance(std::move(read.nodes)),
                   std::move(read.notes),
                   read.has_dynamic_quantization};
  THIMBLE_TRY(const auto formats, input_formats(model.imported, options));
  if (!formats.empty()) {
    THIMBLE_TRY(model.imported, passes::add_prologue(model.imported, formats));
  }
  model.provenance.begin(model.imported);
  THIMBLE_CHECK(files->save("imported.ir", model.imported));
  THIMBLE_TRY(model.graph,
              run_passes(model.imported, options.skip_passes, files, &model.provenance));
  if (options.io_channels_last) THIMBLE_CHECK(declare_channels_last(&model.graph));
  THIMBLE_CHECK(files->save("float.ir", model.graph));
  model.parameters = count_parameters(model.graph);
  return model;
}

void release_float_constants(FloatModel* model) {
  const auto none = std::make_shared<const ir::Tensor>();
  for (size_t i = 0; i < model->graph.value_count(); ++i) {
    ir::TensorPtr& constant = model->graph.value(static_cast<ir::ValueId>(i)).constant;
    if (constant != nullptr) constant = none;
  }
}

void release_imported_constants(FloatModel* model) {
  for (size_t i = 0; i < model->imported.value_count(); ++i) {
    model->imported.value(static_cast<ir::ValueId>(i)).constant.reset();
  }
}

}  // namespace thimble::driver
