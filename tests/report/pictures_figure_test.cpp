#include <limits>

#include "report/figure_support.hpp"

namespace demix::report {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Pictures : public testing::FigureTest {
 protected:
  Pictures() {
    figure.title = "all";
    figure.width = 8;
    figure.height = 6;
    figure.rows = {{"sources", Matrix<double>::Random(2, 48), {"one", "two"}},
                   {"mixtures", Matrix<double>::Random(3, 48), {}}};
  }
  std::multiset<std::string> texts() { return testing::texts_of(draw(figure, base())[1]); }
  std::string svg() { return testing::bytes_of(draw(figure, base())[1]); }
  std::size_t images() {
    const std::string all = svg();
    std::size_t n = 0;
    for (std::size_t at = 0; (at = all.find("<image", at)) != std::string::npos; ++at) ++n;
    return n;
  }

  PicturesFigure figure;
};

TEST_F(Pictures, WritesPngAndSvg) { expect_pictures(draw(figure, base())); }

TEST_F(Pictures, SaysWhatIsWhatOnce) {
  const auto seen = texts();
  for (const char* text : {"all", "sources", "mixtures", "one", "two"})
    EXPECT_EQ(seen.count(text), 1U) << text;
}

TEST_F(Pictures, AreTheSameEveryTime) { EXPECT_EQ(svg(), svg()); }

TEST_F(Pictures, AreInTheSvgWithTheGreysOfTheirHistograms) {
  EXPECT_EQ(images(), 10U);
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
  using Figure = PicturesFigure;
  const auto refused = [&](auto change, const char* field) {
    Figure f = figure;
    change(f);
    expect_refused(f, field);
  };
  refused([](Figure& f) { f.width = 0; }, "width");
  refused([](Figure& f) { f.height = -1; }, "height");
  refused([](Figure& f) { f.rows.clear(); }, "rows");
  refused([](Figure& f) { f.rows[1].pixels.transposeInPlace(); }, "rows[1].pixels");
  refused([](Figure& f) { f.rows[1].pixels.resize(0, 48); }, "rows[1].pixels");
  refused([](Figure& f) { f.rows[0].pixels(1, 3) = nan; }, "rows[0].pixels");
  refused([](Figure& f) { f.rows[0].names.pop_back(); }, "rows[0].names");
}

TEST_F(Pictures, LeavesNothingBehindWithoutAFolder) {
  EXPECT_THROW(draw(figure, folder / "nowhere" / "figure"), std::runtime_error);
  EXPECT_EQ(files_in_folder(), 0U);
}

}  // namespace
}  // namespace demix::report
