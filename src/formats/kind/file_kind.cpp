// SPDX-License-Identifier: Apache-2.0
#include "formats/kind/file_kind.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "base/control_characters.h"
#include "base/read_file.h"
#include "formats/zip/zip.h"

namespace thimble::formats {
namespace {

constexpr size_t kStartBytes = 512;

bool begins(ByteView bytes, std::string_view start, size_t at = 0) {
  return as_text(bytes).substr(std::min(at, bytes.size())).starts_with(start);
}

/// A ModelProto: field 1 (ir_version, below 32), then field 2 (producer_name), 3 or 7 (graph).
bool is_onnx(ByteView bytes) {
  constexpr size_t kBytesMin = 3;
  constexpr unsigned kVersionMax = 32;
  if (bytes.size() < kBytesMin) return false;
  const auto at = [&](size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  constexpr unsigned kVersionField = 1 << 3, kTexts[] = {2 << 3 | 2, 3 << 3 | 2, 7 << 3 | 2};
  return at(0) == kVersionField && at(1) > 0 && at(1) < kVersionMax &&
         std::ranges::find(kTexts, at(2)) != std::end(kTexts);
}

bool is_text(ByteView bytes) {
  return std::ranges::all_of(as_text(bytes), [](char letter) {
    return !base::is_control_character(letter) || letter == '\n' || letter == '\r' ||
           letter == '\t';
  });
}

/// Returns the kind of a zip archive, by the names of its members. An archive that cannot be read
/// has no kind, so that its error is reported.
FileKind zip_kind(const std::filesystem::path& path) {
  const Result<zip::Archive> archive = zip::Archive::open(path);
  if (!archive) return FileKind::kUnknown;
  const std::vector<zip::Member>& members = archive->members();
  const auto any_ends = [&](std::string_view end) {
    return std::ranges::any_of(
        members, [&](const zip::Member& member) { return member.name.ends_with(end); });
  };
  if (any_ends("archive_format") || any_ends("serialized_exported_program.json")) {
    return FileKind::kExport;
  }
  if (any_ends("data.pkl")) return FileKind::kTorchSave;
  const bool arrays = std::ranges::all_of(
      members, [](const zip::Member& member) { return member.name.ends_with(".npy"); });
  return arrays ? FileKind::kArrays : FileKind::kZip;
}

std::string_view kind_text(FileKind kind) {
  switch (kind) {
    case FileKind::kUnknown:
      return "";
    case FileKind::kEmpty:
      return "is empty (0 bytes)";
    case FileKind::kText:
      return "is a text file";
    case FileKind::kExport:
      return "is an export of PyTorch (.pt2)";
    case FileKind::kTorchSave:
      return "is a file of torch.save or torch.jit.save";
    case FileKind::kProgram:
      return "is a compiled program (.pte)";
    case FileKind::kLiteRt:
      return "is a LiteRT model (.tflite)";
    case FileKind::kOnnx:
      return "is an ONNX model (.onnx)";
    case FileKind::kHdf5:
      return "is an HDF5 file (.h5)";
    case FileKind::kSafetensors:
      return "has weights without a graph (.safetensors)";
    case FileKind::kArray:
      return "is one array (.npy)";
    case FileKind::kArrays:
      return "is an archive of arrays (.npz)";
    case FileKind::kZip:
      return "is a zip archive";
  }
  return "";
}

constexpr std::string_view kSave =
    "torch.export.save(torch.export.export(model, inputs), \"model.pt2\")";

/// Returns true for a model of another framework.
bool is_other_model(FileKind kind) {
  return kind == FileKind::kLiteRt || kind == FileKind::kOnnx || kind == FileKind::kHdf5;
}

/// Advice for a model of another framework.
std::string export_advice() {
  return fmt::format(
      ": Thimble compiles PyTorch models, so export the PyTorch model from which this file was "
      "made: {}",
      kSave);
}

/// Returns the expected kind, and advice for a file of this kind.
std::string expectation(FileKind kind, FileUse use, const std::string& file) {
  if (use == FileUse::kSamples) {
    return "expected samples: numpy.savez(\"data.npz\", x=samples), one array per input, or "
           "numpy.save(\"data.npy\", samples) for a model with one input";
  }
  if (use == FileUse::kInspect) {
    return "expected a .pt2, .pte, .npz or .ir" + export_advice() +
           "; docs/switching.md has the steps of each tool";
  }
  if (use == FileUse::kProgram) {
    return "expected a compiled program (.pte), which `thimble compile` writes";
  }
  if (use == FileUse::kModel) {
    if (kind == FileKind::kArray || kind == FileKind::kArrays) {
      return "expected a model (.pte, .pt2 or .ir); data is given with --input";
    }
    return "expected a compiled program (.pte), which `thimble compile` writes, an export of "
           "PyTorch (.pt2) or a graph (.ir)";
  }
  std::string text = "expected an export of PyTorch (.pt2)";
  if (is_other_model(kind)) return text + export_advice();
  switch (kind) {
    case FileKind::kProgram:
      return text +
             fmt::format("; `thimble run {0}` runs it, `thimble inspect {0}` shows it", file);
    case FileKind::kArray:
    case FileKind::kArrays:
      return text + "; samples are given with --calibrate or --data";
    default:
      return text + fmt::format(", as written by {}", kSave);
  }
}

bool is_expected(FileKind kind, FileUse use) {
  switch (use) {
    case FileUse::kExport:
      return kind == FileKind::kExport;
    case FileUse::kModel:
      return kind == FileKind::kExport || kind == FileKind::kProgram || kind == FileKind::kText;
    case FileUse::kProgram:
      return kind == FileKind::kProgram;
    case FileUse::kSamples:
      return kind == FileKind::kArray || kind == FileKind::kArrays;
    case FileUse::kInspect:
      return !is_other_model(kind);  // the error names every kind that can be shown
  }
  return false;
}

}  // namespace

FileKind file_kind(ByteView bytes, uint64_t size_bytes) {
  constexpr size_t kIdentifier = 4;  // offset in a FlatBuffer
  if (size_bytes == 0) return FileKind::kEmpty;
  if (begins(bytes, "TFL3", kIdentifier)) return FileKind::kLiteRt;
  if (begins(bytes, "ET", kIdentifier)) return FileKind::kProgram;
  if (begins(bytes, "\x93NUMPY")) return FileKind::kArray;
  if (begins(bytes, "\x89HDF")) return FileKind::kHdf5;
  if (begins(bytes, "PK\3\4") || begins(bytes, "PK\5\6")) return FileKind::kZip;
  if (begins(bytes, "\x80\x02")) return FileKind::kTorchSave;  // a pickle, of old versions
  if (begins(bytes, "{\"", sizeof(uint64_t))) return FileKind::kSafetensors;
  if (is_onnx(bytes)) return FileKind::kOnnx;
  return is_text(bytes) ? FileKind::kText : FileKind::kUnknown;
}

Error explain_file(const std::filesystem::path& path, FileUse use, Error error) {
  Result<base::InputFile> file = base::open_file(path);
  if (!file.ok()) return file.error();
  Bytes start(static_cast<size_t>(std::min<uint64_t>(file->size_bytes, kStartBytes)));
  const Status read = file->read(start);
  if (!read.ok()) return read.error();
  FileKind kind = file_kind(start, file->size_bytes);
  if (kind == FileKind::kZip) kind = zip_kind(path);
  if (kind == FileKind::kUnknown || is_expected(kind, use)) return error;
  return bad_input("{}: {}, {}", path.string(), kind_text(kind),
                   expectation(kind, use, path.string()));
}

}  // namespace thimble::formats
