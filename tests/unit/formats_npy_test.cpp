// SPDX-License-Identifier: Apache-2.0
// .npy bytes, compared with NumPy's own; every invalid header; and .npz.

#include "formats/npy/npy.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/unit/folder.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::formats::npy {
namespace {

using testing::deflated;
using testing::make_zip;
using testing::to_bytes;

Bytes npy(std::string_view header, std::string_view data, int major = 1) {
  Bytes bytes = to_bytes("\x93NUMPY");
  bytes.push_back(static_cast<std::byte>(major));
  bytes.push_back(std::byte{0});
  if (major == 1) {
    append_le(bytes, static_cast<uint16_t>(header.size()));
  } else {
    append_le(bytes, static_cast<uint32_t>(header.size()));
  }
  append(bytes, as_byte_view(header));
  append(bytes, as_byte_view(data));
  return bytes;
}

std::string failure(ByteView bytes) {
  const auto array = parse_npy(Bytes(bytes.begin(), bytes.end()), "x.npy");
  return array ? "no error" : array.error().message;
}

TEST(Npy, BytesEqualNumPy) {
  // numpy.save(f, numpy.array([[1, 2, 3]], dtype=numpy.int8))
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 3), }";
  expected += std::string(58, ' ');
  expected += "\n\x01\x02\x03";
  const NpyArray array{DType::kInt8, {1, 3}, to_bytes("\x01\x02\x03")};
  EXPECT_EQ(as_text(format_npy(array)), expected);
}

TEST(Npy, RoundTripsEveryTypeAndRank) {
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kUint8, DType::kInt16, DType::kUint16, DType::kInt32,
        DType::kInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 2, 3, 2}}) {
      NpyArray array{dtype, shape, {}};
      for (size_t i = 0; i < static_cast<size_t>(array.count()) * size_bytes(dtype); ++i) {
        array.bytes.push_back(static_cast<std::byte>(i * 7));
      }
      const Bytes bytes = format_npy(array);
      EXPECT_EQ((bytes.size() - array.bytes.size()) % 64, 0U);
      const auto back = parse_npy(bytes, "x.npy");
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(back->dtype, dtype);
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(back->bytes, array.bytes);
    }
  }
}

TEST(Npy, ReadsVersions1To3) {
  for (const int major : {1, 2, 3}) {
    const auto array = parse_npy(
        npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", "abcd", major), "x");
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->shape, std::vector<int64_t>{2});
    EXPECT_EQ(name(array->dtype), "int16");
  }
  EXPECT_EQ(failure(npy("{}", "", 4)), "x.npy: .npy version 4, expected 1 to 3");
}

TEST(Npy, FortranOrderBecomesCOrder) {
  // The columns of the matrix [[a, b, c], [d, e, f]].
  const auto matrix =
      parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", "adbecf"), "x");
  ASSERT_TRUE(matrix);
  EXPECT_EQ(as_text(matrix->bytes), "abcdef");
  // Element order [axis0][axis1][axis2], shape (2, 1, 2), two-byte elements.
  const auto cube = parse_npy(
      npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 1, 2)}\n", "aAcCbBdD"), "x");
  ASSERT_TRUE(cube);
  EXPECT_EQ(as_text(cube->bytes), "aAbBcCdD");
}

TEST(Npy, AcceptsHeadersInAnyOrderAndSpacing) {
  const auto array =
      parse_npy(npy("{\"shape\":( 2L , ),'fortran_order' : False,'descr':'b1' }", "xy"), "x");
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->dtype, DType::kBool);
}

TEST(Npy, LocatesEveryInvalidHeaderField) {
  const auto header = [](std::string_view descr, std::string_view shape) {
    return fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': {}, }}\n", descr, shape);
  };
  EXPECT_EQ(failure(npy(header("'<f4'", "(2, 3)"), "12345678")),
            "x.npy: float32[2,3] needs 24 bytes, the file holds 8");
  EXPECT_EQ(failure(npy(header("'<f8'", "(4611686018427387904, 4611686018427387904)"), "")),
            "x.npy: float64[4611686018427387904,4611686018427387904] needs over 2^62 bytes, the "
            "file holds 0");
  EXPECT_EQ(failure(npy(header("'<f8'", "(99999999999999999999,)"), "")),
            "x.npy: header: expected an axis of 0 to 2^63 - 1 before \"99999999999999999999\"");
  EXPECT_NE(failure(npy(header("'<f4'", "(-1,)"), "")), "no error");
  EXPECT_EQ(failure(npy(header("'>f4'", "(1,)"), "1234")),
            "x.npy: dtype '>f4' is big-endian, expected little-endian");
  EXPECT_EQ(failure(npy(header("'<c8'", "(1,)"), "12345678")),
            "x.npy: dtype '<c8' is not supported");
  EXPECT_EQ(failure(npy(header("'f4'", "(1,)"), "1234")), "x.npy: dtype 'f4' is not supported");
  EXPECT_EQ(failure(npy(header("''", "(1,)"), "1234")), "x.npy: dtype '' is not supported");
  EXPECT_EQ(failure(npy(header("[('a', '<f4')]", "(1,)"), "1234")),
            "x.npy: structured arrays are not supported");
  EXPECT_EQ(failure(npy("{'descr': '<f4', 'shape': (1,)}", "1234")),
            "x.npy: header lacks one of descr, fortran_order, shape");
  EXPECT_EQ(failure(npy("{'evil': '<f4'}", "1234")), "x.npy: header has the unknown key 'evil'");
  EXPECT_EQ(failure(to_bytes("PK\x03\x04 not this")),
            "x.npy: not an .npy file: the magic \\x93NUMPY is missing");
}

TEST(Npy, EveryTruncationIsAnError) {
  for (const int major : {1, 2}) {
    const Bytes bytes =
        npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n", "abcd", major);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(size);
      EXPECT_FALSE(parse_npy(Bytes(bytes.begin(), end), "x")) << size;
    }
    for (size_t i = 0; i < bytes.size() * 8; ++i) {
      Bytes flipped = bytes;
      flipped[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
      (void)parse_npy(flipped, "x").ok();  // must not crash
    }
  }
}

TEST(Npy, FilesAreReadAndWritten) {
  const test::Folder folder;
  const auto path = folder.path() / "array.npy";
  const NpyArray array{DType::kInt32, {1}, to_bytes("abcd")};
  ASSERT_TRUE(write_npy(path, array));
  const auto back = read_npy(path);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->bytes, array.bytes);
  std::filesystem::remove(path);
  EXPECT_NE(read_npy(path).error().message.find("no such file"), std::string::npos);
  EXPECT_FALSE(read_npy(folder.path()));
  EXPECT_FALSE(write_npy("/nowhere/x.npy", array));
}

TEST(Npz, ReadsAllArrays) {
  const Bytes one = format_npy({DType::kInt8, {2}, to_bytes("ab")});
  const Bytes two = format_npy({DType::kFloat32, {}, to_bytes("abcd")});
  const auto arrays =
      read_npz(make_zip({{"x.npy", one, 0, 0, {}, {}, {}}, deflated("labels.npy", two)}), "d.npz");
  ASSERT_TRUE(arrays) << arrays.error().message;
  ASSERT_EQ(arrays->size(), 2U);
  EXPECT_EQ((*arrays)[0].first, "x");
  EXPECT_EQ((*arrays)[1].first, "labels");
  EXPECT_EQ((*arrays)[1].second.dtype, DType::kFloat32);
}

TEST(Npz, NamesTheArrayInErrors) {
  const auto bad = read_npz(make_zip({{"x.npy", to_bytes("?"), 0, 0, {}, {}, {}}}), "d.npz");
  EXPECT_EQ(bad.error().message, "d.npz: x: not an .npy file: the magic \\x93NUMPY is missing");
  const auto other = read_npz(make_zip({{"x.txt", to_bytes("?"), 0, 0, {}, {}, {}}}), "d.npz");
  EXPECT_EQ(other.error().message, "d.npz: x.txt: expected .npy members only");
}

}  // namespace
}  // namespace thimble::formats::npy
