#include <cstring>

#include "io/file_support.hpp"

namespace demix::io {
namespace {

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += version;
  bytes += '\0';
  const auto n = static_cast<unsigned>(dictionary.size());
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) bytes += static_cast<char>((n >> (8 * k)) & 0xff);
  return bytes + dictionary + data;
}

template <typename T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
void expect_reads(const char* descr) {
  const std::string data = raw<T>({1, 2, 3, 4, 5, 6});
  const std::string head =
      std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (3, 2), }\n";
  const Signals s = read_as("x.npy", npy(head, data));
  ASSERT_EQ(s.data.rows(), 2);
  ASSERT_EQ(s.data.cols(), 3);
  EXPECT_EQ(s.data(0, 1), 3);
  EXPECT_EQ(s.data(1, 2), 6);
}

TEST(Npy, ReadsEveryNumericType) {
  expect_reads<float>("<f4");
  expect_reads<double>("<f8");
  expect_reads<std::int8_t>("|i1");
  expect_reads<std::uint8_t>("|u1");
  expect_reads<std::int16_t>("<i2");
  expect_reads<std::uint16_t>("<u2");
  expect_reads<std::int32_t>("<i4");
  expect_reads<std::uint32_t>("<u4");
  expect_reads<std::int64_t>("<i8");
  expect_reads<std::uint64_t>("<u8");
}

TEST(Npy, ReadsFortranOrderBigEndianAndVersionThree) {
  const std::string f = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }\n";
  const Signals s = read_as("x.npy", npy(f, raw<double>({1, 2, 3, 4, 5, 6}), 3));
  EXPECT_EQ(s.data(0, 2), 3);
  EXPECT_EQ(s.data(1, 0), 4);
  const std::string b = "{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2)}\n";
  EXPECT_EQ(read_as("x.npy", npy(b, std::string("\x01\x02\xff\xfe", 4))).data(0, 0), 258);
  EXPECT_EQ(read_as("x.npy", npy(b, std::string("\x01\x02\xff\xfe", 4))).data(0, 1), -2);
  const std::string v = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n";
  EXPECT_EQ(read_as("x.npy", npy(v, raw<double>({1, 2, 3, 4}))).data.rows(), 1);
}

TEST(Npy, RoundTrip) {
  const Matrix<double> X = Random(1).normal(3, 257);
  const std::string bytes = to_npy(X);
  EXPECT_EQ(read_as("x.npy", bytes).data, X);
  const std::size_t header = bytes.size() - 3 * 257 * 8;
  EXPECT_EQ(header % 64, 0U);  // NumPy maps such files
}

void expect_refused(const std::string& bytes, const std::string& part) {
  try {
    read_as("f.npy", bytes);
    FAIL() << "accepted; expected: " << part;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    EXPECT_EQ(std::string(e.what()).find("f.npy: "), 0U);
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
  }
}

TEST(Npy, BadFilesAreRefusedWithAReason) {
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }\n";
  expect_refused("", "empty");
  expect_refused("not numpy at all", "not an NPY file");
  expect_refused(npy(good, raw<double>({1})), "cut off");
  expect_refused(npy(good, raw<double>({1, 2, 3})), "damaged");
  expect_refused(npy("{'descr': '<c16', 'fortran_order': False, 'shape': (2, 1)}", ""), "not supported");
  expect_refused(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,)}", ""),
                 "not a plain number");
  expect_refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2)}", ""), "3 dimensions");
  expect_refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3)}", ""), "empty");
  expect_refused(
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1152921504606846976, 16)}", raw<double>({1})),
      "cut off");
  expect_refused(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}", ""),
                 "shape");
  expect_refused(npy("{'descr': '<f8'}", ""), "fortran_order");
  expect_refused(npy(good, "", 9), "version");
}

// Any bytes: an answer or an Error, nothing else. (The sanitizers watch.)
TEST(Npy, DamagedBytesNeverCrash) {
  const std::string good = to_npy(Random(1).normal(2, 5));
  Random random(2);
  for (std::size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_THROW(read_as("x.npy", good.substr(0, cut)), Error);
  for (int k = 0; k < 20000; ++k) {
    std::string bad = good;
    for (int hits = 0; hits < 3; ++hits)
      bad[static_cast<std::size_t>(random.below(100))] = static_cast<char>(random.bits());
    try {
      read_as("x.npy", bad);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace demix::io
