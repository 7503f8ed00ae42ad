"""After warming up nothing is left to compile."""

import subprocess
import sys

CODE = """
import movers
from movers import warming
from movers.runtime import compiling

list(warming.warm_up())
assert warming.missing() == [], warming.missing()
before = {one.name: set(one.calls) for one in compiling.entries}
assert len(before) > 15
pair = "the dog bites the old man", "the old man bites the big dog"
for method in ("movers", "wsmd", "wmd", "average", "usif", "bow", "bertscore", "moverscore"):
    scorer = movers.load(method, sys.argv[1], whitening="none", threads=1)
    scorer.fit([*pair, "one more"]).distances([pair])
scorer.rank(pair[0], [pair[1], "one more", "and another"], top_k=1)
for one in compiling.entries:
    assert set(one.calls) == before[one.name], one.name
"""


def test_warming_up_leaves_nothing_to_compile(tiny):
    """In a process of its own: here, other tests may have compiled before."""
    command = [sys.executable, "-W", "ignore", "-c", f"import sys\n{CODE}", str(tiny("bert"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
