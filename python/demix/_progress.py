"""Progress: a callback of one's own, or tqdm's bar."""
from contextlib import contextmanager

from . import _arguments as check


@contextmanager
def shown(progress):
    """The callback that the core is given; None if there is nothing to show."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        yield check.callback("progress", progress)
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(total=100, unit="%", leave=False) as bar:
        yield lambda share: bar.update(100 * share - bar.n)
