#include "report/eeg_section.hpp"

#include <gtest/gtest.h>

#include "page_support.hpp"
#include "report/bitmap.hpp"

namespace demix::report {
namespace {

std::string decoded(const std::string& address) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : address.substr(address.find(',') + 1)) {
    const auto value = digits.find(c);
    if (value == std::string::npos) break;
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) out += static_cast<char>(bits >> (held -= 8) & 0xffU);
  }
  return out;
}

// The colour of a pixel, as BMP has it: rows from the bottom, padded to 4 bytes.
std::array<int, 3> pixel(const std::string& bmp, Index width, Index height, Index i, Index j) {
  const auto byte = [&](Index at) {
    return static_cast<unsigned char>(bmp.at(static_cast<std::size_t>(at)));
  };
  const Index start = byte(10) | byte(11) << 8;
  const Index line = (width + 3) / 4 * 4;
  const Index colour = 54 + 4 * byte(start + (height - 1 - i) * line + j);
  return {byte(colour + 2), byte(colour + 1), byte(colour)};
}

TEST(Bitmap, IsBlueBelowAndRedAboveZero) {
  Matrix<float> values(2, 3);
  values << -1, 0, 1, std::numeric_limits<float>::quiet_NaN(), 0.5F, 7;
  const std::string bmp = decoded(bitmap(values, 1));
  using Colour = std::array<int, 3>;
  EXPECT_EQ(bmp.substr(0, 2), "BM");
  EXPECT_EQ(pixel(bmp, 3, 2, 0, 0), (Colour{33, 102, 172}));
  EXPECT_EQ(pixel(bmp, 3, 2, 0, 1), (Colour{247, 247, 247}));
  EXPECT_EQ(pixel(bmp, 3, 2, 0, 2), (Colour{178, 24, 43}));
  EXPECT_EQ(pixel(bmp, 3, 2, 1, 0), (Colour{160, 160, 160}));
  EXPECT_EQ(pixel(bmp, 3, 2, 1, 2), (Colour{178, 24, 43}));  // beyond the scale
}

Page page() {
  Page p;
  const Matrix<double> X = Matrix<double>::Random(3, 500);
  p.model.mean = Vector<double>::Zero(3);
  p.model.unmixing = p.model.mixing = Matrix<double>::Identity(3, 3);
  p.model.kurtosis = Vector<double>::Constant(3, 4);
  p.rate = 100;
  p.mixtures = {testing::summary_of(X), {"Fz", "<b>", "Pz"}, {}, {}, {}};
  p.sources = {testing::summary_of(X), {}, {}, {}, {}};
  Eeg eeg;
  eeg.references = {"EOG & more"};
  eeg.frequencies = {0, 1, 2, 3};
  eeg.removal = "demix apply m.json <x>.edf --remove 2 -o clean.edf";
  for (int k = 0; k < 3; ++k) {
    ComponentCard card;
    card.correlations = {0.5};
    card.spectrum = {1, 2, 3, 0};
    card.map = Matrix<float>::Random(8, 8);
    eeg.cards.push_back(card);
  }
  eeg.cards[1].kind = "eye-movement";
  eeg.cards[1].reason = "r = .9 with \"EOG & more\"";
  eeg.viewer = {100, 0, true, X.cast<float>(), p.model.mixing, p.model.unmixing, p.model.mean};
  p.eeg = eeg;
  return p;
}

TEST(EegPage, SaysFirstWhatToRemove) {
  const std::string text = html(page());
  const auto at = [&](const char* what) {
    const auto found = text.find(what);
    EXPECT_NE(found, std::string::npos) << what;
    return found;
  };
  EXPECT_LT(at("id=\"suggestions\""), at("id=\"maps\""));
  EXPECT_LT(at("id=\"maps\""), at("id=\"sources\""));
  EXPECT_LT(at("id=\"sources\""), at("id=\"mixtures\""));
  at("<b>2</b>: eye movement, r = .9 with &quot;EOG &amp; more&quot;");
  at("demix apply m.json &lt;x&gt;.edf --remove 2");
  at("<button type=\"button\">r EOG &amp; more</button>");
  EXPECT_EQ(text.find("<b>Pz"), std::string::npos);
}

TEST(EegPage, IsUtf8AndRunsNothingForOthers) {
  Page p = page();
  EXPECT_TRUE(testing::is_utf8(html(p)));
  EXPECT_NE(html(p).find("<script>"), std::string::npos);
  p.eeg.reset();
  EXPECT_EQ(html(p).find("<script>"), std::string::npos);
}

TEST(EegPage, SaysSoIfThereIsNothingToSuggest) {
  Page p = page();
  p.eeg->removal.clear();
  p.eeg->cards[1].kind.clear();
  for (ComponentCard& card : p.eeg->cards) card.map.resize(0, 0);
  const std::string text = html(p);
  EXPECT_NE(text.find("No component is clearly"), std::string::npos);
  EXPECT_NE(text.find("the places of the electrodes are not known"), std::string::npos);
}

TEST(EegPage, WhatDoesNotFitIsRefused) {
  Page p = page();
  p.eeg->cards.pop_back();
  EXPECT_THROW(html(p), std::invalid_argument);
  p = page();
  p.eeg->cards[0].correlations.clear();
  EXPECT_THROW(html(p), std::invalid_argument);
  p = page();
  p.eeg->viewer.mean.resize(2);
  EXPECT_THROW(html(p), std::invalid_argument);
}

}  // namespace
}  // namespace demix::report
