"""The notebooks run, and draw what they are to draw."""
import base64
import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
FOLDER = Path(__file__).parent.parent / "notebooks"
FIGURES = {"eeg_blinks": 2, "live_speech": 2, "network": 2}


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_notebook(name, tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # inline
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": tmp_path}}).execute()
    to = os.environ.get("DEMIX_FIGURES")  # a folder, to look at them
    count = 0
    for cell in book.cells:
        for output in cell.get("outputs", []):
            picture = output.get("data", {}).get("image/png")
            if picture:
                count += 1
                if to:
                    (Path(to) / f"{name}-{count}.png").write_bytes(base64.b64decode(picture))
            elif to and output.get("text"):
                print(output["text"])
    assert count == FIGURES[name]


def test_all_are_tested():
    assert sorted(FIGURES) == sorted(p.stem for p in FOLDER.glob("*.ipynb"))
