#!/usr/bin/env bash
# Installs the library into a staging folder and builds this project against it, as a stranger would.
# usage: build.sh BUILD_FOLDER WORK_FOLDER
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
rm -rf "$2"
mkdir -p "$2"
cmake --install "$1" --prefix "$2/stage" >/dev/null
cmake -S "$here" -B "$2/build" -DCMAKE_PREFIX_PATH="$2/stage" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$2/build" >/dev/null
"$2/build/consumer"
"$2/stage/bin/demix" --version
