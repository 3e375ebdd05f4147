#include "io/file_bytes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "io/deflate.hpp"
#include "io/file_support.hpp"

namespace demix::io {
namespace {

TEST(FileBytes, AreReadWhereTheyAreAskedFor) {
  const auto path = test_file("x");
  put(path, "0123456789");
  const Part all = Part::all(std::make_shared<const FileBytes>(path));
  EXPECT_EQ(all.size, 10U);
  EXPECT_EQ(all.copy(3, 4), "3456");
  EXPECT_EQ(all.copy(8, 100), "89");
  EXPECT_EQ(all.copy(10, 1), "");
  EXPECT_EQ(all.from(4).sub(2, 100).copy(0, 100), "6789");
  const Part kept = all.from(4).in_memory(6);
  EXPECT_TRUE(kept.bytes->in_memory());
  EXPECT_EQ(kept.copy(1, 2), "56");
  EXPECT_FALSE(all.in_memory(9).bytes->in_memory());
}

TEST(FileBytes, AFileThatBecomesShorterIsAnError) {
  const auto path = test_file("x");
  put(path, std::string(1 << 20, 'x'));
  const Part all = Part::all(std::make_shared<const FileBytes>(path));
  ASSERT_EQ(::truncate(path.c_str(), 1000), 0);
  EXPECT_EQ(all.copy(0, 1000), std::string(1000, 'x'));
  const auto said = [](auto&& f) -> std::string {
    try {
      f();
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  const std::string expected = path.string() + ": has become shorter while it was read";
  EXPECT_EQ(said([&] { all.copy(0, 1001); }), expected);
  EXPECT_EQ(said([&] { inflated(all, Deflated::bare, 10, "x"); }), expected);
}

TEST(FileBytes, ReadersSayThatAFileHasBecomeShorter) {
  const Matrix<double> X = Random(1).normal(3, 20000);
  for (const char* name : {"x.npy", "x.npz", "x.mat", "x.f64", "wide.npy", "wide.csv"}) {
    const auto path = test_file(name);
    Signals s;
    s.data = X;
    ReadOptions options;
    options.channels = 3;
    if (path.stem() == "wide") options.orientation = Orientation::channels;
    if (path.extension() == ".csv") {
      std::string line = "1";
      for (int k = 0; k < 50000; ++k) line += ",1";
      put(path, line + "\n" + line + "\n");
    } else {
      write_signals(path, s);
    }
    if (path.stem() == "wide" && path.extension() == ".npy") {  // as 3 x 20000
      std::string bytes = read_file(path);
      bytes.replace(bytes.find("(20000, 3)"), 10, "(3, 20000)");
      put(path, bytes);
    }
    const auto reader = open_signals(path, options);
    Matrix<double> block(reader->info().channels, 10);
    ASSERT_EQ(reader->read(block), 10);
    ASSERT_EQ(::truncate(path.c_str(), 20000), 0);
    std::string said;
    try {
      read_all(*reader);
    } catch (const Error& e) {
      said = e.what();
    }
    EXPECT_EQ(said, path.string() + ": has become shorter while it was read");
  }
}

// A pipe that nobody writes to would be waited for; one that never ends would fill the memory.
TEST(FileBytes, PipesAndDevicesAreRefusedByAllReaders) {
  for (const Format& format : formats()) {
    const auto pipe = test_file("pipe" + std::string(format.extensions[0]));
    ::unlink(pipe.c_str());
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(complaint(pipe), pipe.string() +
                                   ": is a pipe or a device, which cannot be read twice; save it to a file, "
                                   "or use demix stream");
    const auto zero = test_file("zero" + std::string(format.extensions[0]));
    std::filesystem::remove(zero);
    std::filesystem::create_symlink("/dev/zero", zero);
    EXPECT_COMPLAINT(complaint(zero), "is a pipe or a device");
    const auto folder = test_file("folder" + std::string(format.extensions[0]));
    std::filesystem::create_directories(folder);
    EXPECT_COMPLAINT(complaint(folder), "is a folder, not a file");
    EXPECT_COMPLAINT(complaint(test_file("none" + std::string(format.extensions[0]))),
                     "cannot open: No such file");
    EXPECT_THROW(read_file(pipe), Error);
    EXPECT_THROW(load_model(zero), Error);
  }
}

TEST(FileBytes, WhatCompressedBytesCannotHoldIsRefused) {
  const auto said = [](std::uint64_t announced, std::uint64_t packed) -> std::string {
    try {
      check_inflated_size(announced, packed, "x");
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(said(1000000, 1000), "");
  EXPECT_EQ(said(2000000, 1000),
            "x: 1000 compressed bytes cannot hold the 2000000 it announces; it is damaged");
  EXPECT_EQ(
      said(std::uint64_t{5} << 30, std::uint64_t{1} << 30),
      "x: unpacks to 5120 MiB; at most 4096 are unpacked into memory; save it without compression, which "
      "is read in blocks");
}

}  // namespace
}  // namespace demix::io
