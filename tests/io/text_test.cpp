#include "io/file_support.hpp"
#include "io/text_line.hpp"

namespace demix::io {
namespace {

TEST(Text, ReadsTheUsualKinds) {
  for (const char* text : {"1,2\n3,4\n5,6\n", "1, 2\r\n3, 4\r\n5, 6", "1;2\n3;4\n5;6\n", "1\t2\n3\t4\n5\t6\n",
                           "  1   2\n3 4 \n\n5\t6\n", "# made by hand\n1 2\n3 4\n5 6\n",
                           "\xef\xbb\xbf"
                           "1,2\n3,4\n+5,6e0\n"}) {
    const Signals s = read_as("x.csv", text);
    ASSERT_EQ(s.data.rows(), 2) << text;
    ASSERT_EQ(s.data.cols(), 3) << text;
    EXPECT_EQ(s.data(1, 2), 6) << text;
    EXPECT_TRUE(s.names.empty());
  }
}

TEST(Text, ReadsNamesOnTop) {
  const Signals s = read_as("x.csv", "Fp1, \"C 3\" ,O2\n1,2,3\n");
  EXPECT_EQ(s.names, (std::vector<std::string>{"Fp1", "C 3", "O2"}));
  EXPECT_EQ(s.data(2, 0), 3);
}

TEST(Text, ColumnsOfTextAreLeftOut) {
  put(test_file("x.csv"), "date,Fp1,who,Cz\n2024-03-31 12:00:01,1,ann,2.5\n2024-03-31 12:00:02,3,bob,4\n");
  const auto reader = open_signals(test_file("x.csv"));
  EXPECT_EQ(reader->info().names, (std::vector<std::string>{"Fp1", "Cz"}));
  ASSERT_EQ(reader->info().notes.size(), 1U);
  EXPECT_COMPLAINT(reader->info().notes[0], "columns that hold no numbers are left out: 'date', 'who'");
  EXPECT_EQ(read_all(*reader), (Matrix<double>{{1, 3}, {2.5, 4}}));
  reader->rewind();
  EXPECT_EQ(read_all(*reader), (Matrix<double>{{1, 3}, {2.5, 4}}));
}

TEST(Text, CommasAreDecimalPointsBetweenSemicolons) {
  const Signals s = read_as("x.csv", "a;b\n1,5;-2\n0,25;3,125e2\n7;8\n");
  EXPECT_EQ(s.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s.data, (Matrix<double>{{1.5, 0.25, 7}, {-2, 312.5, 8}}));
  EXPECT_EQ(read_as("x.txt", "1,5\t2,5\n3\t4,5\n5\t6\n").data.cols(), 3);
}

TEST(Text, BlankCellsAreTold) {
  put(test_file("x.csv"), "1,2,3\n4,,6\n7,8,9\n1,2,3\n");
  EXPECT_COMPLAINT(complaint(test_file("x.csv")), "x.csv: line 2, column 2: '' is not a number");
}

TEST(Text, RoundTripIsExact) {
  Signals s;
  s.data = Random(1).normal(3, 100) * 1e-7;
  s.names = {"a", "b", "c"};
  for (const char* name : {"x.csv", "x.tsv", "x.txt"}) {
    write_signals(test_file(name), s);
    const Signals back = read_signals(test_file(name));
    EXPECT_EQ(back.data, s.data);
    EXPECT_EQ(back.names, s.names);
  }
}

TEST(Text, NamesReadBackAsNames) {
  const auto back = [](const std::vector<std::string>& names, char delimiter) {
    std::string row = "1";
    for (std::size_t k = 1; k < names.size(); ++k) row.append(1, delimiter).append("1");
    const Signals read = read_as("x.txt", names_line(names, delimiter) + row + "\n" + row + "\n");
    EXPECT_EQ(read.data, Matrix<double>::Ones(static_cast<Index>(names.size()), 2)) << delimiter;
    return read.names;
  };
  const std::vector<std::string> hard = {"#1", "2", "+nan", "", " a ", "'b'", "C 3", "plain", "1e999"};
  const std::vector<std::string> numbers = {"1", "2"};
  for (const char delimiter : {',', ';', '\t'}) {
    EXPECT_EQ(back(hard, delimiter), hard);
    EXPECT_EQ(back(numbers, delimiter), numbers);
    EXPECT_EQ(back({"C 3"}, delimiter), (std::vector<std::string>{"C_3"}));
    EXPECT_EQ(back({"a,b;c\td\ne"}, delimiter), (std::vector<std::string>{"a_b_c_d_e"}));
    for (const char* name : {"", "#", "7", "\xef\xbb\xbfz"})
      EXPECT_EQ(back({name}, delimiter), (std::vector<std::string>{name}));
  }
  // Only what the reader would take for a delimiter is given up.
  EXPECT_EQ(back({"a,b;c\td", "e\r\nf"}, ','), (std::vector<std::string>{"a b;c\td", "e  f"}));
  EXPECT_EQ(back({"a,b;c\td", "e\r\nf"}, '\t'), (std::vector<std::string>{"a b c d", "e  f"}));
  EXPECT_EQ(back({"a,b;c\td", " 1 "}, ' '), (std::vector<std::string>{"a_b_c_d", "_1_"}));
}

TEST(Text, BadFilesAreRefusedWithThePlace) {
  const auto message = [](const char* text) -> std::string {
    try {
      read_as("f.csv", text);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(""), "f.csv: there are no numbers in it");
  EXPECT_EQ(message("a,b\n"), "f.csv: there are no numbers in it");
  EXPECT_EQ(message("1,2\n3\n"),
            "f.csv: line 2 has 1 values where 2 were expected; every row must be as long as the first");
  EXPECT_EQ(message("x,y\n1,2\n3,4,5\n"),
            "f.csv: line 3 has 3 values where 2 were expected; every row must be as long as the first");
  // Names on top are all names: one among numbers is a broken number.
  EXPECT_EQ(message("1,x,3\n4,5,6\n"), "f.csv: line 1, column 2: 'x' is not a number");
  EXPECT_EQ(message("x,2,3\n4,5,6\n"), "f.csv: line 1, column 1: 'x' is not a number");
  EXPECT_EQ(message("a,b,3\n4,5,6\n"), "f.csv: line 1, column 1: 'a' is not a number");
  EXPECT_EQ(message("1,2\n3,oops\n"), "f.csv: line 2, column 2: 'oops' is not a number");
  EXPECT_EQ(message("1,2\n3,\n"), "f.csv: line 2, column 2: '' is not a number");
}

TEST(Text, AnyBytesGiveAnAnswerOrAnError) {
  Random random(3);
  const std::string alphabet = "0123456789.,;-+eE \t\n\rnaif#\"\xff";
  for (int k = 0; k < 20000; ++k) {
    std::string text;
    for (Index n = random.below(60); n > 0; --n) {
      text += alphabet[static_cast<std::size_t>(random.below(static_cast<Index>(alphabet.size())))];
    }
    try {
      const Signals s = read_as("x.csv", text);
      EXPECT_GT(s.data.size(), 0);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace demix::io
