#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "io/failure.hpp"
#include "io/format_files.hpp"
#include "io/ini.hpp"
#include "io/quiet.hpp"
#include "io/wav.hpp"

#ifdef DEMIX_HAVE_SNDFILE
#include <sndfile.h>
#endif

/// WAV, FLAC, OGG, MP3 and AIFF through libsndfile. WAV is written by StreamWriter, which can go on after a
/// kill.
namespace demix::io {
#ifdef DEMIX_HAVE_SNDFILE
namespace {

struct CloseSound {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using SoundHandle = std::unique_ptr<SNDFILE, CloseSound>;

class SoundReader final : public SignalReader {
 public:
  explicit SoundReader(const Path& path)
      : path_(path), is_mp3_(lower_case(path.extension().string()) == ".mp3") {
    rewind();
  }

  const SignalInfo& info() const override { return info_; }
  bool random_access() const override { return has_places_; }

  void rewind() override {
    file_.reset();
    SF_INFO sound{};
    file_ = open(sound);
    // libsndfile 1.2 decodes no more than two channels of it, and leaves the rest to chance.
    if ((sound.format & SF_FORMAT_SUBMASK) == SF_FORMAT_IMA_ADPCM && sound.channels > 2) {
      throw Error(path_.string() + ": IMA ADPCM of " + std::to_string(sound.channels) +
                  " channels is not supported; it has one or two");
    }
    info_.channels = sound.channels;
    info_.rate = sound.samplerate;
    promised_ = sound.frames;
    if (promised_ < std::numeric_limits<sf_count_t>::max()) info_.frames = std::max<sf_count_t>(promised_, 0);
    has_places_ = info_.frames > 0 && sound.seekable != 0 && is_plain(sound.format);
    seen_ = 0;
  }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    sf_count_t got = 0;
    {
      const Quiet quiet(is_mp3_);
      got = sf_readf_double(file_.get(), out.data(), out.cols());
    }
    if (got > 0) seen_ += got;
    const bool told = promised_ > 0 && promised_ < std::numeric_limits<sf_count_t>::max();
    if (got < out.cols() && (sf_error(file_.get()) != SF_ERR_NO_ERROR || (told && seen_ < promised_))) {
      throw cut_off(seen_);
    }
    return std::max<Index>(got, 0);
  }

  void read_at(Index first, Eigen::Ref<Matrix<double>> out) const override {
    SoundHandle file = idle_handle();
    const bool found = sf_seek(file.get(), first, SEEK_SET) == first;
    const sf_count_t got = found ? sf_readf_double(file.get(), out.data(), out.cols()) : 0;
    if (got < out.cols()) throw cut_off(first + std::max<sf_count_t>(got, 0));
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(file));
  }

 private:
  // Numbers one after the other: what a frame is does not depend on those before it.
  static bool is_plain(int format) {
    switch (format & SF_FORMAT_TYPEMASK) {
      case SF_FORMAT_WAV:
      case SF_FORMAT_WAVEX:
      case SF_FORMAT_RF64:
      case SF_FORMAT_W64:
      case SF_FORMAT_AIFF:
        break;
      default:
        return false;
    }
    switch (format & SF_FORMAT_SUBMASK) {
      case SF_FORMAT_PCM_S8:
      case SF_FORMAT_PCM_U8:
      case SF_FORMAT_PCM_16:
      case SF_FORMAT_PCM_24:
      case SF_FORMAT_PCM_32:
      case SF_FORMAT_FLOAT:
      case SF_FORMAT_DOUBLE:
        return true;
      default:
        return false;
    }
  }

  SoundHandle open(SF_INFO& sound) const {
    const Quiet quiet(is_mp3_);
    SoundHandle file(sf_open(path_.c_str(), SFM_READ, &sound));
    if (!file && is_mp3_) throw Error(path_.string() + ": cannot be read as sound: it is damaged, or no MP3");
    if (!file) throw Error(path_.string() + ": cannot be read as sound: " + sf_strerror(nullptr));
    return file;
  }

  // A thread reads by a handle of its own, which it gives back.
  SoundHandle idle_handle() const {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        SoundHandle file = std::move(idle_.back());
        idle_.pop_back();
        return file;
      }
    }
    SF_INFO sound{};
    return open(sound);
  }

  Error cut_off(sf_count_t after) const {
    return Error(path_.string() + ": ends after " + std::to_string(after) + " frames of " +
                 std::to_string(promised_) + "; it is cut off or damaged");
  }

  Path path_;
  bool is_mp3_;
  SoundHandle file_;
  mutable std::mutex mutex_;
  mutable std::vector<SoundHandle> idle_;
  bool has_places_ = false;
  SignalInfo info_;
  sf_count_t promised_ = 0;
  sf_count_t seen_ = 0;
};

class SoundWriter final : public SignalWriter {
 public:
  SoundWriter(const Path& path, const SignalInfo& info, int format) : path_(path) {
    if (!(info.rate >= 1 && info.rate <= 655350) || info.rate != std::floor(info.rate)) {
      throw Error(path.string() +
                  ": a sound file needs a whole number of frames per second; give `rate`, or "
                  "write another kind of file");
    }
    SF_INFO sound{};
    sound.channels = static_cast<int>(info.channels);
    sound.samplerate = static_cast<int>(info.rate);
    sound.format = format;
    file_.reset(sf_open(path.c_str(), SFM_WRITE, &sound));
    if (!file_) {
      throw Error(path.string() + ": cannot hold " + std::to_string(info.channels) + " channels at " +
                  std::to_string(sound.samplerate) + " frames per second (" + sf_strerror(nullptr) +
                  "); write .wav or .npy");
    }
    sf_command(file_.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
  }
  void write(const Frames<double>& block) override {
    const Matrix<double> dense = block;
    if (sf_writef_double(file_.get(), dense.data(), dense.cols()) != dense.cols()) {
      throw Error(path_.string() + ": cannot write: " + sf_strerror(file_.get()));
    }
  }
  void finish() override {
    if (sf_close(file_.release()) != 0)
      throw Error(path_.string() + ": cannot write its end; is the disk full?");
  }

 private:
  Path path_;
  SoundHandle file_;
};

}  // namespace

Reader open_sound(const Path& file, const ReadOptions&) { return std::make_unique<SoundReader>(file); }
Reader open_wav(const Path& file, const ReadOptions&) {
  wav::require_whole(file.string());  // libsndfile takes what there is
  return std::make_unique<SoundReader>(file);
}
Writer create_flac(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<SoundWriter>(file, info, SF_FORMAT_FLAC | SF_FORMAT_PCM_24);
}
Writer create_ogg(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<SoundWriter>(file, info, SF_FORMAT_OGG | SF_FORMAT_VORBIS);
}
Writer create_aiff(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<SoundWriter>(file, info, SF_FORMAT_AIFF | SF_FORMAT_FLOAT);
}
#else
namespace {

Error without(const Path& path) {
  return built_without("libsndfile", path.string(), "FLAC, OGG, MP3 and AIFF files", ".wav");
}

}  // namespace

Reader open_sound(const Path& file, const ReadOptions&) { throw without(file); }
Reader open_wav(const Path& file, const ReadOptions&) {
  return std::make_unique<StreamReader>(file.string(), Encoding::wav);
}
Writer create_flac(const Path& file, const SignalInfo&, const Ranges&) { throw without(file); }
Writer create_ogg(const Path& file, const SignalInfo&, const Ranges&) { throw without(file); }
Writer create_aiff(const Path& file, const SignalInfo&, const Ranges&) { throw without(file); }
#endif

}  // namespace demix::io
