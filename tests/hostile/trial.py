"""How the hostile trial runs the program, and what it counts as a finding.

Of every run: a signal that was not sent, an exit code other than 0, 1 and 2, a hang, more memory than the limit, more
than one line of error, words of third parties or control characters in a message, an input that changed, a file left
behind by a run that failed."""
import collections
import concurrent.futures
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time

DEMIX = os.environ.get("DEMIX", "build/demix")
SANITIZED = bool(os.environ.get("DEMIX_SANITIZED"))  # shadow memory: addresses cannot be limited, and all is slower
SECONDS = 60 if SANITIZED else 20
ADDRESSES = 4 << 30
RESIDENT, SANITIZED_RESIDENT = 1 << 30, 3 << 30

FOREIGN = ["std::", "vector::", "basic_string", "json.exception", "bad_alloc", "bad_optional", "what():",
           "terminate called",
           "AddressSanitizer", "runtime error:", "LeakSanitizer", "CLI::", "stoi", "stod", "Assertion"]
REMARKS = ("note: ", "warning: ", "auto: ", "fobi: ", "fastica: ", "picard: ", "jade: ", "going on after ")


class Trial:
    """Counts what passed and what failed, by kind."""

    def __init__(self):
        self.passed = collections.Counter()
        self.failed = collections.Counter()
        self.findings = []
        self._lock = threading.Lock()

    def check(self, kind, holds, what):
        with self._lock:
            (self.passed if holds else self.failed)[kind] += 1
            if not holds:
                self.findings.append(f"{kind}: {what}")
                print(f"  FINDING {kind}: {what}", flush=True)
        return holds

    def report(self):
        print(f"\n{'kind':<24}{'passed':>8}{'failed':>8}")
        for kind in sorted(set(self.passed) | set(self.failed)):
            print(f"{kind:<24}{self.passed[kind]:>8}{self.failed[kind]:>8}")
        failed = sum(self.failed.values())
        print(f"\n{sum(self.passed.values())} passed, {failed} failed")
        return failed


class Result:
    def __init__(self, code, out, err, seconds, hung, resident):
        self.code, self.out, self.err, self.seconds, self.hung, self.resident = code, out, err, seconds, hung, resident

    def errors(self):
        """Lines of stderr that are no remarks."""
        return [line for line in self.err.splitlines() if not line.startswith(REMARKS)]


def limited(command, file_size=None, sanitized=SANITIZED):
    """The command under limits. By `prlimit`, not by code of ours between fork and exec: forking while another thread
    is in a BLAS call waits for ever."""
    sizes = [] if sanitized else [f"--as={ADDRESSES}"]
    sizes += [] if file_size is None else [f"--fsize={file_size}"]
    return ["prlimit", "--core=0", *sizes, *command]


def environment():
    return dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0:abort_on_error=0:exitcode=99",
                UBSAN_OPTIONS="halt_on_error=1:exitcode=99")


DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7)}


def device(folder, which, name):
    """A device under a name in the folder. As root a program can replace what is in /dev, and one that writes
    a file beside its output and renames it does; so root gets a node of its own, and nobody else could do harm."""
    if os.geteuid() == 0:
        os.mknod(folder / name, 0o666 | stat.S_IFCHR, os.makedev(*DEVICES[which]))
    else:
        os.symlink("/dev/" + which, folder / name)


def require_devices():
    """The trial must not harm the machine it runs on."""
    for which in DEVICES:
        if not stat.S_ISCHR(os.stat("/dev/" + which).st_mode):
            raise SystemExit(f"/dev/{which} is no device: restore it before going on")


def run(*words, program=None, seconds=SECONDS, file_size=None, shell=None, **options):
    """The program with these arguments. `shell`: redirections for a shell to make."""
    assert not any("/dev/" in str(word) for word in words), "devices by device(), never by their own names"
    command = [program or DEMIX, *map(str, words)]
    if shell is not None:
        command = ["sh", "-c", f'exec "$@" {shell}', "sh", *command]
    sanitized = SANITIZED or "build-asan" in command[0]
    options.setdefault("stdin", subprocess.DEVNULL)
    start = time.monotonic()
    # Beyond the size of files write() fails as in a shell with `trap '' XFSZ`: Python ignores that signal, and so do
    # its children where signals are not restored.
    process = subprocess.Popen(limited(command, file_size, sanitized), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment(), restore_signals=file_size is None, **options)
    hung = False
    peak = [0]
    most = SANITIZED_RESIDENT if sanitized else RESIDENT
    watcher = threading.Thread(target=watch_memory, args=(process, peak, most), daemon=True)
    watcher.start()
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        hung = True
        process.kill()
        out, err = process.communicate()
    return Result(process.returncode, out, err.decode("utf-8", "backslashreplace"), time.monotonic() - start, hung,
                  0 if sanitized else peak[0])  # sanitizers need several times as much


def watch_memory(process, peak, limit):
    """Its largest resident memory in bytes, as far as looking now and then tells; beyond the limit it is ended."""
    pause = 0.01
    while process.poll() is None:
        try:
            for line in open(f"/proc/{process.pid}/status"):
                if line.startswith("VmHWM:"):
                    peak[0] = max(peak[0], 1024 * int(line.split()[1]))
        except (OSError, ValueError):
            return
        if peak[0] > limit:
            process.kill()
        time.sleep(pause)
        pause = min(0.2, 1.5 * pause)


def flaw(result):
    """What is wrong with a run, whatever it was asked to do; nothing if nothing is."""
    if result.resident > RESIDENT:
        return f"takes {result.resident >> 20} MB"
    if result.hung:
        return f"hangs beyond {result.seconds:.0f} s"
    if result.code < 0:
        return f"ends by {signal.Signals(-result.code).name}"
    if result.code not in (0, 1, 2):
        return f"exit code {result.code}: {result.err[-400:]!r}"
    for word in FOREIGN:
        if word in result.err:
            return f"speaks of {word}: {result.err!r}"
    if any(ord(c) < 32 and c not in "\n\t" or c == "\x7f" for c in result.err):
        return f"control characters on stderr: {result.err!r}"
    errors = result.errors()
    if result.code != 0 and (len(errors) != 1 or not errors[0].startswith("demix: ")):
        return f"exit {result.code} without one line that says why: {result.err[:600]!r}"
    if result.code == 0 and any(line.startswith("demix: ") for line in errors):
        return f"exit 0 with an error: {result.err!r}"
    return None


def contents(folder):
    """What is in a folder, by name; pipes and the like by their kind."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        info = path.lstat()
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = "-> " + os.readlink(path)
        elif path.is_file() and info.st_size < 1 << 26:
            found[name] = path.read_bytes()
        else:
            found[name] = (info.st_mode, info.st_size, info.st_mtime_ns if path.is_file() else 0)
    return found


def changed(before, after, outputs=()):
    """What differs, other than outputs (and what is in them)."""
    def is_output(name):
        return any(name == o or name.startswith(o + "/") for o in outputs)

    for name in sorted(set(before) | set(after)):
        if is_output(name) or before.get(name) == after.get(name):
            continue
        return f"{name} {'was left behind' if name not in before else 'is gone' if name not in after else 'changed'}"
    return None


class Folder:
    """A folder that is there for one test."""

    def __init__(self, where=None):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="hostile-", dir=where))

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        for path in self.path.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(self.path, ignore_errors=True)


def attempt(trial, kind, words, folder, outputs=(), codes=(0, 1, 2), kept=(), **options):
    """A run in a folder whose other files it must not touch. Outputs are there if it succeeds; those kept may be there
    even if it fails. Returns the result."""
    before = contents(folder)
    result = run(*words, cwd=folder, **options)
    what = "demix " + " ".join(map(str, words)) + (f" {options['shell']}" if options.get("shell") else "")
    wrong = flaw(result)
    if wrong is None and result.code not in codes:
        wrong = f"exit {result.code}, expected {codes}: {result.err[:300]!r}"
    if wrong is None:
        wrong = changed(before, contents(folder), outputs if result.code == 0 else kept)
    trial.check(kind, wrong is None, f"{what}: {wrong}")
    return result


def in_parallel(work, items, workers=2):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, item) for item in items]:
            done.result()
