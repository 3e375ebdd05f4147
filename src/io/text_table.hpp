#pragma once

#include "io/format_files.hpp"

namespace demix::io {

/// A table with columns of text or dates, which are left out and named in a note, or with commas as decimal
/// points between semicolons or tabs. Null if the file is no such table.
Reader open_text_table(const Path& file, char delimiter);

}  // namespace demix::io
