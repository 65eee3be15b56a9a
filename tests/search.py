"""A longer search for a case that breaks a law: `python tests/laws/LAW.py SECONDS [SEED]`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable


def search(holds: Callable[[str, int], bool | None], names: Iterable[str]) -> None:
    """Try `holds(name, seed)` of new seeds, for equal shares of the time; exit by what was found.

    True is a claim that holds, None a fit that claims nothing. An error counts like False.
    """
    seconds, names, counts = float(sys.argv[1]), list(names), Counter[tuple[str, str]]()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    for name in names:
        end = time.monotonic() + seconds / len(names)
        while time.monotonic() < end:
            seed += 1
            try:
                claim = holds(name, seed)
                found = repr(None if claim is None else bool(claim))
            except Exception as error:
                found = repr(error)
            counts[name, found] += 1
            if found not in ("True", "None"):
                print(f"{name}, seed {seed}: {found}", flush=True)
    print({f"{name}: {found}": count for (name, found), count in counts.items()})
    sys.exit(any(found not in ("True", "None") for _, found in counts))
