#include "io/eeglab_positions.hpp"
#include "io/file_support.hpp"

namespace demix::io {
namespace {

TEST(ChannelTypes, AreToldByUsualNames) {
  const auto type = [](const char* name) { return std::string(type_name(type_of_name(name))); };
  for (const char* name :
       {"Fp1", "FP2", "Cz", "C3..", "EEG Fp1-Ref", "T10", "AFF5h", "PO7", "EEG001", "Fp1-A2"})
    EXPECT_EQ(type(name), "eeg") << name;
  for (const char* name :
       {"EOG left", "VEOG", "heog-", "EOG1", "EOGH", "HEOGL", "HEOGR", "VEOGb", "VEOGu", "HEOGli", "VEOL"})
    EXPECT_EQ(type(name), "eog") << name;
  for (const char* name : {"ECG", "EKG1", "ecg II"}) EXPECT_EQ(type(name), "ecg") << name;
  for (const char* name : {"Status", "STI 014", "TRIGGER", "stim"}) EXPECT_EQ(type(name), "status") << name;
  for (const char* name : {"Resp chest", "GSR", "AUX1", "SaO2", "SpO2 finger"})
    EXPECT_EQ(type(name), "misc") << name;
  EXPECT_EQ(type("EMG chin"), "emg");
  for (const char* name : {"", "mic1", "x", "C11", "C0", "F", "channel 3", "microphone", "statusbar"})
    EXPECT_EQ(type(name), "unknown") << name;
}

TEST(ChannelTypes, TravelWithARecording) {
  const auto path = test_file("x.edf");
  SignalInfo info;
  info.channels = 4;
  info.rate = 100;
  info.frames = 300;
  info.names = {"EEG Fp1", "EOG left", "Status", "heart"};
  const Matrix<double> X = Random(1).normal(4, 300);
  NewFiles files;
  const auto writer = create_signals(files, path, info, std::vector<ValueRange>(4, {-9, 9}));
  writer->write(X);
  writer->finish();
  files.commit();
  const FileRecording recording({path});
  EXPECT_EQ(recording.info().types, (std::vector<ChannelType>{ChannelType::eeg, ChannelType::eog,
                                                              ChannelType::status, ChannelType::unknown}));
}

TEST(ChannelTypes, PositionsOfABidsFolderHaveTheAxesOfItsCoordinateSystem) {
  const auto path = test_file("sub-1_task-rest_eeg.edf");
  std::filesystem::remove(path.parent_path() / "sub-1_coordsystem.json");
  SignalInfo info;
  info.channels = 2;
  info.rate = 100;
  info.frames = 300;
  info.names = {"Fp1", "Cz"};
  NewFiles files;
  const auto writer = create_signals(files, path, info, std::vector<ValueRange>(2, {-9, 9}));
  writer->write(Random(1).normal(2, 300));
  writer->finish();
  files.write(path.parent_path() / "sub-1_electrodes.tsv", "name\tx\ty\tz\nFp1\t80\t30\t10\nCz\t0\t0\t90\n");
  files.commit();
  EXPECT_EQ(FileRecording({path}).info().positions[0].value(), (Position{0.08, 0.03, 0.01}));
  write_file(path.parent_path() / "sub-1_coordsystem.json",
             R"({"EEGCoordinateSystem": "CTF", "EEGCoordinateUnits": "mm"})");  // +x nose, +y left
  EXPECT_EQ(FileRecording({path}).info().positions[0].value(), (Position{-0.03, 0.08, 0.01}));
}

TEST(ChannelTypes, PositionsAreInMetresWithTheNoseUpY) {
  for (const double unit : {0.001, 0.01, 1., 0.095}) {
    SignalInfo info;
    set_eeglab_positions(info, {{0.085 / unit, 0, 0}, {0, 0.085 / unit, 0}, {NAN, 0, 0}});
    ASSERT_EQ(info.positions.size(), 3U);
    EXPECT_NEAR(info.positions[0].value()[1], 0.085, 1e-12) << unit;   // the nose
    EXPECT_NEAR(info.positions[1].value()[0], -0.085, 1e-12) << unit;  // the left ear
    EXPECT_FALSE(info.positions[2]);
  }
}

}  // namespace
}  // namespace demix::io
