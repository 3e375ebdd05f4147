#include <filesystem>

#include "demix/io.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "support.hpp"

namespace demix::io {
namespace {
namespace fs = std::filesystem;

Model example() {
  Random random(1);
  Model m;
  m.method = "fobi";
  m.version = "0.1.0";
  m.options = {{"weight", "square"}};
  m.names = {"Fp1", "Cz \"x\"", "O2"};
  m.mean = random.normal(3, 1);
  m.mixing = random.normal(3, 3);
  m.unmixing = inverse(m.mixing);
  m.kurtosis = Vector<double>::LinSpaced(3, 6, 1);
  m.stability = Vector<double>{{0.99, 0.5, -0.25}};
  m.samples = 12345678901;
  m.convergence = {false, 17, {3.5, 1.25, 1.0 / 3}};
  m.warnings.push_back({Warning::Kind::unresolved, "components 1 and 2", {0, 1}});
  m.warnings.push_back({Warning::Kind::not_converged, "not \"yet\"", {}});
  m.warnings.push_back({Warning::Kind::glitches, "frames", {2}, {0, 12345678901}});
  m.diagnosis.crosstalk = {0.001, 0.0025, random.normal(3, 3)};
  m.diagnosis.coherence = random.normal(3, 3);
  m.diagnosis.magnitudes = random.normal(3, 3);
  return m;
}

class ModelFile : public ::testing::Test {
 protected:
  ModelFile() : folder_(fs::temp_directory_path() / ("demix-test-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~ModelFile() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(ModelFile, WhatIsSavedIsLoaded) {
  const Model m = example();
  save_model(folder_ / "m.json", m);
  const Model back = load_model(folder_ / "m.json");
  EXPECT_EQ(back.unmixing, m.unmixing);
  EXPECT_EQ(back.mixing, m.mixing);
  EXPECT_EQ(back.mean, m.mean);
  EXPECT_EQ(back.kurtosis, m.kurtosis);
  EXPECT_EQ(back.names, m.names);
  EXPECT_EQ(back.options, m.options);
  EXPECT_EQ(back.samples, m.samples);
  EXPECT_EQ(back.method, m.method);
  EXPECT_EQ(back.version, m.version);
  ASSERT_EQ(back.stability.size(), 3);
  EXPECT_EQ(back.stability, m.stability);
  EXPECT_EQ(back.convergence.converged, m.convergence.converged);
  EXPECT_EQ(back.convergence.iterations, m.convergence.iterations);
  EXPECT_EQ(back.convergence.objective, m.convergence.objective);
  ASSERT_TRUE(back.diagnosis.crosstalk);
  EXPECT_EQ(back.diagnosis.crosstalk->expected, m.diagnosis.crosstalk->expected);
  EXPECT_EQ(back.diagnosis.crosstalk->bound, m.diagnosis.crosstalk->bound);
  EXPECT_EQ(back.diagnosis.crosstalk->pairs, m.diagnosis.crosstalk->pairs);
  EXPECT_EQ(back.diagnosis.no_crosstalk, "");
  ASSERT_EQ(back.diagnosis.coherence.size(), 9);
  ASSERT_EQ(back.diagnosis.magnitudes.size(), 9);
  EXPECT_EQ(back.diagnosis.coherence, m.diagnosis.coherence);
  EXPECT_EQ(back.diagnosis.magnitudes, m.diagnosis.magnitudes);
  ASSERT_EQ(back.warnings.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(back.warnings[k].kind, m.warnings[k].kind);
    EXPECT_EQ(back.warnings[k].text, m.warnings[k].text);
    EXPECT_EQ(back.warnings[k].components, m.warnings[k].components);
    EXPECT_EQ(back.warnings[k].frames, m.warnings[k].frames);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);  // no temporary left
}

TEST_F(ModelFile, WhyThereIsNoCrosstalkIsSaved) {
  Model m = example();
  m.diagnosis = {};
  m.diagnosis.no_crosstalk = "too few frames";
  const Model back = parse_model(to_json(m), "m");
  EXPECT_FALSE(back.diagnosis.crosstalk);
  EXPECT_EQ(back.diagnosis.no_crosstalk, "too few frames");
  EXPECT_EQ(back.diagnosis.coherence.size(), 0);
  EXPECT_EQ(back.diagnosis.magnitudes.size(), 0);
}

TEST_F(ModelFile, CutOffAnywhereItIsRefused) {
  const std::string text = to_json(example());
  const std::size_t closing = text.rfind('}');
  for (std::size_t n = 0; n <= closing; ++n) EXPECT_THROW(parse_model(text.substr(0, n), "m"), Error) << n;
}

TEST_F(ModelFile, AChangedDigitIsNoticed) {
  const std::string text = to_json(example());
  int changed = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] < '0' || text[n] > '9') continue;
    std::string bad = text;
    bad[n] = text[n] == '7' ? '8' : '7';
    try {  // a digit past the precision of a double may change without changing the number
      EXPECT_EQ(to_json(parse_model(bad, "m")), text) << n;
    } catch (const Error&) {
      ++changed;
    }
  }
  EXPECT_GT(changed, 200);
}

TEST_F(ModelFile, RefusalsAreOneClearLine) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_model(text, "m.json");
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message("{}"), "m.json: not a demix model");
  EXPECT_EQ(message("[1, 2]"), "m.json: not a demix model");
  EXPECT_EQ(message("hello"), "m.json: not a model, or damaged: the JSON is broken or cut off");
  const std::string deep = std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_EQ(
      message("{\"format\": \"demix-model\", \"format_version\": 1, \"checksum\": \"\", \"a\": " + deep),
      "m.json: not a demix model");
  std::string newer = to_json(example());
  newer.replace(newer.find("\"format_version\": 1"), 19, "\"format_version\": 2");
  EXPECT_NE(message(newer).find("update demix"), std::string::npos);
}

TEST_F(ModelFile, WritingFailsCleanly) {
  EXPECT_THROW(save_model(folder_ / "missing" / "m.json", example()), Error);
  EXPECT_THROW(load_model(folder_ / "none.json"), Error);
  EXPECT_THROW(load_model(folder_), Error);
  EXPECT_THROW(read_signals(folder_ / "x.xyz"), Error);
  // An old file stays as it was when the new one cannot replace it: its name is a folder here.
  fs::create_directory(folder_ / "taken");
  EXPECT_THROW(write_file(folder_ / "taken", "text"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace demix::io
