#include "demix/report.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "report/figure_support.hpp"
#include "support.hpp"

namespace demix::report {
namespace {

TEST(TextPlot, HasTheSizeAskedForAndShowsTheShape) {
  Vector<double> ramp = Vector<double>::LinSpaced(100, -1, 1);
  const auto lines = text_plot(ramp, 10, 2, -1, 1);
  ASSERT_EQ(lines.size(), 2U);
  for (const auto& line : lines) EXPECT_EQ(line.size(), 30U);  // three bytes each
  const std::string blank = "\xe2\xa0\x80";
  EXPECT_EQ(lines[0].substr(0, 3), blank);   // upper left is empty
  EXPECT_EQ(lines[1].substr(27, 3), blank);  // lower right too
  EXPECT_NE(lines[1].substr(0, 3), blank);
  EXPECT_NE(lines[0].substr(27, 3), blank);
  EXPECT_EQ(text_plot(Vector<double>::Zero(5), 4, 1, 0, 0).size(), 1U);  // no range, no crash
}

class Separation : public testing::DrawTest<SeparationFigure> {
 protected:
  Separation() {
    figure.title = "test";
    figure.S = Matrix<double>::Random(2, 500);
    figure.X = figure.S;
    figure.Y = figure.S;
    figure.names = {"one", "two"};
  }
};

TEST_F(Separation, WritesPngAndSvg) {
  const auto files = draw(figure, base());
  expect_pictures(files);
  for (const auto& file : files) EXPECT_GT(std::filesystem::file_size(file), 5000U);
}

TEST_F(Separation, FitsAColumn) { expect_to_fit_a_column(); }

// The way a trace goes, from its lowest to its highest point on the page.
double height_of(const std::string& svg, const std::string& colour) {
  double tallest = 0;
  for (std::size_t at = svg.find("stroke='" + colour); at != std::string::npos;
       at = svg.find("stroke='" + colour, at + 1)) {
    const std::size_t d = svg.find("d='", at);
    if (d == std::string::npos || d > svg.find("/>", at)) continue;
    std::string points = svg.substr(d + 3, svg.find('\'', d + 3) - d - 3);
    for (char& c : points) c = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : ' ';
    std::istringstream in(points);
    double lowest = 1e9;
    double highest = -1e9;
    for (double x = 0, y = 0; in >> x >> y;) {
      lowest = std::min(lowest, y);
      highest = std::max(highest, y);
    }
    tallest = std::max(tallest, highest - lowest);
  }
  return tallest;
}

// An estimate that is half of the source differs by half of it, and is drawn so.
TEST_F(Separation, TheDifferenceIsOnTheScaleOfTheSignal) {
  figure.Y = 0.5 * figure.S;
  const std::string drawn = svg();
  EXPECT_NEAR(height_of(drawn, "rgb(  0, 158, 115)") / height_of(drawn, "rgb( 86, 180, 233)"), 0.5, 0.02);
}

// Of many frames the envelope is drawn: the peak between two drawn points is not lost.
TEST_F(Separation, AboveOneFrameToAPointTheEnvelopeIsDrawn) {
  figure.S.setZero();
  figure.S(0, 123) = 1;
  figure.S(1, 7) = 1;
  figure.X = figure.Y = figure.S;
  figure.shown = 50;
  figure.stride = 10;
  const double enveloped = height_of(svg(), red);
  figure.stride = 1;
  figure.shown = 500;
  EXPECT_NEAR(enveloped, height_of(svg(), red), 1);
  EXPECT_GT(enveloped, 20);
}

TEST_F(Separation, ShowsTextsAsTheyAre) {
  figure.title = testing::special;
  figure.names[1] = "a_b";
  const auto seen = texts();
  EXPECT_TRUE(seen.contains(testing::special));
  EXPECT_TRUE(seen.contains("a_b"));
}

TEST_F(Separation, RefusesWhatDoesNotFit) {
  refused([](Figure& f) { f.names.pop_back(); }, "names");
  refused([](Figure& f) { f.Y.conservativeResize(2, 499); }, "Y");
  refused([](Figure& f) { f.X.resize(0, 0); }, "X");
  refused([](Figure& f) { f.stride = 0; }, "stride");
}

class Composite : public testing::DrawTest<CompositeFigure> {
 protected:
  Composite() {
    CurvesFigure curves;
    curves.panels = {{"", "x", "y", false, false, {{"a", {1, 2}, {1, 2}, {}, {}, false}}, {}}};
    const auto files = draw(curves, base());
    figure.rows = {{files[0], files[0]}, {files[0]}};
  }
};

TEST_F(Composite, PutsPicturesInRowsWithLetters) {
  const auto svg = draw(figure, folder / "composite")[1];
  const auto seen = testing::texts_of(svg);
  for (const char* text : {"A", "B", "C"}) EXPECT_EQ(seen.count(text), 1U) << text;
  EXPECT_EQ(seen.count("D"), 0U);
  const std::string drawn = testing::bytes_of(svg);
  EXPECT_EQ(drawn.find("<image"), std::string::npos);  // not as pixels
  EXPECT_EQ(seen.count("x"), 3U);
  std::set<std::string> ids;
  for (std::size_t at = 0; (at = drawn.find(" id=", at)) != std::string::npos; ++at) {
    EXPECT_TRUE(ids.insert(drawn.substr(at, drawn.find_first_of(" >", at + 1) - at)).second);
  }
  EXPECT_GT(ids.size(), 3U);
}

TEST_F(Composite, FitsAColumn) {
  figure.rows = {figure.rows[1], figure.rows[1]};
  const testing::Print print = testing::in_print(testing::bytes_of(draw(figure, folder / "composite")[1]));
  EXPECT_DOUBLE_EQ(print.width, 85);
  EXPECT_GE(*print.letters.begin(), 7);
  EXPECT_LE(*print.letters.rbegin(), 9);
}

TEST_F(Composite, RefusesWhatIsNoPicture) {
  for (const CompositeFigure& wrong :
       {CompositeFigure{}, CompositeFigure{{{}}}, CompositeFigure{{{folder / "figure.svg"}}},
        CompositeFigure{{{folder / "none.png"}}}}) {
    EXPECT_THROW(draw(wrong, folder / "composite"), std::invalid_argument);
  }
  EXPECT_EQ(files_in_folder(), 2U);
}

}  // namespace
}  // namespace demix::report
