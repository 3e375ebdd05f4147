#!/usr/bin/python3
"""Pictures as another library writes them, in every mode it has: the program sees the same grey values."""
import io
import json
import os
import sys
import unittest
from pathlib import Path

import numpy as np

from program import Program

try:
    from PIL import Image
except ImportError:
    print("picture_test: skipped, there is no Pillow (Debian: python3-pil)")
    sys.exit(0)

LUMA = np.array([0.2126, 0.7152, 0.0722])
REAL = Path(os.environ.get("DEMIX_DATA", "/nowhere")) / "images_free"


def grey(image):
    """0 to 1, colour by Rec. 709; Pillow has no 16-bit colour."""
    if image.mode == "I;16":
        return np.asarray(image, dtype=np.float64) / 65535
    if image.mode == "F":
        return np.asarray(image, dtype=np.float64)
    if image.mode in ("1", "L"):
        return np.asarray(image.convert("L"), dtype=np.float64) / 255
    if image.mode == "LA":
        return np.asarray(image, dtype=np.float64)[..., 0] / 255
    return np.asarray(image.convert("RGB"), dtype=np.float64) @ LUMA / 255


def picture(mode, width=61, height=47):
    """Uneven in both directions, so that a row or a column out of place shows in the moments."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:height, :width]
    smooth = np.stack([x / width, y / height, (x * y) / (width * height), 0.3 + 0.7 * x / width], axis=-1)
    noisy = np.clip(smooth ** 2 + 0.1 * rng.random(smooth.shape), 0, 1)
    bytes8 = (255 * noisy).astype(np.uint8)
    if mode == "I;16":
        return Image.fromarray((65535 * noisy[..., 0]).astype(np.uint16))
    if mode == "F":
        return Image.fromarray(noisy[..., 0].astype(np.float32))
    if mode == "L":
        return Image.fromarray(bytes8[..., 0])
    if mode == "LA":
        return Image.fromarray(np.ascontiguousarray(bytes8[..., [0, 3]]), "LA")
    if mode == "RGBA":
        return Image.fromarray(bytes8, "RGBA")
    return Image.fromarray(np.ascontiguousarray(bytes8[..., :3])).convert(mode)


class Pictures(Program):
    def agrees(self, path, tolerance=1e-9):
        """What `demix info` tells of the values, against Pillow's reading of the same file."""
        with Image.open(path) as image:
            expected = grey(image)
        seen = json.loads(self.ok("info", path, "--json").stdout)
        self.assertEqual(seen["channels"], 1)
        self.assertEqual(seen["frames"], expected.size)
        channel = seen["channel"][0]
        self.assertAlmostEqual(channel["least"], expected.min(), delta=tolerance, msg=path)
        self.assertAlmostEqual(channel["most"], expected.max(), delta=tolerance, msg=path)
        self.assertAlmostEqual(channel["mean"], expected.mean(), delta=tolerance, msg=path)
        self.assertAlmostEqual(channel["deviation"], expected.std(), delta=tolerance, msg=path)

    def agrees_when_saved(self, mode, name, tolerance=1e-9, **options):
        with self.subTest(mode=mode, name=name, **options):
            picture(mode).save(self.dir / name, **options)
            self.agrees(self.dir / name, tolerance)

    def test_png(self):
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            self.agrees_when_saved(mode, "x.png")
        self.agrees_when_saved("P", "few.png", bits=2)
        self.agrees_when_saved("L", "key.png", transparency=7)

    def test_jpeg(self):
        for mode in ("L", "RGB"):
            for options in ({}, {"progressive": True}, {"quality": 30}, {"subsampling": 0}, {"optimize": True}):
                # Both decode by libjpeg; its versions may round differently.
                self.agrees_when_saved(mode, "x.jpg", tolerance=0.02, **options)

    def test_tiff(self):
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16", "F"):
            for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
                self.agrees_when_saved(mode, "x.tif", compression=compression)
        self.agrees_when_saved("RGB", "y.tiff", compression="tiff_lzw", tiffinfo={317: 2})  # differences
        self.agrees_when_saved("1", "fax.tif", compression="group4")
        self.agrees_when_saved("RGB", "j.tif", tolerance=0.02, compression="jpeg")

    def test_pages_of_a_tiff(self):
        picture("L").save(self.dir / "x.tif", save_all=True, append_images=[picture("RGB")])
        self.agrees(self.dir / "x.tif")

    def test_pnm(self):
        for mode, name in (("L", "x.pgm"), ("RGB", "x.ppm"), ("RGB", "x.pnm"), ("I;16", "y.pgm")):
            if mode == "I;16":
                picture(mode).convert("I").save(self.dir / name)
                expected = np.asarray(picture(mode), dtype=np.float64) / 65535
                seen = json.loads(self.ok("info", self.dir / name, "--json").stdout)["channel"][0]
                self.assertAlmostEqual(seen["mean"], expected.mean(), delta=1e-9)
            else:
                self.agrees_when_saved(mode, name)

    def test_every_pixel_in_its_place(self):
        """The moments do not see the order; single bright pixels do, one picture each."""
        for name in ("x.png", "x.tif", "x.pgm"):
            for x, y in ((0, 0), (4, 0), (0, 2), (3, 1)):
                image = Image.new("L", (5, 3))
                image.putpixel((x, y), 255)
                image.save(self.dir / name)
                self.ok("apply", self.model(1), self.dir / name, "-o", self.dir / "y.npy", "--force")
                values = np.load(self.dir / "y.npy").ravel()
                self.assertEqual(values.argmax(), 5 * y + x, name)

    def model(self, channels):
        eye = np.eye(channels)
        path = self.dir / "model.json"
        rng = np.random.default_rng(2)
        np.save(self.dir / "noise.npy", rng.random((1000, channels)) @ eye)
        if not path.exists():
            self.ok("fit", self.dir / "noise.npy", "-o", path)
        return path

    def test_what_is_refused(self):
        picture("CMYK").save(self.dir / "c.jpg")
        self.refused("CMYK", "info", self.dir / "c.jpg")
        picture("CMYK").save(self.dir / "c.tif")
        self.refused("unusual", "info", self.dir / "c.tif")
        buffer = io.BytesIO()
        for options in ({}, {"progressive": True}):
            buffer = io.BytesIO()
            picture("RGB").save(buffer, "JPEG", **options)
            whole = buffer.getvalue()
            for cut in (100, len(whole) // 2, len(whole) - 20, len(whole) - 2):
                (self.dir / "cut.jpg").write_bytes(whole[:cut])
                self.refused("cut off", "info", self.dir / "cut.jpg")

    @unittest.skipUnless(REAL.is_dir(), "no real pictures: DEMIX_DATA is not set")
    def test_real_pictures(self):
        paths = [p for p in sorted(REAL.iterdir()) if p.suffix in (".png", ".jpg", ".pgm")]
        self.assertGreater(len(paths), 0)
        for path in paths:
            self.agrees(path, tolerance=0.02 if path.suffix == ".jpg" else 1e-9)


if __name__ == "__main__":
    unittest.main()
