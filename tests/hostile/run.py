#!/usr/bin/python3
"""run.py [PART...]: the hostile trial of the program $DEMIX (build/demix): everything users, disks and other programs
may do to it. What counts as a finding is at the top of trial.py. Exit 1 if there is any."""
import sys
import time

import bad_files
import closed_descriptors
import forged_states
import full_disks
import kills
import mutated_corpus
import overwriting
import promises
from trial import DEMIX, Trial, require_devices

PARTS = {"overwriting": overwriting, "promises": promises, "closed_descriptors": closed_descriptors,
         "full_disks": full_disks, "forged_states": forged_states, "bad_files": bad_files,
         "mutated_corpus": mutated_corpus, "kills": kills}


def main(names):
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"{', '.join(sorted(unknown))}: expected {', '.join(PARTS)}")
    trial = Trial()
    print(f"the hostile trial of {DEMIX}")
    for name in names or PARTS:
        start = time.monotonic()
        print(f"== {name}", flush=True)
        require_devices()
        PARTS[name].run_all(trial)
        require_devices()
        print(f"   {time.monotonic() - start:.0f} s", flush=True)
    return 1 if trial.report() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
