"""Standard input, output and error closed, or full. What is written to files must not notice."""
import recordings
from trial import Folder, attempt, flaw, run

COMMANDS = [
    (["info", "i.csv"], None), (["info", "nosuch.csv"], None), (["fit", "i.csv", "-o", "m.json"], "m.json"),
    (["separate", "i.csv", "-o", "sep"], "sep/sources.csv"), (["apply", "good.json", "i.csv", "-o", "y.csv"], "y.csv"),
    (["stream", "i.csv", "-o", "y.csv", "--state", "s", "--status", "0.01", "--save-every", "100"], "y.csv"),
    (["generate", "--frames", "500", "-o", "gen"], "gen/mixtures.npy"), (["score", "i.csv", "--truth", "i.csv"], None),
    (["methods"], None), (["fit"], None), (["nonsense"], None),
    (["compare", "--frames", "100", "--draws", "1", "--method", "easi"], None),
]


def run_all(trial):
    for words, output in COMMANDS:
        with Folder() as folder:
            recordings.csv(folder / "i.csv", recordings.mixtures(1500))
            plain = run(*words, cwd=folder)
            if "good.json" in words:
                run("fit", "i.csv", "-o", "good.json", cwd=folder)
                plain = run(*words, cwd=folder)
            expected = (folder / output).read_bytes() if output else b""
            if output and output != "m.json":
                trial.check("closed descriptors", plain.code == 0, f"{words}: {plain.err}")
            for shell in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full", ">&- 2>/dev/full"]:
                for name in ["m.json", "y.csv", "s"]:
                    (folder / name).unlink(missing_ok=True)
                result = run(*words, cwd=folder, shell=shell)
                wrong = None
                if result.hung or result.code < 0:
                    wrong = flaw(result)
                elif ">&-" in shell.split() and plain.code == 0:  # results may be lost with an exit of 1
                    wrong = None if result.code in (0, 1) else f"exit {result.code}"
                elif result.code != plain.code:
                    wrong = f"exit {result.code}, {plain.code} otherwise"
                if wrong is None and output and result.code == 0 and (folder / output).read_bytes() != expected:
                    wrong = f"{output} is another"
                trial.check("closed descriptors", wrong is None, f"demix {' '.join(words)} {shell}: {wrong}")
    with Folder() as folder:
        for words in [["stream", "-", "--format", "f64", "--channels", "2", "-o", "y.f64"],
                      ["stream", "-", "--format", "csv"], ["stream", "-", "--format", "wav"]]:
            attempt(trial, "closed descriptors", words, folder, ["y.f64"], shell="<&-", seconds=10)
