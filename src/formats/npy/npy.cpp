// SPDX-License-Identifier: Apache-2.0
#include "formats/npy/npy.h"

#include <array>
#include <charconv>
#include <fstream>
#include <optional>

#include "base/read_file.h"
#include "formats/zip/zip.h"

namespace thimble::formats::npy {

namespace {

/// The longest header that NumPy reads; sufficient for a shape with 32 axes.
constexpr size_t kHeaderBytesMax = 10'000;
constexpr size_t kAxesMax = 32;

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::string_view code;  // without the byte order character
  size_t size_bytes;
};
constexpr std::array kDTypes = {
    DTypeRow{DType::kBool, "bool", "b1", 1},       DTypeRow{DType::kInt8, "int8", "i1", 1},
    DTypeRow{DType::kUint8, "uint8", "u1", 1},     DTypeRow{DType::kInt16, "int16", "i2", 2},
    DTypeRow{DType::kUint16, "uint16", "u2", 2},   DTypeRow{DType::kInt32, "int32", "i4", 4},
    DTypeRow{DType::kInt64, "int64", "i8", 8},     DTypeRow{DType::kFloat16, "float16", "f2", 2},
    DTypeRow{DType::kFloat32, "float32", "f4", 4}, DTypeRow{DType::kFloat64, "float64", "f8", 8},
};

const DTypeRow& row(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)];
}

struct Header {
  const DTypeRow* dtype = nullptr;
  bool is_fortran_order = false;
  std::vector<int64_t> shape;
};

/// Reads the Python literal `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view label) : rest_(text), label_(label) {}

  Result<Header> parse() {
    Header header;
    bool has_order = false;
    bool has_shape = false;
    if (!take('{')) return unexpected("'{'");
    while (!take('}')) {
      const auto key = take_string();
      if (!key || !take(':')) return unexpected("a key and ':'");
      if (*key == "descr") {
        THIMBLE_TRY(header.dtype, parse_dtype());
      } else if (*key == "fortran_order") {
        THIMBLE_TRY(header.is_fortran_order, parse_bool());
        has_order = true;
      } else if (*key == "shape") {
        THIMBLE_TRY(header.shape, parse_shape());
        has_shape = true;
      } else {
        return bad_input("{}: header has the unknown key '{}'", label_, *key);
      }
      if (!take(',') && !peek('}')) return unexpected("',' or '}'");
    }
    if (!header.dtype || !has_order || !has_shape) {
      return bad_input("{}: header lacks one of descr, fortran_order, shape", label_);
    }
    return header;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }
  bool peek(char c) {
    skip_blanks();
    return !rest_.empty() && rest_.front() == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> take_string() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  Error unexpected(std::string_view wanted) const {
    return bad_input("{}: header: expected {} before \"{}\"", label_, wanted, rest_.substr(0, 20));
  }

  Result<const DTypeRow*> parse_dtype() {
    const auto descr = take_string();
    if (!descr) return bad_input("{}: structured arrays are not supported", label_);
    // One-byte types have no byte order; NumPy writes '|'. A type without an explicit order ('f4',
    // '=f4') has the order of the machine that wrote the file, which is unknown.
    const bool has_mark =
        !descr->empty() && std::string_view("<>|=").find((*descr)[0]) != std::string_view::npos;
    const std::string_view code = has_mark ? descr->substr(1) : *descr;
    for (const DTypeRow& candidate : kDTypes) {
      if (candidate.code != code) continue;
      if (candidate.size_bytes == 1 || descr->starts_with('<')) return &candidate;
    }
    if (descr->starts_with('>')) {
      return bad_input("{}: dtype '{}' is big-endian, expected little-endian", label_, *descr);
    }
    return bad_input("{}: dtype '{}' is not supported", label_, *descr);
  }

  Result<bool> parse_bool() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    return unexpected("True or False");
  }

  Result<std::vector<int64_t>> parse_shape() {
    std::vector<int64_t> shape;
    if (!take('(')) return unexpected("'('");
    while (!take(')')) {
      skip_blanks();
      int64_t axis = 0;
      const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), axis);
      if (failure != std::errc() || axis < 0) return unexpected("an axis of 0 to 2^63 - 1");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      take_word("L");  // Python 2 wrote long integers with this suffix
      shape.push_back(axis);
      if (shape.size() > kAxesMax) return unexpected("at most 32 axes");
      if (!take(',') && !peek(')')) return unexpected("',' or ')'");
    }
    return shape;
  }

  std::string_view rest_;
  std::string_view label_;
};

/// Returns the size of the array in bytes; nullopt if it does not fit 63 bits.
std::optional<uint64_t> array_bytes(const Header& header) {
  constexpr uint64_t kMax = uint64_t{1} << 62;
  uint64_t bytes = header.dtype->size_bytes;
  for (const int64_t axis : header.shape) {
    if (axis == 0) return 0;
  }
  for (const int64_t axis : header.shape) {
    if (bytes > kMax / static_cast<uint64_t>(axis)) return std::nullopt;
    bytes *= static_cast<uint64_t>(axis);
  }
  return bytes;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += fmt::format("{}{}", i ? "," : "", shape[i]);
  }
  return text + "]";
}

/// Converts column-major to row-major: visits the result in order and tracks the source position.
Bytes from_fortran_order(ByteView source, const Header& header) {
  const size_t axes = header.shape.size();
  std::vector<size_t> stride(axes);
  size_t step = header.dtype->size_bytes;
  for (size_t i = 0; i < axes; ++i) {
    stride[i] = step;
    step *= static_cast<size_t>(header.shape[i]);
  }
  Bytes bytes(source.size());
  std::vector<int64_t> index(axes, 0);
  size_t from = 0;
  for (size_t to = 0; to < bytes.size(); to += header.dtype->size_bytes) {
    std::memcpy(&bytes[to], &source[from], header.dtype->size_bytes);
    for (size_t axis = axes; axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < header.shape[axis]) break;
      from -= stride[axis] * static_cast<size_t>(header.shape[axis]);
      index[axis] = 0;
    }
  }
  return bytes;
}

Result<NpzArrays> read_members(const zip::Archive& archive) {
  NpzArrays arrays;
  for (const zip::Member& member : archive.members()) {
    std::string_view array_name = member.name;
    if (!array_name.ends_with(".npy")) {
      return bad_input("{}: {}: expected .npy members only", archive.name(), member.name);
    }
    array_name.remove_suffix(4);
    THIMBLE_TRY(Bytes bytes, archive.read(member.name));
    THIMBLE_TRY(NpyArray array,
                parse_npy(std::move(bytes), fmt::format("{}: {}", archive.name(), array_name)));
    arrays.emplace_back(array_name, std::move(array));
  }
  return arrays;
}

}  // namespace

size_t size_bytes(DType dtype) {
  return row(dtype).size_bytes;
}
std::string_view name(DType dtype) {
  return row(dtype).name;
}

int64_t NpyArray::count() const {
  int64_t count = 1;
  for (const int64_t axis : shape) count *= axis;
  return count;
}

Result<NpyArray> parse_npy(Bytes file, std::string_view label) {
  const ByteView bytes = file;
  if (!as_text(bytes).starts_with(kMagic) || bytes.size() < 10) {
    return bad_input("{}: not an .npy file: the magic \\x93NUMPY is missing", label);
  }
  const auto major = std::to_integer<unsigned>(bytes[6]);
  if (major < 1 || major > 3) {
    return bad_input("{}: .npy version {}, expected 1 to 3", label, major);
  }
  // Version 1 stores the header length in two bytes, later versions in four.
  const size_t header_at = major == 1 ? 10 : 12;
  if (bytes.size() < header_at) return bad_input("{}: ends inside the header", label);
  const size_t header_bytes =
      major == 1 ? load_le<uint16_t>(bytes, 8) : load_le<uint32_t>(bytes, 8);
  if (header_bytes > kHeaderBytesMax || header_bytes > bytes.size() - header_at) {
    return bad_input("{}: header of {} bytes, the file has {} after it starts", label, header_bytes,
                     bytes.size() - header_at);
  }
  const std::string_view text = as_text(bytes.subspan(header_at, header_bytes));
  THIMBLE_TRY(Header header, HeaderParser(text, label).parse());

  const ByteView data = bytes.subspan(header_at + header_bytes);
  const std::optional<uint64_t> expected = array_bytes(header);
  if (!expected || *expected != data.size()) {
    return bad_input("{}: {}{} needs {} bytes, the file holds {}", label, header.dtype->name,
                     shape_text(header.shape),
                     expected ? fmt::format("{}", *expected) : std::string("over 2^62"),
                     data.size());
  }
  NpyArray array{header.dtype->dtype, header.shape, {}};
  if (header.is_fortran_order && header.shape.size() > 1) {
    array.bytes = from_fortran_order(data, header);
  } else {
    const auto header_end = static_cast<std::ptrdiff_t>(header_at + header_bytes);
    file.erase(file.begin(), file.begin() + header_end);
    array.bytes = std::move(file);
  }
  return array;
}

Result<NpyArray> read_npy(const std::filesystem::path& path) {
  THIMBLE_TRY(Bytes bytes, base::read_file(path));
  return parse_npy(std::move(bytes), path.string());
}

Bytes format_npy(const NpyArray& array) {
  assert(array.bytes.size() == static_cast<size_t>(array.count()) * size_bytes(array.dtype));
  std::string shape;
  for (const int64_t axis : array.shape) shape += fmt::format("{}, ", axis);
  // Python writes tuples as (3,) and (3, 4).
  if (array.shape.size() == 1) {
    shape.pop_back();
  } else if (!shape.empty()) {
    shape.resize(shape.size() - 2);
  }
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                  size_bytes(array.dtype) == 1 ? '|' : '<', row(array.dtype).code, shape);
  // Spaces pad preamble and header to a multiple of 64 bytes, so that memory-mapped data is
  // aligned.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';

  Bytes bytes;
  bytes.reserve(10 + header.size() + array.bytes.size());
  append(bytes, as_byte_view(kMagic));
  append(bytes, as_byte_view(std::string_view("\x01\x00", 2)));
  append_le(bytes, static_cast<uint16_t>(header.size()));
  append(bytes, as_byte_view(header));
  append(bytes, array.bytes);
  return bytes;
}

Status write_npy(const std::filesystem::path& path, const NpyArray& array) {
  const Bytes bytes = format_npy(array);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return bad_input("{}: cannot be written", path.string());
  return ok();
}

Result<NpzArrays> read_npz(const std::filesystem::path& path) {
  THIMBLE_TRY(const zip::Archive archive, zip::Archive::open(path));
  return read_members(archive);
}

Result<NpzArrays> read_npz(Bytes bytes, std::string name) {
  THIMBLE_TRY(const zip::Archive archive, zip::Archive::open(std::move(bytes), std::move(name)));
  return read_members(archive);
}

}  // namespace thimble::formats::npy
