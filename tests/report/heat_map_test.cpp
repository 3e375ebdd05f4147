#include "report/figure_support.hpp"

namespace demix::report {
namespace {

const std::string grey = "<polygon fill = 'rgb(221, 221, 221)'";

class Heat : public testing::DrawTest<HeatMap> {
 protected:
  Heat() {
    figure.title = "grid";
    figure.x_label = "eta";
    figure.y_label = "tau";
    figure.value_label = "error";
    figure.x = {"e1", "e2", "e3"};
    figure.y = {"t1", "t2"};
    figure.values.resize(2, 3);
    figure.values << 1e-4, 1e-3, 1e-2, 1e-3, 1e-2, 1;
    figure.texts = {"c00", "c01", "c02", "c10", "c11", "c12"};
  }

  // The colour a text is written in.
  std::string colour_of(const std::string& text) {
    const std::string all = svg();
    const std::size_t from = all.rfind("fill=\"", all.find(">" + text + "<")) + 6;
    return all.substr(from, all.find('"', from) - from);
  }
};

TEST_F(Heat, WritesPngAndSvg) { expect_pictures(draw(figure, base())); }

TEST_F(Heat, FitsAColumn) {
  expect_to_fit_a_column();
  // the paper's grid
  figure.x.assign(12, "0.0002");
  figure.y.assign(8, "0.75");
  figure.values.setConstant(8, 12, 0.02);
  figure.texts.assign(96, "3/3");
  expect_to_fit_a_column();
}

TEST_F(Heat, SaysWhatIsWhat) {
  const auto seen = texts();
  for (const char* text : {"grid", "eta", "tau", "error", "e1", "e2", "e3", "t1", "t2", "c00", "c01", "c02",
                           "c10", "c11", "c12", "10-4", "100"}) {
    EXPECT_EQ(seen.count(text), 1U) << text;
  }
}

TEST_F(Heat, WritesWhiteOnDarkAndBlackOnLight) {
  EXPECT_EQ(colour_of("c00"), "rgb(255,255,255)");
  EXPECT_EQ(colour_of("c12"), "rgb(0,0,0)");
}

TEST_F(Heat, FramesTheBest) {
  EXPECT_EQ(svg().find(red), std::string::npos);
  figure.best_row = 1;
  EXPECT_EQ(svg().find(red), std::string::npos);  // no column
  figure.best_column = 2;
  EXPECT_NE(svg().find(red), std::string::npos);
  EXPECT_EQ(count("dasharray"), 0U);
}

TEST_F(Heat, FramesAMarkedCellByDots) {
  figure.marked_row = 0;
  figure.marked_column = 1;
  EXPECT_NE(svg().find(red), std::string::npos);
  EXPECT_GT(count("dasharray"), 0U);
}

TEST_F(Heat, IsGreyWhereEveryRunFailed) {
  EXPECT_EQ(svg().find(grey), std::string::npos);
  figure.values(0, 0) = nan;
  EXPECT_NE(svg().find(grey), std::string::npos);
  EXPECT_EQ(colour_of("c00"), "rgb(0,0,0)");
}

TEST_F(Heat, HasNumbersBesideTheColoursEvenIfAllAreNearlyTheSame) {
  figure.values.setConstant(0.0301);
  const auto seen = texts();
  EXPECT_TRUE(seen.contains("0.02"));
  EXPECT_TRUE(seen.contains("0.05"));
}

TEST_F(Heat, DrawsASingleRowOneCellAndNoValues) {
  figure.texts.clear();
  figure.y = {"t"};
  figure.values = Matrix<double>::Constant(1, 3, 0.1);
  EXPECT_TRUE(texts().contains("t"));
  figure.x = {"e"};
  figure.values = Matrix<double>::Constant(1, 1, nan);
  EXPECT_TRUE(texts().contains("e"));
}

TEST_F(Heat, ShowsTextsAsTheyAre) {
  const std::string& odd = testing::special;
  figure.title = figure.x_label = figure.y_label = figure.value_label = odd;
  figure.x[1] = figure.y[1] = figure.texts[3] = odd;
  EXPECT_EQ(texts().count(odd), 7U);
}

TEST_F(Heat, RefusesWhatDoesNotFit) {
  refused([](Figure& f) { f.x.clear(); }, "x");
  refused([](Figure& f) { f.y.clear(); }, "y");
  refused([](Figure& f) { f.x.pop_back(); }, "values");
  refused([](Figure& f) { f.values.transposeInPlace(); }, "values");
  refused([](Figure& f) { f.values(0, 0) = 0; }, "values");
  refused([](Figure& f) { f.values(1, 2) = inf; }, "values");
  refused([](Figure& f) { f.texts.pop_back(); }, "texts");
  refused([](Figure& f) { f.best_row = 2; }, "best_row");
  refused([](Figure& f) { f.best_column = 3; }, "best_column");
  refused([](Figure& f) { f.marked_row = 2; }, "marked_row");
  refused([](Figure& f) { f.marked_column = 3; }, "marked_column");
}

TEST_F(Heat, LeavesNothingBehindWithoutAFolder) { expect_nothing_left_without_a_folder(); }

}  // namespace
}  // namespace demix::report
