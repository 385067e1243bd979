// SPDX-License-Identifier: Apache-2.0
#include "formats/pt2/reader.h"

#include <algorithm>
#include <utility>

#include "formats/pt2/json.h"
#include "formats/pt2/parse_graph.h"

namespace thimble::formats::pt2 {

namespace {

constexpr std::string_view kReexport = "re-export the model with PyTorch 2.9 or later";
constexpr std::string_view kWeights = "data/weights/";
constexpr std::string_view kConstants = "data/constants/";

/// An archive and the folder in it that contains all members.
struct Package {
  std::shared_ptr<const zip::Archive> archive;
  std::string top_folder;  // "mobilenet_v2/", or empty
  std::string model_name;  // "model" by default; set when the model is exported

  Error error(std::string_view what) const { return bad_input("{}: {}", archive->name(), what); }
  const zip::Member* find(std::string_view member) const {
    return archive->find(top_folder + std::string(member));
  }
  Result<Bytes> read(std::string_view member) const {
    return archive->read(top_folder + std::string(member), member);
  }
  Result<json::Document> read_json(std::string_view member) const {
    THIMBLE_TRY(Bytes text, read(member));
    return json::Document::parse(std::move(text), fmt::format("{}: {}", archive->name(), member));
  }
};

/// Finds the folder of `archive_format`, which every archive of PyTorch 2.8 and later contains.
Status find_top_folder(Package& package) {
  constexpr std::string_view kMarker = "archive_format";
  for (const zip::Member& member : package.archive->members()) {
    const std::string_view name = member.name;
    const size_t slash = name.find('/');
    const size_t start = slash == std::string_view::npos ? 0 : slash + 1;
    if (name.substr(start) != kMarker) continue;
    package.top_folder = name.substr(0, start);
    return ok();
  }
  for (const zip::Member& member : package.archive->members()) {
    if (member.name.ends_with("serialized_exported_program.json")) {
      return package.error(
          fmt::format("the archive has the layout of an old PyTorch: {}", kReexport));
    }
    if (member.name.ends_with("data.pkl")) {
      return package.error(
          fmt::format("contains data.pkl, as torch.save and torch.jit.save write it, "
                      "expected an archive of torch.export.save: {}",
                      kReexport));
    }
  }
  return package.error(
      fmt::format("no archive_format member, expected an archive of "
                  "torch.export.save: {}",
                  kReexport));
}

/// Checks a small text member: it may be absent; otherwise it must be equal to `expected`.
Status check_text(const Package& package, std::string_view member, std::string_view expected) {
  constexpr uint64_t kTextBytesMax = 64;
  const zip::Member* found = package.find(member);
  if (!found) return ok();
  std::string text = "a long text";
  if (found->size_bytes <= kTextBytesMax) {
    THIMBLE_TRY(const Bytes bytes, package.read(member));
    text.clear();
    for (const char c : as_text(bytes)) text += c >= 0x20 && c < 0x7F ? c : '?';
  }
  if (text == expected) return ok();
  return package.error(fmt::format("{}: expected \"{}\", found \"{}\"", member, expected, text));
}

/// Finds the model: exactly one `models/NAME.json` must exist.
Status find_model(Package& package) {
  const std::string folder = package.top_folder + "models/";
  for (const zip::Member& member : package.archive->members()) {
    std::string_view name = member.name;
    if (!name.starts_with(folder) || !name.ends_with(".json")) continue;
    name.remove_prefix(folder.size());
    name.remove_suffix(std::min<size_t>(name.size(), 5));
    if (name.find('/') != std::string_view::npos) continue;
    if (!package.model_name.empty()) {
      return package.error(
          fmt::format("contains the models {} and {}, expected one", package.model_name, name));
    }
    package.model_name = name;
  }
  if (package.model_name.empty()) {
    return package.error(
        fmt::format("no models/*.json, expected an archive of torch.export.save: "
                    "{}",
                    kReexport));
  }
  return ok();
}

Status add_payloads(const Package& package, std::string_view folder, std::string_view kind,
                    NameMap<Payload>& payloads) {
  const std::string config = fmt::format("{}{}_{}_config.json", folder, package.model_name, kind);
  if (!package.find(config)) {
    return package.error(
        fmt::format("no {}: the archive has the layout of an old PyTorch: {}", config, kReexport));
  }
  THIMBLE_TRY(const json::Document document, package.read_json(config));
  return parse_payloads(document, folder, payloads);
}

bool has_payload(InputKind kind) {
  return kind == InputKind::kParameter || kind == InputKind::kBuffer ||
         kind == InputKind::kTensorConstant;
}

/// Compares the two descriptions of each tensor, in the graph and in a config. Without this check,
/// a compiler that uses the sizes of one and the bytes of the other could read out of bounds.
Status check_agreement(const Package& package, const Model& model, const Weights& weights) {
  for (const InputSpec& spec : model.input_specs) {
    if (!has_payload(spec.kind)) continue;
    const Payload* payload = weights.find(spec.target);
    const TensorMeta* in_graph = model.graph.tensor(spec.value_name);
    if (!payload) {
      return package.error(fmt::format("the graph uses {}, which no config lists", spec.target));
    }
    if (!in_graph) {
      return package.error(
          fmt::format("the signature calls {} a tensor, but the graph does not", spec.value_name));
    }
    // A pickled object is rejected when it is read, with a better message than this one.
    if (!payload->has_tensor) continue;
    if (payload->meta.dtype != in_graph->dtype || payload->meta.sizes != in_graph->sizes) {
      return package.error(fmt::format("{} is {} in its config and {} in the graph", spec.target,
                                       describe(payload->meta), describe(*in_graph)));
    }
  }
  return ok();
}

Result<ExportedProgram> read_archive(zip::Archive opened) {
  Package package{std::make_shared<const zip::Archive>(std::move(opened)), {}, {}};
  THIMBLE_CHECK(find_top_folder(package));
  THIMBLE_CHECK(check_text(package, "archive_format", "pt2"));
  THIMBLE_CHECK(check_text(package, "byteorder", "little"));
  THIMBLE_CHECK(find_model(package));

  const std::string model_member = fmt::format("models/{}.json", package.model_name);
  THIMBLE_TRY(const json::Document document, package.read_json(model_member));
  THIMBLE_TRY(Model model, parse_model(document));

  NameMap<Payload> payloads;
  THIMBLE_CHECK(add_payloads(package, kWeights, "weights", payloads));
  THIMBLE_CHECK(add_payloads(package, kConstants, "constants", payloads));
  Weights weights(package.archive, package.top_folder, std::move(payloads));
  THIMBLE_CHECK(check_agreement(package, model, weights));

  int64_t archive_bytes = 0;
  for (const zip::Member& member : package.archive->members()) {
    archive_bytes += static_cast<int64_t>(member.size_bytes);
  }
  return ExportedProgram{package.archive->name(),
                         std::move(model.torch_version),
                         model.schema_minor,
                         std::move(model.graph),
                         std::move(model.input_specs),
                         std::move(model.output_specs),
                         std::move(model.range_constraints),
                         std::move(weights),
                         archive_bytes};
}

}  // namespace

Result<ExportedProgram> read(const std::filesystem::path& path) {
  THIMBLE_TRY(zip::Archive archive, zip::Archive::open(path));
  return read_archive(std::move(archive));
}

Result<ExportedProgram> read(Bytes bytes, std::string name) {
  THIMBLE_TRY(zip::Archive archive, zip::Archive::open(std::move(bytes), std::move(name)));
  return read_archive(std::move(archive));
}

}  // namespace thimble::formats::pt2
