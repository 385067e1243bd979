// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recognizes the kind of a file by its content, for messages about a file of the wrong kind.

#include <filesystem>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats {

enum class FileKind {
  kUnknown,
  kEmpty,
  kText,
  kExport,       // torch.export.save
  kTorchSave,    // torch.save or torch.jit.save
  kProgram,      // a compiled program (.pte)
  kLiteRt,       // a FlatBuffer with the identifier TFL3
  kOnnx,         // a protocol buffer that begins with ir_version and a name of the producer
  kHdf5,         // Keras' .h5
  kSafetensors,  // weights without a graph
  kArray,        // .npy
  kArrays,       // .npz
  kZip,          // another zip archive
};

/// `bytes` is the content, or its first 512 bytes. A zip archive of any content is kZip.
[[nodiscard]] FileKind file_kind(ByteView bytes, uint64_t size_bytes);

/// Purpose for which a file is read.
enum class FileUse {
  kExport,   // a model to compile
  kModel,    // a model to run
  kProgram,  // a compiled program
  kSamples,  // one array per input
  kInspect,  // a file to show
};

/// Returns `error`, the reason why the file cannot be read for this use, unless the file is of
/// another known kind: then the message says which, what was expected and what to do.
[[nodiscard]] Error explain_file(const std::filesystem::path& path, FileUse use, Error error);

}  // namespace thimble::formats
