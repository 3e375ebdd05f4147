#include <algorithm>

#include "io/frame_support.hpp"
#include "io/text_line.hpp"

namespace demix::io {
namespace {

// The whole text at once, line by line: what a stream must come to, however its bytes arrive.
Signals whole_text(std::string_view text, const std::string& name) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Signals out;
  std::vector<double> values;
  std::vector<std::string_view> fields;
  std::size_t channels = 0;
  Index frames = 0;
  char delimiter = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line_counts(line)) continue;
    if (delimiter == 0) {  // the first
      delimiter = find_delimiter(line);
      split(line, delimiter, fields);
      channels = fields.size();
      if (are_names(fields)) {
        out.names = names_of(fields);
        continue;
      }
    }
    values.resize(values.size() + channels);
    const std::string wrong =
        parse_row(line, delimiter, channels, values.data() + values.size() - channels, fields);
    if (!wrong.empty()) throw Error(at_line(name, number, wrong));
    ++frames;
  }
  if (frames == 0) throw Error(name + ": there are no numbers in it");
  out.data = Eigen::Map<const Matrix<double>>(values.data(), static_cast<Index>(channels), frames);
  return out;
}

// Through a pipe: the same numbers, names and complaints as from the whole text.
TEST(FrameIo, TextIsReadAsAWhole) {
  Random random(3);
  const std::string alphabet = "0123456789012345678901234567890123456789.,;-+eE  \t\n\n\n\rnaif#\"\xff";
  std::vector<std::string> texts = {"1,2\n3,4\n5,6\n",
                                    "1, 2\r\n3, 4\r\n\r\n+5, 6",
                                    "  1   2\n3 4 \n\n5\t6\n",
                                    "\xef\xbb\xbf# made by hand\na;'b c'\n1;2\n# more\n3;4",
                                    "\xef\xbb\xbf",
                                    "\xef\xbb",
                                    "nan,inf\n-inf,1e999\n1e-999,-nan\n",
                                    "1,x\n",
                                    "1,2\n3\n",
                                    "x,y\n1,2\n3,4,5\n",
                                    "1,2\n\n#\n3,oops\n",
                                    "1,2\n3,\n",
                                    "",
                                    "\n#\n",
                                    "\xe9,b\n1,2\n"};
  const auto any = [&] {
    return static_cast<std::size_t>(random.below(static_cast<Index>(alphabet.size())));
  };
  for (int k = 0; k < 3000; ++k) {
    std::string text = "a,b\n1,2\r\n3.5,-4e1\n\n# c\n+5,inf\n6,7";
    if (k % 2 == 0) text.resize(static_cast<std::size_t>(random.below(40)), '0');
    for (char& c : text) {
      if (k % 2 == 0 || random.below(30) == 0) c = alphabet[any()];
    }
    texts.push_back(text);
  }
  Index frames = 0;
  for (const std::string& text : texts) {
    Pipe pipe;
    const Redirect input(STDIN_FILENO, pipe.from);
    pipe.put(text);
    pipe.close_to();
    Matrix<double> got;
    Signals expected;
    std::vector<std::string> names;
    const std::string said = message([&] {
      FrameReader reader("-", {FrameFormat::csv, 0, 0, {}});
      names = reader.layout().names;
      got = read_all(reader);
    });
    const std::string should = message([&] { expected = whole_text(text, "standard input"); });
    if (said == "accepted" && got.size() == 0) continue;  // names alone: a stream that has not begun
    ASSERT_EQ(said, should) << text;
    ASSERT_EQ(names.size() > 0 && said == "accepted", expected.names.size() > 0) << text;
    if (said != "accepted") continue;
    EXPECT_EQ(names, expected.names);
    ASSERT_EQ(got.rows(), expected.data.rows()) << text;
    ASSERT_EQ(got.cols(), expected.data.cols()) << text;
    EXPECT_EQ(std::memcmp(got.data(), expected.data.data(), sizeof(double) * got.size()), 0)
        << text;  // NaN, too
    frames += got.cols();
  }
  EXPECT_GT(frames, 1000);
}

TEST(FrameIo, TextIsRefusedAfterTheFramesBefore) {
  const std::string path = temporary("bad.csv", "a,b\n1,2\n\n3,4\n5,oops\n6,7\n");
  FrameReader reader(path, {FrameFormat::csv, 2, 250, {}});
  EXPECT_EQ(reader.layout().names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader.layout().rate, 250);
  Matrix<double> out(2, 10);
  EXPECT_EQ(reader.read(out), 2);
  EXPECT_EQ(out.leftCols(2), (Matrix<double>(2, 2) << 1, 3, 2, 4).finished());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(message([&] { reader.read(out); }), path + ": line 5, column 2: 'oops' is not a number");
  }
  EXPECT_EQ(message([&] {
              FrameReader(path, {FrameFormat::csv, 3, 0, {}});
            }),
            path + ": has 2 channels where 3 were asked for");
  ::unlink(path.c_str());

  const std::string endless = temporary("endless.csv", "1\n" + std::string((1 << 24) + 1, '2'));
  FrameReader long_line(endless, {FrameFormat::csv, 0, 0, {}});
  Matrix<double> one(1, 10);
  EXPECT_EQ(long_line.read(one), 1);
  EXPECT_EQ(message([&] { long_line.read(one); }),
            endless + ": line 2 is longer than 16 MiB; is it text, one frame per line?");
  ::unlink(endless.c_str());
}

TEST(FrameIo, NamesReadBackAsNames) {
  const auto back = [](const std::vector<std::string>& names) {
    const auto channels = static_cast<Index>(names.size());
    const std::string path = temporary(
        "names.csv", bytes_of({FrameFormat::csv, channels, 0, names}, Matrix<double>::Ones(channels, 2)));
    FrameReader reader(path, {FrameFormat::csv, channels, 0, {}});
    ::unlink(path.c_str());
    EXPECT_EQ(read_all(reader).cols(), 2);
    return reader.layout().names;
  };
  const std::vector<std::string> hard = {"#1", "2", "+nan", "", " a ", "'b'", "C 3;x", "plain", "1e999"};
  EXPECT_EQ(back(hard), hard);
  EXPECT_EQ(back({"a,b", "c\nd"}), (std::vector<std::string>{"a b", "c d"}));
  EXPECT_EQ(back({"C 3"}), (std::vector<std::string>{"C_3"}));
  EXPECT_EQ(back({""}), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace demix::io
