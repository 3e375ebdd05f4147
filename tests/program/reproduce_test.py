#!/usr/bin/python3
"""demix reproduce --quick: everything is made, the numbers are those expected, and the same again."""
import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from program import DEMIX, Program, run

EXPECTED = Path(__file__).resolve().parents[2] / "experiments" / "expected.json"


class Reproduce(Program):
    def test_everything(self):
        out = self.dir / "paper"
        self.ok("reproduce", "--quick", "-o", out, "--expect", EXPECTED)
        names = [line.split()[0] for line in self.ok("reproduce", "--list").stdout.splitlines()]
        numbers = json.loads((out / "numbers.json").read_text())
        self.assertEqual(list(numbers["items"]), names)
        page = (out / "index.html").read_text()
        for name in names:
            self.assertIn(f'id="{name}"', page)
        files = re.findall(r'(?:src|href)="([^"#]+)"', page)
        self.assertGreater(len(files), 50)
        for file in files:
            self.assertGreater((out / file).stat().st_size, 0, file)
        for name, item in numbers["items"].items():  # a quick run is no verdict, and says how long it was
            self.assertNotIn("differs", item, name)
            self.assertIn("no verdict", item["measured"], name)
            self.assertRegex(item["length"], "^quick run: ", name)
        self.assertNotIn("They differ", page)
        self.assertNotRegex(page, "(?i)do(es)? not hold")
        for file in out.glob("*.svg"):
            self.assertIn("quick run: ", file.read_text(), file)
            self.assertIn('width="85.00mm"', file.read_text()[:400], file)  # a column of a journal
        for file in out.glob("*.csv"):
            self.assertNotIn("nan", file.read_text(), file)
            self.assertTrue(all("quick run: " in line for line in file.read_text().splitlines()[1:]), file)
        for file in out.glob("*.png"):
            self.assertTrue(file.read_bytes().startswith(b"\x89PNG"), file)

    def test_again_and_on_one_thread(self):
        items = ("fig2a", "fig2b-online", "lambda", "theorem1", "table2")
        first = self.ok("reproduce", *items, "--quick", "--json", "-o", self.dir / "a").stdout
        self.assertEqual(self.ok("reproduce", *items, "--quick", "--json", "-o", self.dir / "b").stdout, first)
        self.assertEqual(
            self.ok("reproduce", *items, "--quick", "--json", "--threads", 1, "-o", self.dir / "c").stdout, first)
        for file in (self.dir / "a").iterdir():
            if file.name != "index.html":  # which has the command in it
                self.assertEqual(file.read_bytes(), (self.dir / "b" / file.name).read_bytes(), file.name)

    def test_stand_ins_are_labelled(self):
        out = self.dir / "paper"
        env = {k: v for k, v in os.environ.items() if k != "DEMIX_DATA"}
        subprocess.run([DEMIX, "reproduce", "fig2b", "fig2c", "--quick", "-o", str(out), "--expect", str(EXPECTED)],
                       env=env, check=True, capture_output=True)
        self.assertIn("stand-in", (out / "fig2b.svg").read_text())
        self.assertIn("stand-in", (out / "fig2c.svg").read_text())
        self.assertIn("stand-ins", json.loads((out / "numbers.json").read_text())["items"]["fig2b"]["data"])

    def test_every_item_stands_in_the_table_of_claims(self):
        text = (EXPECTED.parents[1] / "docs" / "reproduction.md").read_text()
        rows = re.findall(r"^\|.*\| `([a-z0-9 -]+)` \|$", text, re.M)
        names = {line.split()[0] for line in self.ok("reproduce", "--list").stdout.splitlines()}
        self.assertEqual(set(rows) - {"demix methods"}, names)

    def test_misuse(self):
        self.refused("fig9", "reproduce", "fig9", "-o", self.dir / "x", code=2)
        self.refused("none", "reproduce", "fig1a", "--quick", "-o", self.dir / "x", "--expect", self.dir / "none")
        expected = self.dir / "e.json"
        expected.write_text('{"quick": {"fig1a.mse": {"value": 1, "tolerance": 0.1}, '
                            '"fig1a.amari": {"value": 0, "absolute": 1}}}')
        off = run("reproduce", "fig1a", "--quick", "-o", self.dir / "y", "--expect", expected)
        self.assertEqual(off.returncode, 1)
        self.assertIn("fig1a.mse: ", off.stderr)
        self.assertIn("1 numbers are not as", off.stderr)

    def test_expected_numbers_are_as_the_script_writes_them(self):
        """Made again from their own values: the tolerances are those of its table."""
        expected = json.loads(EXPECTED.read_text())
        runs = {"quick": ("quick", 0), "stand-ins": ("quick", 1), "full": ("full", 0)}
        for name, (kind, place) in runs.items():
            items = {}
            for key, entry in expected[kind].items():
                several = entry if isinstance(entry, list) else [entry]
                if place < len(several):
                    item, number = key.split(".", 1)
                    made = items.setdefault(item, {"data": several[place].get("data", ""), "numbers": {}})
                    made["numbers"][number] = several[place]["value"]
            (self.dir / name).write_text(json.dumps({"quick": kind == "quick", "items": items}))
        for file in (EXPECTED, EXPECTED.with_name("update-expected")):
            shutil.copy(file, self.dir)
        subprocess.run([self.dir / "update-expected", *(self.dir / name for name in runs)], check=True)
        self.assertEqual((self.dir / EXPECTED.name).read_text(), EXPECTED.read_text())

    def test_without_gnuplot_it_fails_before_it_starts(self):
        self.refused("apt install gnuplot-nox", "reproduce", "-o", self.dir / "x",
                     env=os.environ | {"PATH": str(self.dir)})


if __name__ == "__main__":
    unittest.main()
