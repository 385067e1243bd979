// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of the compiler for other programs: what the C API (thimble_c.h) and the Python
// package share. Options are those of the command line, reports are its JSON.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"
#include "base/progress.h"
#include "base/result.h"
#include "base/work_folder.h"
#include "capi/words.h"
#include "driver/compile.h"
#include "driver/data.h"
#include "ir/tensor.h"
#include "tools/command_line.h"
#include "tools/inputs.h"
#include "tools/model.h"

namespace thimble::capi {

/// A file, or the bytes of one.
struct ModelSource {
  std::filesystem::path path;          // may be empty if there are bytes
  std::shared_ptr<const Bytes> bytes;  // used if not null
  std::string name;                    // "net.pt2"
  std::string shown = {};              // in messages about bytes: "the exported model"; empty: name

  [[nodiscard]] Result<std::shared_ptr<const Bytes>> read() const;
};

/// A path to a model while the object lives: its own file, or a temporary one with the bytes.
class ModelFile {
 public:
  static Result<ModelFile> open(const ModelSource& source);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Returns the error with the text for bytes in place of the temporary file.
  [[nodiscard]] Error shown(Error error) const;

 private:
  std::optional<base::WorkFolder> folder_;
  std::filesystem::path path_;
  std::string shown_;
};

/// Calls work(path) with the path of the model. Its errors do not name a temporary file.
template <typename Work>
auto with_file(const ModelSource& source, const Work& work)
    -> std::invoke_result_t<Work, const std::filesystem::path&> {
  THIMBLE_TRY(const ModelFile file, ModelFile::open(source));
  auto result = work(file.path());
  if (!result.ok()) return file.shown(result.error());
  return result;
}

/// Returns the options of a verb: "compile", "fit".
[[nodiscard]] std::vector<tools::OptionFacts> options_of(std::string_view verb);

/// Returns true for an option of "compile" that says what and where the program writes: here it is
/// a function.
[[nodiscard]] bool is_program_option(std::string_view name);

struct CompileRequest {
  ModelSource model;
  std::string target;
  Words options;                                        // of `thimble compile`
  std::shared_ptr<const driver::SampleArrays> samples;  // null: `calibration` is used
  ModelSource calibration;                              // a file, or "random"; empty: none
};

/// A compiled model. Functions may be called from several threads.
class CompiledModel {
 public:
  static Result<std::shared_ptr<CompiledModel>> compile(CompileRequest request,
                                                        const ProgressFunction& progress);
  /// Restores a model from the parts that `state` returned. It is compiled again when a function
  /// needs more than these.
  struct State {
    Bytes pte;
    std::string report_json, report_html;
    std::string version;     // of the program that compiled the model
    bool is_shared = false;  // the file is for an arena of several models
  };
  static std::shared_ptr<CompiledModel> restore(CompileRequest request, State state);
  /// Returns the models for one arena (`--share-arena`), and what the program says about it.
  /// `exclusive`: one model runs at a time.
  struct Shared {
    std::vector<std::shared_ptr<CompiledModel>> models;
    std::string summary;
  };
  static Result<Shared> share_arena(const std::vector<std::shared_ptr<CompiledModel>>& models,
                                    bool exclusive);
  [[nodiscard]] const CompileRequest& request() const { return request_; }
  [[nodiscard]] const State& state() const { return state_; }

  [[nodiscard]] const Bytes& pte() const { return state_.pte; }
  /// Name of the `.pte`: "net.pte".
  [[nodiscard]] std::string label() const;
  /// Writes the `.pte`, and the files that the options request, in its folder.
  [[nodiscard]] Status save(const std::filesystem::path& path);
  /// C sources by file name (`--emit c --c-layout LAYOUT`).
  [[nodiscard]] Result<std::map<std::string, std::string>> to_c(const std::string& layout);
  /// The report as a page (`--report x.html`) and as the text that the program prints.
  [[nodiscard]] Result<std::string> report_html();
  [[nodiscard]] Result<std::string> report_text();
  /// Result of `thimble compare --json`. `data` is used if `samples` is null.
  [[nodiscard]] Result<std::string> compare(std::shared_ptr<const driver::SampleArrays> samples,
                                            const std::filesystem::path& data, const Words& options,
                                            const ProgressFunction& progress) const;

 private:
  struct Live;  // arguments and result of the compilation
  CompiledModel() = default;
  /// `c_layout`: for C output in this layout instead of the requested files; empty: not.
  static Result<std::shared_ptr<Live>> compile_live(const CompileRequest& request,
                                                    const std::string& c_layout,
                                                    const ProgressFunction& progress);
  static Result<std::shared_ptr<Live>> compile_files(const CompileRequest& request,
                                                     const std::filesystem::path& model,
                                                     const std::filesystem::path& samples,
                                                     const std::string& c_layout,
                                                     const ProgressFunction& progress);
  [[nodiscard]] Result<std::shared_ptr<Live>> live();

  CompileRequest request_;
  State state_;
  std::mutex mutex_;
  std::shared_ptr<Live> live_;  // null: restored
};

/// Runs a model again and again. Not for several threads at once.
class Interpreter {
 public:
  /// `options` are those of `thimble run`: --on, --target, --time-limit, --fvp. `input_names`: of
  /// the model, if the file has none; may be empty.
  static Result<std::unique_ptr<Interpreter>> open(const ModelSource& source, const Words& options,
                                                   const Words& input_names = {});
  [[nodiscard]] const tools::Model& model() const { return model_; }
  /// Returns a tensor for each output. Samples of several calls are accepted as by `thimble run`.
  /// The next call continues with the states of this one.
  [[nodiscard]] Result<std::vector<ir::Tensor>> run(std::span<const tools::InputArray> arrays,
                                                    bool steps);
  /// Returns true if inputs of exactly the types and shapes of the ports can be read in place.
  [[nodiscard]] bool runs_in_place() const;
  /// Runs one call with the inputs in place, and the outputs in the memory of the model, which are
  /// valid until the next run.
  [[nodiscard]] Result<std::vector<ByteView>> run_in_place(std::span<const ByteView> inputs);
  /// Sets the states to their initial values.
  Status reset();

 private:
  Interpreter() = default;
  tools::Model model_;
  tools::Calls past_;  // on a board: the calls since the last reset of a model with state
};

/// Result of `thimble run --profile --json`. Without arrays, the inputs are zeros. `input_names` as
/// for Interpreter::open.
[[nodiscard]] Result<std::string> profile(const ModelSource& source, const Words& options,
                                          std::vector<tools::InputArray> arrays,
                                          const Words& input_names,
                                          const ProgressFunction& progress);

struct FitRequest {
  std::vector<ModelSource> models;
  std::vector<std::shared_ptr<const driver::SampleArrays>> samples;  // one per model; may be null
  Words options;                                                     // of `thimble fit`
};
/// Result of `thimble fit --json`.
[[nodiscard]] Result<std::string> fit(const FitRequest& request, const ProgressFunction& progress);

/// Results of `annotate`, `inspect`, `targets` and `diff` with --json.
[[nodiscard]] Result<std::string> annotate(const ModelSource& source, const std::string& target,
                                           bool arithmetic);
[[nodiscard]] Result<std::string> inspect(const ModelSource& source, bool commands);
[[nodiscard]] Result<std::string> targets(const std::string& name);
[[nodiscard]] Result<std::string> diff(const ModelSource& before, const ModelSource& after,
                                       const Words& options);

/// "0.2.0".
[[nodiscard]] const char* version();

}  // namespace thimble::capi
