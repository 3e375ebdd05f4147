#!/usr/bin/env python3
"""05_watch.py ADDRESS: follows a stream through its page, by the address that `demix stream --page` printed.

Prints once a second how settled the sources are and how loud each was in that second. Needs NumPy."""
import json
import struct
import sys
import time
import urllib.request

import numpy as np

page, key = sys.argv[1].split("/?key=")
seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
get = lambda path: urllib.request.urlopen(f"{page}/{path}{'&' if '?' in path else '?'}key={key}", timeout=5).read()

for _ in range(seconds):
    time.sleep(1)
    status = json.loads(get("status"))
    answer = get(f"frames?step=1&count=4096&first={status['channels_shown']}")  # the last frames of the sources
    start, step, end, frames, rows, each, first = struct.unpack("<qqqIIII", answer[8:48])
    sources = np.frombuffer(answer[48:], "<f4").reshape(frames, rows)
    loudness = ", ".join(f"{name} {x:.3g}" for name, x in zip(status["names"], sources.std(0)))
    print(f"frame {end}: {'settled' if status['settled'] else 'still settling'}; {loudness}", flush=True)
