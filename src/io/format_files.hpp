#pragma once

#include "demix/signal_files.hpp"

/// How each kind of file is opened and created; the table of them is in formats.cpp.
namespace demix::io {

using Path = std::filesystem::path;
using Reader = std::unique_ptr<SignalReader>;
using Writer = std::unique_ptr<SignalWriter>;
using Ranges = std::vector<ValueRange>;

// text.cpp
Reader open_text(const Path& file, const ReadOptions& options);

// npy.cpp
Reader open_npy(const Path& file, const ReadOptions& options);
Writer create_npy(const Path& file, const SignalInfo& info, const Ranges& ranges);

// npz.cpp, mat.cpp, eeglab.cpp
Reader open_npz(const Path& file, const ReadOptions& options);
Writer create_npz(const Path& file, const SignalInfo& info, const Ranges& ranges);
Reader open_mat(const Path& file, const ReadOptions& options);
Writer create_mat(const Path& file, const SignalInfo& info, const Ranges& ranges);
Reader open_set(const Path& file, const ReadOptions& options);
Writer create_set(const Path& file, const SignalInfo& info, const Ranges& ranges);

// sound.cpp: libsndfile
Reader open_wav(const Path& file, const ReadOptions& options);
Reader open_sound(const Path& file, const ReadOptions& options);
Writer create_flac(const Path& file, const SignalInfo& info, const Ranges& ranges);
Writer create_ogg(const Path& file, const SignalInfo& info, const Ranges& ranges);
Writer create_aiff(const Path& file, const SignalInfo& info, const Ranges& ranges);

// pictures.cpp: libpng, libjpeg, libtiff
Reader open_picture(const Path& file, const ReadOptions& options);
Writer create_png(const Path& file, const SignalInfo& info, const Ranges& ranges);
Writer create_jpeg(const Path& file, const SignalInfo& info, const Ranges& ranges);
Writer create_tiff(const Path& file, const SignalInfo& info, const Ranges& ranges);
Writer create_pnm(const Path& file, const SignalInfo& info, const Ranges& ranges);

// edf.cpp, edf_writer.cpp: EDFlib
Reader open_edf(const Path& file, const ReadOptions& options);
/// EDF+ (16 bits) and BDF+ (24 bits). A file is whole data records: their length is chosen to divide
/// info.frames; where none does, or info.frames is 0, the last frame is repeated to the end of its record.
/// Names are cut to 16 ASCII characters, units to 8, texts of annotations to 40 bytes; annotations before the
/// first frame are left out.
Writer create_edf(const Path& file, const SignalInfo& info, const Ranges& ranges);
Writer create_bdf(const Path& file, const SignalInfo& info, const Ranges& ranges);

// brainvision.cpp
Reader open_brainvision(const Path& file, const ReadOptions& options);
/// The header, the numbers and the markers; `name`: what they are called, without extension.
Writer create_brainvision(const std::vector<Path>& files, const std::string& name, const SignalInfo& info,
                          const Ranges& ranges);

// gdf.cpp, xdf.cpp
Reader open_gdf(const Path& file, const ReadOptions& options);
Reader open_xdf(const Path& file, const ReadOptions& options);

}  // namespace demix::io
