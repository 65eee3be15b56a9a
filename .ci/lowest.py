"""Print the lowest versions that pyproject.toml allows, one pin a line, for `pip install -r`.

    python .ci/lowest.py [EXTRA ...]

A requirement without a lower bound (types for mypy) is left out.
"""

import re
import sys
import tomllib
from pathlib import Path

TEXT = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(TEXT)["project"]
BOUNDED = re.compile(r"(?P<name>[\w.-]+(\[[\w,-]+\])?)>=(?P<low>[\w.]+)(?P<rest>.*)")

wanted = [*PROJECT["dependencies"]]
for extra in sys.argv[1:]:
    wanted += PROJECT["optional-dependencies"][extra]
for requirement in wanted:
    if found := BOUNDED.fullmatch(requirement):
        print(f"{found['name']}=={found['low']}{found['rest']}")
