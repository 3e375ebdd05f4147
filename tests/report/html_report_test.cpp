#include "demix/html_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "report/findings.hpp"
#include "report/markup.hpp"
#include "report/page_support.hpp"

namespace demix::report {
namespace {

using testing::inf;
using testing::is_utf8;
using testing::nan;
using testing::summary_of;

// Reads a page as XML: every tag closed by its own, attributes in quotes, & only in names of characters.
class Xml {
 public:
  explicit Xml(const std::string& text) : rest_(text) {
    EXPECT_TRUE(is_utf8(text));
    skip("<!DOCTYPE html>\n");
    while (!rest_.empty() && error.empty()) rest_.front() == '<' ? tag() : text_();
    if (error.empty() && !open_.empty()) error = "not closed: " + open_.back();
  }
  std::string error;
  std::vector<std::string> values;  // of attributes
  std::multiset<std::string> tags;
  std::string words;  // between the tags of the body

 private:
  void skip(std::string_view what) {
    if (!rest_.starts_with(what)) {
      error = "expected " + std::string(what) + " at " + std::string(rest_.substr(0, 60));
      return;
    }
    rest_.remove_prefix(what.size());
  }
  std::string until(std::string_view ends) {
    const std::size_t n = std::min(rest_.find_first_of(ends), rest_.size());
    const std::string part(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return part;
  }
  void check(const std::string& part) {
    for (std::size_t at = 0; (at = part.find('&', at)) != std::string::npos; ++at) {
      bool known = false;
      for (const char* name : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
        known |= part.compare(at, std::strlen(name), name) == 0;
      }
      if (!known) error = "bare & in " + part.substr(at, 40);
    }
    for (const char c : part) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') error = "control character";
    }
  }
  void text_() {
    const std::string part = until("<");
    check(part);
    if (open_.empty() && part != "\n") error = "text outside: " + part;
    if (tags.contains("body")) words += part;
  }
  void tag() {
    skip("<");
    const bool closing = rest_.starts_with('/');
    if (closing) skip("/");
    const std::string name = until(" />\n");
    if (closing) {
      skip(">");
      if (open_.empty() || open_.back() != name) error = "closed: " + name;
      if (!open_.empty()) open_.pop_back();
      return;
    }
    tags.insert(name);
    while (rest_.starts_with(' ') && error.empty()) attribute();
    const bool alone = rest_.starts_with('/');
    skip(alone ? "/>" : ">");
    if (!alone) open_.push_back(name);
  }
  void attribute() {
    skip(" ");
    until("=");
    skip("=\"");
    const std::string value = until("\"<");
    skip("\"");
    check(value);
    values.push_back(value);
  }

  std::string_view rest_;
  std::vector<std::string> open_;
};

// Numbers that are none must not get into a drawing.
void expect_sound(const std::string& page) {
  const Xml xml(page);
  EXPECT_EQ(xml.error, "");
  for (const std::string& value : xml.values) {
    if (value.starts_with("data:")) continue;
    EXPECT_EQ(value.find("nan"), std::string::npos) << value.substr(0, 200);
    EXPECT_EQ(value.find("inf"), std::string::npos) << value.substr(0, 200);
  }
}

// Channels are mixtures by `mixing` of unit sources.
Page page_of(const Matrix<double>& mixing, Index frames, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const Matrix<double> Y =
      Matrix<double>::NullaryExpr(mixing.cols(), frames, [&] { return std::pow(normal(random), 3); });
  Page page;
  page.model.method = "fobi";
  page.model.version = "1.2.3";
  page.model.mean = Vector<double>::Zero(mixing.rows());
  page.model.mixing = mixing;
  page.model.unmixing = Matrix<double>::Zero(mixing.cols(), mixing.rows());
  page.model.kurtosis = Vector<double>::LinSpaced(mixing.cols(), 9, 2);
  page.model.samples = frames;
  page.mixtures.summary = summary_of(mixing * Y);
  page.sources.summary = summary_of(Y);
  return page;
}
Page page_of(Index channels, Index frames) {
  return page_of(Matrix<double>::Identity(channels, channels), frames);
}

// What it says of the model

TEST(Findings, PowersOfUncorrelatedSourcesAddUpToOne) {
  Matrix<double> mixing(3, 2);
  mixing << 3, 0, 0, 4, 0, 0;
  Page page = page_of(mixing, 100000);
  const double a = 9 * std::pow(page.sources.summary.channel(0).deviation(), 2);
  const double b = 16 * std::pow(page.sources.summary.channel(1).deviation(), 2);
  auto c = components_of(page);
  EXPECT_NEAR(c[0].power, a / (a + b), 1e-9);
  EXPECT_NEAR(c[1].power, b / (a + b), 1e-9);
  EXPECT_EQ(c[0].strongest, 0);
  EXPECT_EQ(c[1].strongest, 1);

  EXPECT_FALSE(mixed_units(page));
  page.mixtures.units = {"µV", "mmHg", "µV"};  // the third is constant
  EXPECT_TRUE(mixed_units(page));
  c = components_of(page);
  EXPECT_NEAR(c[0].power, 0.5, 1e-9);
  EXPECT_NEAR(c[1].power, 0.5, 1e-9);
  EXPECT_NE(html(page).find("different units"), std::string::npos);
}

TEST(Findings, WarningsSayWhomTheyDoNotConcern) {
  Page page = page_of(8, 2500);
  page.model.warnings.push_back({Warning::Kind::unresolved, "components 2 to 5 are too alike", {1, 2, 3, 4}});
  page.model.warnings.push_back({Warning::Kind::few_samples, "2500 frames are few", {}});
  const auto words = warnings_in_words(page.model);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0], "Components 2 to 5 are too alike. The other components are not concerned.");
  EXPECT_EQ(words[1].substr(0, 20), "2500 frames are few.");
  const std::string text = html(page);
  EXPECT_NE(text.find(words[0]), std::string::npos);
  EXPECT_EQ(text.find("nothing to warn of"), std::string::npos);
  EXPECT_NE(html(page_of(2, 100)).find("nothing to warn of"), std::string::npos);
}

// Pages

TEST(HtmlReport, IsWellFormedWhateverTheLength) {
  for (const Index frames : {0, 1, 2, 500, 1024, 1025, 5000}) {
    for (const double rate : {0., 250., nan}) {
      Page page = page_of(3, frames);
      page.rate = rate;
      page.weights = true;
      expect_sound(html(page));
    }
  }
}

TEST(HtmlReport, SaysTheFacts) {
  Page page = page_of(3, 5000);
  page.rate = 250;
  page.inputs = {"folder/heart.edf"};
  page.command = "demix separate folder/heart.edf -o out";
  page.why = "it is quick.";
  page.model.options = {{"weight", "square"}};
  page.notes = {"One channel was left out."};
  page.mixtures.names = {"C3", "C4", "Oz"};
  const std::string text = html(page);
  for (const char* part :
       {"<title>Separation of heart.edf</title>", "<dd>folder/heart.edf</dd>",
        "5,000 frames at 250 Hz, 20.0 s", "fobi: it is quick.", "One channel was left out.", "demix 1.2.3",
        "weight = square", "<code>demix separate folder/heart.edf -o out</code>", "lang=\"en\"", ">C4<",
        "by descending kurtosis"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  page.model.kurtosis = Vector<double>::LinSpaced(3, 2, 9);
  EXPECT_EQ(html(page).find("by descending kurtosis"), std::string::npos);
}

TEST(HtmlReport, ShowsTextsFromOutsideAsTheyAre) {
  const std::string evil = "</title></style><script>alert(1)</script>\" onload='x' &amp; ]]> \xff\x01 {} {0}";
  const std::string tame = markup::escaped(evil);
  Page page = page_of(2, 3000);
  page.title = page.command = page.why = page.model.method = page.model.version = evil;
  page.inputs = page.notes = {evil, evil};
  page.mixtures.names = page.mixtures.units = page.sources.names = {evil, evil};
  page.model.options = {{evil, evil}};
  page.model.warnings = {{Warning::Kind::not_converged, evil, {}}};
  page.weights = true;
  Part truth = page.sources;
  page.mixtures.sounds = {{"", evil, 1, 1}, {"RIFF", "", 1, 1}};
  page.sources.pictures = {{"PNG", 4, 4}, {"PNG", 4, 4}};
  page.truth = Truth{truth, truth.summary, truth.summary};
  const std::string text = html(page);
  expect_sound(text);
  const Xml xml(text);
  EXPECT_FALSE(xml.tags.contains("script"));
  EXPECT_EQ(xml.tags.count("title"), 1U + 4U);  // of the page, and of four bars
  std::size_t seen = 0;
  for (std::size_t at = 0; (at = text.find(tame, at)) != std::string::npos; at += tame.size()) ++seen;
  EXPECT_GT(seen, 30U);
}

TEST(HtmlReport, NumbersThatAreNoneDoNotBreakIt) {
  Matrix<double> X = Matrix<double>::Random(6, 3000);
  X.row(0).setConstant(nan);
  X.row(1).setConstant(5);
  X.row(2) *= 1.7e308;
  X.row(3) *= 1e-310;
  X(4, 7) = inf;
  X(5, 1500) = nan;
  X(5, 1502) = nan;
  Page page = page_of(6, 10);
  page.mixtures.summary = page.sources.summary = summary_of(X);
  page.model.mixing(0, 0) = nan;
  page.model.mixing(1, 1) = inf;
  page.model.kurtosis(2) = nan;
  page.weights = true;
  Part truth;
  truth.summary = summary_of(X);
  page.truth = Truth{truth, truth.summary, truth.summary};
  const std::string text = html(page);
  expect_sound(text);
  EXPECT_NE(text.find("channel 1: 3,000 values are not numbers."), std::string::npos);
  EXPECT_NE(text.find("channel 5: one value is not a number."), std::string::npos);
  EXPECT_NE(text.find("channel 2<small>constant, 5</small>"), std::string::npos);
  const std::string words = Xml(text).words;
  EXPECT_EQ(words.find("nan"), std::string::npos);
  EXPECT_EQ(words.find(" inf"), std::string::npos);
}

TEST(HtmlReport, StaysUsableWithManyChannels) {
  Page page = page_of(32, 20000);
  page.weights = true;
  page.rate = 128;
  std::string text = html(page);
  EXPECT_EQ(text.find("Only the first"), std::string::npos);
  EXPECT_LT(text.size(), 1'500'000U);

  page = page_of(200, 20000);
  page.weights = true;
  text = html(page);
  expect_sound(text);
  EXPECT_LT(text.size(), 2'000'000U);
  EXPECT_NE(text.find("Only the first 40 of 200 signals are drawn."), std::string::npos);
  EXPECT_NE(text.find("Only the first 128 of 200 channels are drawn."), std::string::npos);
  EXPECT_NE(text.find("<th scope=\"row\">200</th>"), std::string::npos);  // the table has them all
}

TEST(HtmlReport, EmbedsSoundsAndPictures) {
  Page page = page_of(2, 3000);
  page.sources.sounds = {{"foobar", "", 2, 0.5}, {"", "out/long one.wav", 7200, 1}};
  std::string text = html(page);
  expect_sound(text);
  EXPECT_NE(text.find("src=\"data:audio/wav;base64,Zm9vYmFy\""), std::string::npos);
  EXPECT_NE(text.find("src=\"./out/long%20one.wav\""), std::string::npos);
  EXPECT_NE(text.find("<th scope=\"col\">gain</th>"), std::string::npos);
  EXPECT_NE(text.find("gain 0.5"), std::string::npos);

  page.mixtures.pictures = {{"foobar", 60, 50}, {"foobar", 60, 50}};
  text = html(page);
  expect_sound(text);
  EXPECT_NE(
      text.find("<img alt=\"channel 1\" width=\"60\" height=\"50\" src=\"data:image/png;base64,Zm9vYmFy\"/>"),
      std::string::npos);
  EXPECT_NE(text.find("pictures of 60 × 50"), std::string::npos);
}

TEST(HtmlReport, SetsTheTruthBesideWhatWasRecovered) {
  const Matrix<double> S = Matrix<double>::Random(2, 4000);
  const Matrix<double> error = 0.1 * S;
  Page page = page_of(3, 4000);  // one component more than there are sources
  EXPECT_EQ(html(page).find("Against the true sources"), std::string::npos);
  page.truth = Truth{{summary_of(S), {"one", "two"}, {}, {}, {}}, summary_of(1.1 * S), summary_of(error)};
  const std::string text = html(page);
  expect_sound(text);
  EXPECT_NE(text.find("aria-label=\"two: residual 1 % of the power\""), std::string::npos);
}

TEST(HtmlReport, RefusesWhatDoesNotFit) {
  const auto refused = [](auto change, const std::string& field) {
    Page page = page_of(2, 100);
    change(page);
    try {
      html(page);
      ADD_FAILURE() << field << " was not refused";
    } catch (const std::invalid_argument& e) {
      EXPECT_EQ(std::string(e.what()).substr(0, field.size() + 1), field + ":") << e.what();
    }
  };
  refused([](Page& p) { p.mixtures.summary = Summary(3); }, "mixtures.summary");
  refused([](Page& p) { p.sources.names = {"one"}; }, "sources.names");
  refused([](Page& p) { p.mixtures.units = {"V", "V", "V"}; }, "mixtures.units");
  refused([](Page& p) { p.sources.sounds.resize(1); }, "sources.sounds");
  refused([](Page& p) { p.mixtures.pictures.resize(3); }, "mixtures.pictures");
  refused([](Page& p) { p.model.kurtosis.resize(1); }, "model");
  refused([](Page& p) { p.model = Model(); }, "model");
  refused([](Page& p) { p.truth = Truth{{Summary(2), {}, {}, {}, {}}, Summary(2), Summary(1)}; }, "truth");
}

}  // namespace
}  // namespace demix::report
