#include "report/figure_support.hpp"

namespace demix::report {
namespace {

class Pictures : public testing::DrawTest<PicturesFigure> {
 protected:
  Pictures() {
    figure.title = "all";
    figure.width = 8;
    figure.height = 6;
    figure.rows = {{"sources", Matrix<double>::Random(2, 48), {"one", "two"}},
                   {"mixtures", Matrix<double>::Random(3, 48), {}}};
  }
};

TEST_F(Pictures, WritesPngAndSvg) { expect_pictures(draw(figure, base())); }

TEST_F(Pictures, FitsAColumn) { expect_to_fit_a_column(); }

TEST_F(Pictures, SaysWhatIsWhatOnce) {
  const auto seen = texts();
  for (const char* text : {"all", "sources", "mixtures", "one", "two"})
    EXPECT_EQ(seen.count(text), 1U) << text;
}

TEST_F(Pictures, AreTheSameEveryTime) { EXPECT_EQ(svg(), svg()); }

TEST_F(Pictures, AreInTheSvgWithTheGreysOfTheirHistograms) {
  EXPECT_EQ(count("<image"), 10U);
  const std::string all = svg();
  for (std::size_t at = 0; (at = all.find("<image", at)) != std::string::npos; ++at) {
    EXPECT_NE(all.substr(at, 300).find("href='data:image/png;base64,"), std::string::npos);
  }
}

TEST_F(Pictures, LargeOnesAreKeptSmaller) {
  figure.width = 900;
  figure.height = 450;
  figure.rows = {{"noise", Matrix<double>::Random(2, 900 * 450), {}}};
  EXPECT_LT(svg().size(), 600000U);
}

TEST_F(Pictures, DrawsOnePixelAndOneColour) {
  figure.width = figure.height = 1;
  figure.rows = {{"pixel", Matrix<double>::Constant(1, 1, 5), {}}};
  EXPECT_TRUE(texts().contains("pixel"));
  figure.width = 30;
  figure.rows = {{"", Matrix<double>::Constant(1, 30, 5), {"line"}}};
  EXPECT_TRUE(texts().contains("line"));
}

TEST_F(Pictures, ShowsTextsAsTheyAre) {
  const std::string word = "a_{c}%d\"\\n`h`$i<&#";
  figure.title = figure.rows[0].title = figure.rows[0].names[1] = word;
  EXPECT_EQ(texts().count(word), 3U);
}

TEST_F(Pictures, RefusesWhatDoesNotFit) {
  refused([](Figure& f) { f.width = 0; }, "width");
  refused([](Figure& f) { f.height = -1; }, "height");
  refused([](Figure& f) { f.rows.clear(); }, "rows");
  refused([](Figure& f) { f.rows[1].pixels.transposeInPlace(); }, "rows[1].pixels");
  refused([](Figure& f) { f.rows[1].pixels.resize(0, 48); }, "rows[1].pixels");
  refused([](Figure& f) { f.rows[0].pixels(1, 3) = nan; }, "rows[0].pixels");
  refused([](Figure& f) { f.rows[0].names.pop_back(); }, "rows[0].names");
}

TEST_F(Pictures, LeavesNothingBehindWithoutAFolder) { expect_nothing_left_without_a_folder(); }

}  // namespace
}  // namespace demix::report
