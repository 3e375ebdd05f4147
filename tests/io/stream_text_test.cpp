#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <utility>

#include "io/stream_support.hpp"

namespace demix::io {
namespace {

// What a text says, by rules of its own, so that what the reader takes for a line, a field, a number or a
// name can be wrong: the whole of it at once, and by regular expression.
struct Said {
  std::vector<std::string> names;
  std::vector<std::vector<double>> frames;
  std::string wrong;  // how the complaint begins
};

std::vector<std::string> fields_of(const std::string& line, char delimiter) {
  std::vector<std::string> fields;
  if (delimiter == ' ') {
    std::string word;  // between blanks; a carriage return is one only where a word could begin
    for (const char c : line + " ") {
      const bool blank = c == ' ' || c == '\t';
      if (blank && !word.empty()) fields.push_back(std::exchange(word, {}));
      if (!blank && !(c == '\r' && word.empty())) word += c;
    }
    return fields;
  }
  std::istringstream parts(line + delimiter);
  for (std::string part; std::getline(parts, part, delimiter);) {
    const std::size_t first = part.find_first_not_of(" \t\r");
    const std::size_t last = part.find_last_not_of(" \t\r");
    fields.push_back(first == std::string::npos ? "" : part.substr(first, last - first + 1));
  }
  return fields;
}

bool says_a_number(const std::string& field) {
  static const std::regex number(R"(\+?-?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf|infinity|nan))",
                                 std::regex::icase | std::regex::optimize);
  return std::regex_match(field, number);
}

std::string as_name(std::string field) {  // no UTF-8 among the texts below: Latin-1
  if (field.size() >= 2 && field.front() == field.back() && (field[0] == '"' || field[0] == '\''))
    field = field.substr(1, field.size() - 2);
  std::string name;
  for (const char c : field) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) name += static_cast<char>(code < 0xc0 ? 0xc2 : 0xc3);
    name += static_cast<char>(code < 0x80 ? code : 0x80 | (code & 0x3f));
  }
  return name;
}

Said said_by(const std::string& text) {
  Said out;
  std::istringstream lines(text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text);
  std::string line;
  char delimiter = 0;
  std::size_t channels = 0;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    const bool top = delimiter == 0;
    for (const char c : {' ', '\t', ';', ','}) {
      if (top && (c == ' ' || line.find(c) != std::string::npos)) delimiter = c;
    }
    const std::vector<std::string> fields = fields_of(line, delimiter);
    if (top) channels = fields.size();
    if (top && std::ranges::none_of(fields, says_a_number)) {
      for (const std::string& field : fields) out.names.push_back(as_name(field));
      continue;
    }
    const std::string at = "standard input: line " + std::to_string(number);
    if (fields.size() != channels) {
      out.wrong = at + " has " + std::to_string(fields.size()) + " values where " + std::to_string(channels) +
                  " were expected;";
      return out;
    }
    std::vector<double> frame;
    for (const std::string& field : fields) {
      if (!says_a_number(field)) {
        out.wrong = at + ", column " + std::to_string(frame.size() + 1) + ": '";
        return out;
      }
      frame.push_back(std::strtod(field.c_str() + (field[0] == '+' ? 1 : 0), nullptr));
    }
    out.frames.push_back(frame);
  }
  if (out.frames.empty()) out.wrong = "standard input: there are no numbers in it";
  return out;
}

// Through a pipe: the numbers, names and complaints of the whole text.
TEST(StreamIo, TextIsReadAsAWhole) {
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
  std::size_t frames = 0;
  int refused = 0;
  int named = 0;
  for (const std::string& text : texts) {
    Pipe pipe;
    const Redirect input(STDIN_FILENO, pipe.from);
    pipe.put(text);
    pipe.close_to();
    Matrix<double> got;
    std::vector<std::string> names;
    const std::string complaint = message([&] {
      StreamReader reader("-", Encoding::csv, {});
      names = reader.info().names;
      got = read_all(reader);
    });
    const Said expected = said_by(text);
    if (complaint == "accepted" && got.size() == 0) {  // names alone: a stream that has not begun
      ASSERT_TRUE(expected.frames.empty() && names == expected.names && !names.empty()) << text;
      continue;
    }
    ASSERT_EQ(complaint == "accepted", expected.wrong.empty()) << text << "\n" << complaint;
    if (complaint != "accepted") {
      ASSERT_EQ(complaint.substr(0, expected.wrong.size()), expected.wrong) << text;
      ++refused;
      continue;
    }
    ASSERT_EQ(names, expected.names) << text;
    named += names.empty() ? 0 : 1;
    ASSERT_EQ(got.cols(), std::ssize(expected.frames)) << text;
    for (std::size_t t = 0; t < expected.frames.size(); ++t) {
      ASSERT_EQ(got.rows(), std::ssize(expected.frames[t])) << text;
      ASSERT_EQ(std::memcmp(got.col(static_cast<Index>(t)).data(), expected.frames[t].data(),
                            sizeof(double) * expected.frames[t].size()),
                0)
          << text;  // NaN, too
    }
    frames += expected.frames.size();
  }
  EXPECT_GT(frames, 1000U);
  EXPECT_GT(refused, 300);
  EXPECT_GT(named, 300);
}

// The same written out: what is between two fields, what is a number, what is a name.
TEST(StreamIo, TextIsReadAsItSays) {
  using Names = std::vector<std::string>;
  const auto reads = [](const std::string& text, const Names& names, const Matrix<double>& X) {
    const std::string path = temporary("says.csv", text);
    StreamReader reader(path, Encoding::csv, {});
    ::unlink(path.c_str());
    EXPECT_EQ(reader.info().names, names) << text;
    EXPECT_EQ(read_all(reader), X) << text;
  };
  const Matrix<double> X = (Matrix<double>(2, 2) << 1, 3, 2, -4e-3).finished();
  for (const char* text :
       {"1,2\n3,-4e-3\n", "1;2\r\n3;-.4E-2", "1\t2\n3\t-0.004\n", "  1   2\n\n 3 \t -4e-3 \n",
        "\xef\xbb\xbf+1, 2.\n# 9,9\n3.0 ,-4e-3", "1 , 2\n3 , -40e-4\n"})
    reads(text, {}, X);
  reads("a,b\n1,2\n3,-4e-3\n", {"a", "b"}, X);
  reads("'a b';C3 \n1;2\n3;-4e-3", {"a b", "C3"}, X);
  reads("\xc3\xa9,\xe9\n1,2\n3,-4e-3", {"\xc3\xa9", "\xc3\xa9"}, X);  // UTF-8, and Latin-1
}

TEST(StreamIo, TextIsRefusedAfterTheFramesBefore) {
  const std::string path = temporary("bad.csv", "a,b\n1,2\n\n3,4\n5,oops\n6,7\n");
  StreamReader reader(path, Encoding::csv, {.channels = 2, .rate = 250});
  EXPECT_EQ(reader.info().names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader.info().rate, 250);
  Matrix<double> out(2, 10);
  EXPECT_EQ(reader.read_some(out), 2);
  EXPECT_EQ(out.leftCols(2), (Matrix<double>(2, 2) << 1, 3, 2, 4).finished());
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(message([&] { reader.read_some(out); }), path + ": line 5, column 2: 'oops' is not a number");
  }
  EXPECT_EQ(message([&] { StreamReader(path, Encoding::csv, {.channels = 3}); }),
            path + ": has 2 channels where 3 were asked for");
  ::unlink(path.c_str());

  const std::string endless = temporary("endless.csv", "1\n" + std::string((1 << 24) + 1, '2'));
  StreamReader long_line(endless, Encoding::csv, {});
  Matrix<double> one(1, 10);
  EXPECT_EQ(long_line.read_some(one), 1);
  EXPECT_EQ(message([&] { long_line.read_some(one); }),
            endless + ": line 2 is longer than 16 MiB; is it text, one frame per line?");
  ::unlink(endless.c_str());
}

TEST(StreamIo, NamesReadBackAsNames) {
  const auto back = [](const std::vector<std::string>& names) {
    const auto channels = static_cast<Index>(names.size());
    const std::string path = temporary(
        "names.csv",
        bytes_of(Encoding::csv, {.channels = channels, .names = names}, Matrix<double>::Ones(channels, 2)));
    StreamReader reader(path, Encoding::csv, {.channels = channels});
    ::unlink(path.c_str());
    EXPECT_EQ(read_all(reader).cols(), 2);
    return reader.info().names;
  };
  const std::vector<std::string> hard = {"#1", "2", "+nan", "", " a ", "'b'", "C 3;x", "plain", "1e999"};
  EXPECT_EQ(back(hard), hard);
  EXPECT_EQ(back({"a,b", "c\nd"}), (std::vector<std::string>{"a b", "c d"}));
  EXPECT_EQ(back({"C 3"}), (std::vector<std::string>{"C_3"}));
  EXPECT_EQ(back({""}), (std::vector<std::string>{""}));
}

}  // namespace
}  // namespace demix::io
