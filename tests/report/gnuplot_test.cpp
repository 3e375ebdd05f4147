#include "report/gnuplot.hpp"

#include "report/figure_support.hpp"

namespace demix::report::gnuplot {
namespace {

constexpr const char* script = "plot x\n";
const Canvas page{300, 200, "sans,10"};

class Gnuplot : public testing::FigureTest {
 protected:
  void expect_nothing_drawn(const std::filesystem::path& where, const std::string& why,
                            const std::string& what = script) const {
    try {
      draw(what, page, where);
      ADD_FAILURE() << "drawn";
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  }
};

// Only what is in a folder can be started.
class OnlyPath {
 public:
  explicit OnlyPath(const std::filesystem::path& folder) : before_(::getenv("PATH")) {
    ::setenv("PATH", folder.c_str(), 1);
  }
  ~OnlyPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST_F(Gnuplot, DrawsWhateverTheFolderIsCalled) {
  folder /= "it's \"a\" \\ %d {b}_c^2 @d `e` $f\n;";
  std::filesystem::create_directory(folder);
  expect_pictures(draw(script, page, base()));
  folder = folder.parent_path();
}

TEST_F(Gnuplot, ReplacesWhatIsThere) {
  std::ofstream(folder / "figure.png") << "old";
  expect_pictures(draw(script, page, base()));
}

TEST_F(Gnuplot, LeavesNothingBehindWithoutAFolder) {
  expect_nothing_drawn(folder / "nowhere" / "figure", "nowhere");
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(Gnuplot, LeavesNothingBehindWhenTheScriptFails) {
  // the PNG is complete by then
  expect_nothing_drawn(base(), "nonsense", "if (GPVAL_TERM eq 'svg') { nonsense }\nplot x\n");
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST_F(Gnuplot, KeepsTheOldPictureWhenTheScriptFails) {
  std::ofstream(folder / "figure.png") << "old";
  expect_nothing_drawn(base(), "nonsense", "nonsense\n");
  EXPECT_EQ(testing::bytes_of(folder / "figure.png"), "old");
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(Gnuplot, WritesBothOrNone) {
  std::filesystem::create_directory(folder / "figure.svg");  // in the way
  expect_nothing_drawn(base(), "figure.svg");
  EXPECT_FALSE(std::filesystem::exists(folder / "figure.png"));
  EXPECT_EQ(files_in_folder(), 1U);
}

TEST_F(Gnuplot, SaysWhatToInstall) {
  const OnlyPath nothing(folder);
  expect_nothing_drawn(base(), "gnuplot-nox");
  EXPECT_EQ(files_in_folder(), 0U);
}

TEST(GnuplotText, IsReadAsWritten) {
  EXPECT_EQ(literal("a\"b\\c\nd\te"), R"("a\"b\\c\nd e")");
  EXPECT_EQ(literal("`date`").find('`'), std::string::npos);  // nothing to run
  EXPECT_EQ(named_tics({"50%", "b"}), R"(("50%%" 0, "b" 1))");
}

TEST(GnuplotText, WidthGrowsWithTheLongestLine) {
  EXPECT_EQ(width_of("", 10), 0);
  EXPECT_GT(width_of("abc", 10), width_of("ab", 10));
  EXPECT_EQ(width_of("abc\nab", 10), width_of("abc", 10));
  EXPECT_EQ(width_of("ab", 20), 2 * width_of("ab", 10));
  EXPECT_EQ(width_of("\xc3\xa9", 12), 16);  // one letter of two bytes
}

TEST(GnuplotText, IsBrokenAtSpacesWhereItIsTooLong) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("", 10, 100), Lines{});
  EXPECT_EQ(wrapped("a few words", 10, 1000), Lines{"a few words"});
  EXPECT_EQ(wrapped("a few words", 10, width_of("a few", 10)), (Lines{"a few", "words"}));
  EXPECT_EQ(wrapped("unbreakable word", 10, 1), (Lines{"unbreakable", "word"}));
  EXPECT_EQ(wrapped("two\nlines", 10, 1000), (Lines{"two", "lines"}));
}

TEST(GnuplotLegend, HasEvenColumns) {
  const std::vector<Entry> entries(5, Entry{"name"});
  const double width = width_of(entries);
  EXPECT_EQ(columns_of(entries, 10 * width), 5U);
  EXPECT_EQ(columns_of(entries, 4 * width), 3U);  // three and two, not four and one
  EXPECT_EQ(columns_of(entries, 1), 1U);
  EXPECT_EQ(columns_of({}, 100), 1U);
  EXPECT_EQ(height_of(entries, 3), 2 * legend_line);
}

TEST(GnuplotLegend, KnowsThePlaceOfALabel) {
  std::vector<std::string> labels;
  EXPECT_EQ(place_of("a", labels), 0U);
  EXPECT_EQ(place_of("b", labels), 1U);
  EXPECT_EQ(place_of("a", labels), 0U);
  EXPECT_EQ(labels.size(), 2U);
}

}  // namespace
}  // namespace demix::report::gnuplot
