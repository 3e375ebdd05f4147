#include "io/file_support.hpp"

namespace demix::io {
namespace {

SignalInfo info() {
  SignalInfo f;
  f.channels = 3;
  f.rate = 128;
  f.names = {"Fp1", "\u00b5x", "Cz"};
  f.annotations = {{0.5, 0.25, "left"}, {1, -1, "\U0001d11e"}};
  return f;
}

TEST(Eeglab, RoundTrip) {
  const auto path = test_file("x.set");
  const Matrix<double> X = Random(1).normal(3, 257);
  write(path, X, info());
  const auto reader = open_signals(path);
  EXPECT_EQ(read_all(*reader), X.cast<float>().cast<double>());
  EXPECT_EQ(reader->info().rate, 128);
  EXPECT_EQ(reader->info().names, info().names);
  EXPECT_EQ(reader->info().units, std::vector<std::string>(3, "uV"));
  ASSERT_EQ(reader->info().annotations.size(), 2U);
  for (std::size_t k = 0; k < 2; ++k) {
    const Annotation& a = reader->info().annotations[k];
    EXPECT_EQ(a.onset, info().annotations[k].onset);
    EXPECT_EQ(a.duration, info().annotations[k].duration);
    EXPECT_EQ(a.text, info().annotations[k].text);
  }
  EXPECT_FLOAT_EQ(static_cast<float>(reader->resolution()), std::numeric_limits<float>::epsilon());
}

TEST(Eeglab, WritesMicrovolts) {
  const auto path = test_file("x.set");
  SignalInfo f = info();
  f.units = {"uV", "mV", "V"};
  write(path, Matrix<double>::Ones(3, 9), f);
  EXPECT_EQ(read_all(*open_signals(path)).col(4), Eigen::Vector3d(1, 1e3, 1e6));
}

TEST(Eeglab, BytesThatAreNotUtf8AreLatin1) {
  const auto path = test_file("x.set");
  SignalInfo f = info();
  f.names[1] = "\xb5V";
  write(path, Matrix<double>::Ones(3, 9), f);
  EXPECT_EQ(open_signals(path)->info().names[1], "\u00b5V");
}

TEST(Eeglab, WhatIsWrongIsSaid) {
  SignalInfo f = info();
  f.rate = 0;
  try {
    write(test_file("x.set"), Matrix<double>::Ones(3, 9), f);
    FAIL();
  } catch (const Error& e) {
    EXPECT_COMPLAINT(std::string(e.what()), "x.set: an EEGLAB dataset needs a rate; give `rate`");
  }
  const auto path = test_file("y.set");
  f.rate = 100;
  write(test_file("y.mat"), Matrix<double>::Ones(3, 9), f);
  std::filesystem::copy_file(test_file("y.mat"), path, std::filesystem::copy_options::overwrite_existing);
  std::string bytes = read_file(path);
  bytes.replace(bytes.find("data"), 4, "dada");
  put(path, bytes);
  EXPECT_COMPLAINT(complaint(path), "it is no EEGLAB dataset");
}

TEST(Eeglab, DamagedFilesNeverCrash) {
  const auto path = test_file("x.set");
  write(path, Random(1).normal(3, 20), info());
  expect_damage_is_survived(path);
}

}  // namespace
}  // namespace demix::io
