#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "demix/signal_files.hpp"
#include "demix/signal_stream.hpp"

/// Files under their temporary names.
namespace demix::io {
namespace {

namespace fs = std::filesystem;

class NewFilesTest : public ::testing::Test {
 protected:
  NewFilesTest() {
    std::string name = (fs::temp_directory_path() / "demix-new-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~NewFilesTest() override { fs::remove_all(folder_); }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(NewFilesTest, LeaveNothingUnlessCommitted) {
  {
    NewFiles some;
    some.write(folder_ / "a", "1");
    some.write(folder_ / "b", "2");
    EXPECT_EQ(files(), 2U);
    EXPECT_FALSE(fs::exists(folder_ / "a"));
  }
  EXPECT_EQ(files(), 0U);
  NewFiles some;
  some.write(folder_ / "a", "1");
  some.write(folder_ / "b", "2");
  some.commit();
  EXPECT_EQ(files(), 2U);
  EXPECT_EQ(read_file(folder_ / "a"), "1");
  EXPECT_EQ(read_file(folder_ / "b"), "2");
}

TEST_F(NewFilesTest, FollowLinks) {
  fs::create_directory(folder_ / "real");
  fs::create_symlink("real/b", folder_ / "link");
  fs::create_symlink("link", folder_ / "to the link");
  for (const char* text : {"1", "2"}) {
    write_file(folder_ / "to the link", text);
    EXPECT_TRUE(fs::is_symlink(folder_ / "to the link"));
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read_file(folder_ / "real" / "b"), text);
  }
  fs::create_symlink("round", folder_ / "round");
  EXPECT_THROW(write_file(folder_ / "round", "1"), Error);
  EXPECT_THROW(write_file(folder_ / "real", "1"), Error);
  EXPECT_THROW(write_file("/dev/null", "1"), Error);
  EXPECT_EQ(files(), 4U);
}

TEST_F(NewFilesTest, RemoveLeftOversOfTheSameNameThatNobodyHolds) {
  const fs::path left = folder_ / "a.demix-0123456789.part";
  const fs::path other = folder_ / "b.demix-0123456789.part";
  const fs::path own = folder_ / "a.demix-mine.part";
  for (const fs::path& path : {left, other, own}) std::ofstream(path) << "x";
  fs::create_directory(folder_ / "a.demix-abcdefghij.part");
  const Temporary held(folder_ / "a");  // the first for this target: looks for them
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(folder_ / "a.demix-abcdefghij.part"));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(own));
  // another process: the one that is in use stays
  if (const pid_t child = ::fork(); child == 0) {
    const std::string spelt = (folder_ / "." / "a").string();
    { const Temporary again(spelt); }
    ::_exit(fs::exists(held.path()) ? 0 : 1);
  } else {
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(fs::exists(held.path()));
}

// A reader that stalls: what it has not taken is given back, from the start of a frame on.
TEST(StreamWriterStop, LeavesWholeFrames) {
  std::array<int, 2> output{};
  std::array<int, 2> stop{};
  ASSERT_EQ(::pipe(output.data()), 0);
  ASSERT_EQ(::pipe(stop.data()), 0);
  for (const Encoding format : {Encoding::f32, Encoding::f64, Encoding::csv}) {
    StreamWriter writer("/dev/fd/" + std::to_string(output[1]), format, {.channels = 3});
    writer.interrupt_by(stop[0]);
    const Matrix<double> Y = Matrix<double>::Random(3, 20000);
    ASSERT_EQ(::write(stop[1], "x", 1), 1);
    EXPECT_THROW(writer.write(Y), Interrupted);
    const StreamWriter::Written written = writer.written();
    EXPECT_EQ(written.frames, 20000);
    const std::size_t frame = format == Encoding::f64 ? 24 : 12;
    std::string got(written.bytes, '\0');
    std::size_t at = 0;
    while (at < got.size())
      at += static_cast<std::size_t>(::read(output[0], got.data() + at, got.size() - at));
    if (format == Encoding::csv) {
      EXPECT_EQ(got.back(), '\n');
      EXPECT_EQ(std::ranges::count(got + written.unwritten, '\n'), 20000);
    } else {
      EXPECT_EQ(got.size() % frame, 0U);
      EXPECT_EQ(got.size() + written.unwritten.size(), 20000 * frame);
    }
    char byte = 0;
    ASSERT_EQ(::read(stop[0], &byte, 1), 1);
    // whoever goes on begins with what was left
    StreamWriter next = StreamWriter::resume("-", format, {.channels = 3}, written);
    EXPECT_EQ(next.written().unwritten, written.unwritten);
    EXPECT_EQ(next.bytes(), written.bytes);
  }
  for (const int fd : {output[0], output[1], stop[0], stop[1]}) ::close(fd);
}

}  // namespace
}  // namespace demix::io
