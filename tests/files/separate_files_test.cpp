#include <unistd.h>

#include <filesystem>

#include "demix/file_use.hpp"
#include "demix/metrics.hpp"
#include "demix/separate_files.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

namespace fs = std::filesystem;

class SeparateFiles : public ::testing::Test {
 protected:
  SeparateFiles() {
    fs::create_directories(folder);
    Random random(3);
    mixture =
        mix(make_sources({Source::laplace, Source::uniform, Source::square}, 20000, Timing::iid, random),
            normal_mixing(3, random));
    io::write_signals(folder / "x.npy", {mixture.mixtures, 0, {}});
  }
  ~SeparateFiles() override { fs::remove_all(folder); }

  double error_of(const fs::path& sources) const {
    return mse(mixture.sources, io::read_signals(sources).data);
  }

  const fs::path folder = fs::temp_directory_path() / ("separate_files_" + std::to_string(::getpid()));
  Mixture mixture;
};

TEST_F(SeparateFiles, WritesSourcesModelReportAndSummary) {
  const io::FileRecording mixtures({folder / "x.npy"});
  const SeparatedFiles out = separate_files(mixtures, folder / "out");
  ASSERT_EQ(out.sources, std::vector<fs::path>{folder / "out" / "sources.npy"});
  EXPECT_LT(error_of(out.sources[0]), 1e-2);
  EXPECT_EQ(io::load_model(out.model_file).unmixing, out.model.unmixing);
  EXPECT_TRUE(fs::exists(out.report_file));
  EXPECT_EQ(io::read_file(out.summary_file), out.summary);
  EXPECT_EQ(out.strongest_on.size(), 3U);
  EXPECT_TRUE(out.scaling.empty());  // numbers are written as they are

  const AppliedFiles again = apply_to_files(out.model, mixtures, folder / "again.npy");
  ASSERT_EQ(again.files, std::vector<fs::path>{folder / "again.npy"});
  EXPECT_EQ(io::read_signals(again.files[0]).data, io::read_signals(out.sources[0]).data);
  apply_to_files(out.model, mixtures, folder / "channels.npy", std::vector<Index>{});
  const Matrix<double> back = io::read_signals(folder / "channels.npy").data;
  EXPECT_LT((back - mixture.mixtures).cwiseAbs().maxCoeff(), 1e-9);
}

TEST_F(SeparateFiles, BadSegmentsAreNotLearnedFrom) {
  Matrix<double> spoilt = mixture.mixtures;
  spoilt.middleCols(5000, 1000).setRandom();
  spoilt.middleCols(5000, 1000) *= 100;
  io::write_signals(folder / "spoilt.npy", {spoilt, 0, {}});
  io::ReadOptions read;
  read.rate = 1000;
  const io::FileRecording mixtures({folder / "spoilt.npy"}, read);
  FitOptions options;
  options.method = "fobi";
  options.bad = {{5, 6}};  // seconds
  const Model model = fit_files(mixtures, options).model;
  EXPECT_EQ(model.samples, 19000);
  EXPECT_LT(mse(mixture.sources, model.apply(Frames<double>(mixture.mixtures))), 1e-2);
  options.bad_annotations = true;
  options.bad.clear();
  EXPECT_THROW(fit_files(mixtures, options), io::Error);  // there are none
}

TEST_F(SeparateFiles, NothingThatIsReadIsReplaced) {
  fs::rename(folder / "x.npy", folder / "sources.npy");
  const std::string before = io::read_file(folder / "sources.npy");
  const io::FileRecording mixtures({folder / "sources.npy"});
  EXPECT_THROW(separate_files(mixtures, folder), io::FileConflict);
  EXPECT_THROW(apply_to_files(fit_files(mixtures).model, mixtures, folder / "sources.npy"), io::FileConflict);
  EXPECT_EQ(io::read_file(folder / "sources.npy"), before);
  EXPECT_FALSE(fs::exists(folder / "model.json"));
}

}  // namespace
}  // namespace demix
