"""The pytest plug-in: `expect(answer).to_say(reference)`, with the differences where it fails.

Loaded by every pytest where movers is installed, so it imports nothing before it is used.
"""

from __future__ import annotations

from typing import Any

import pytest


class Expectation:
    """A text of which something is expected."""

    def __init__(self, text: str) -> None:
        self.text = text

    def to_say(self, reference: str, **options: Any) -> None:
        """Fail unless the text says what another does; options as in `movers.assert_same`."""
        __tracebackhide__ = True
        from movers.checks import assert_same

        assert_same(self.text, reference, **options)

    def not_to_say(self, reference: str, **options: Any) -> None:
        """Fail if the text says what another does."""
        __tracebackhide__ = True
        from movers.checks import check

        (checked,) = check([(reference, self.text)], **options)
        if checked.objection is None:
            pytest.fail(f"the texts say the same, {checked.similarity:.2f} alike\n{checked}")


@pytest.fixture
def expect() -> type[Expectation]:
    """Say what is expected of a text: ``expect(answer).to_say(reference)``."""
    return Expectation
