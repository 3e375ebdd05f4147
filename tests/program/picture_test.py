#!/usr/bin/python3
"""Pictures as another library writes them, in every mode it has, are read as it reads them; and it reads ours."""
import io
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

from program import needs
from recordings import real

try:
    from PIL import Image
except ImportError:
    Image = None

CONVERT = os.environ["CONVERT"]
JPEG = 3 / 255  # versions of libjpeg round differently


def values(image):
    """(height, width, planes), 0 to 1, without alpha."""
    white = 1 if image.mode == "F" else 65535 if image.mode.startswith("I") else 255
    if image.mode in ("1", "P"):
        image = image.convert("L" if image.mode == "1" else "RGB")
    planes = np.atleast_3d(np.asarray(image, dtype=np.float64)) / white
    return planes[..., :1] if planes.shape[2] < 3 else planes[..., :3]


def picture(mode, width=61, height=47):
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:height, :width]
    smooth = np.stack([x / width, y / height, (x * y) / (width * height), 0.3 + 0.7 * x / width], axis=-1)
    noisy = np.clip(smooth ** 2 + 0.1 * rng.random(smooth.shape), 0, 1)
    bytes8 = (255 * noisy).astype(np.uint8)
    if mode == "I;16":
        return Image.fromarray((65535 * noisy[..., 0]).astype(np.uint16))
    if mode == "F":
        return Image.fromarray(noisy[..., 0].astype(np.float32))
    if mode == "LA":
        return Image.fromarray(np.ascontiguousarray(bytes8[..., [0, 3]]), "LA")
    if mode == "RGBA":
        return Image.fromarray(bytes8, "RGBA")
    return Image.fromarray(np.ascontiguousarray(bytes8[..., :3])).convert(mode)


@needs(Image, "there is no Pillow (Debian: python3-pil)")
class Pictures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def convert(self, source, target):
        result = subprocess.run([CONVERT, source, target], capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        return target

    def agrees(self, path, tolerance=1e-9):
        with Image.open(path) as image:
            expected = values(image)
        seen = np.load(self.convert(path, self.dir / "seen.npy")).reshape(expected.shape)
        np.testing.assert_allclose(seen, expected, rtol=0, atol=tolerance, err_msg=str(path))

    def agrees_when_saved(self, mode, name, tolerance=1e-9, **options):
        with self.subTest(mode=mode, name=name, **options):
            picture(mode).save(self.dir / name, **options)
            self.agrees(self.dir / name, tolerance)

    def test_png(self):
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            self.agrees_when_saved(mode, "x.png")
        self.agrees_when_saved("L", "key.png", transparency=7)

    def test_jpeg(self):
        for mode in ("L", "RGB"):
            for options in ({}, {"progressive": True}, {"quality": 30}, {"subsampling": 0}, {"optimize": True}):
                self.agrees_when_saved(mode, "x.jpg", JPEG, **options)

    def test_tiff(self):
        for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16", "F"):
            for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
                self.agrees_when_saved(mode, "x.tif", compression=compression)
        self.agrees_when_saved("RGB", "y.tiff", compression="tiff_lzw", tiffinfo={317: 2})  # differences
        self.agrees_when_saved("1", "fax.tif", compression="group4")
        self.agrees_when_saved("RGB", "j.tif", JPEG, compression="jpeg")
        self.agrees_when_saved("L", "pages.tif", save_all=True, append_images=[picture("RGB")])

    def test_pnm(self):
        for mode, name in (("L", "x.pgm"), ("RGB", "x.ppm"), ("RGB", "x.pnm")):
            self.agrees_when_saved(mode, name)
        picture("I;16").convert("I").save(self.dir / "y.pgm")
        seen = np.load(self.convert(self.dir / "y.pgm", self.dir / "seen.npy"))
        np.testing.assert_allclose(seen, values(picture("I;16")).reshape(-1, 1), atol=1e-9)

    def test_what_we_write(self):
        for mode in ("L", "RGB"):
            picture(mode).save(self.dir / "x.png")
            picture(mode).save(self.dir / "same.jpg", quality=95, subsampling=0)
            # 16-bit colour: Pillow gives its upper 8 bits, and does not read it as PPM.
            for name in ("y.png", "y.tif", "y.jpg") + (("y.pgm",) if mode == "L" else ()):
                self.convert(self.dir / "x.png", self.dir / name)
                same = self.dir / ("same.jpg" if name == "y.jpg" else "x.png")
                with self.subTest(mode=mode, name=name), Image.open(self.dir / name) as ours, \
                        Image.open(same) as theirs:
                    self.assertEqual(ours.size, (61, 47))
                    np.testing.assert_allclose(values(ours), values(theirs), rtol=0, atol=1e-9)

    def test_what_is_refused(self):
        def refused(part, name):
            result = subprocess.run([CONVERT, self.dir / name, self.dir / "y.npy"], capture_output=True, text=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn(part, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertFalse((self.dir / "y.npy").exists())

        picture("CMYK").save(self.dir / "c.jpg")
        refused("CMYK", "c.jpg")
        picture("CMYK").save(self.dir / "c.tif")
        refused("unusual", "c.tif")
        for options in ({}, {"progressive": True}):
            buffer = io.BytesIO()
            picture("RGB").save(buffer, "JPEG", **options)
            whole = buffer.getvalue()
            for cut in (100, len(whole) // 2, len(whole) - 20, len(whole) - 2):
                (self.dir / "cut.jpg").write_bytes(whole[:cut])
                refused("cut off", "cut.jpg")

    def test_real_pictures(self):
        folder = real("images_free", "pictures")
        if not folder:
            folder = self.dir / "made"
            folder.mkdir()
            for name in ("grey.png", "colour.png", "grey.pgm", "colour.jpg"):
                picture("RGB" if "colour" in name else "L", 512, 256).save(folder / name)
        paths = [p for p in sorted(folder.iterdir()) if p.suffix in (".png", ".jpg", ".pgm")]
        self.assertGreater(len(paths), 0)
        for path in paths:
            self.agrees(path, JPEG if path.suffix == ".jpg" else 1e-9)


if __name__ == "__main__":
    unittest.main()
