"""How much the server takes on."""

from __future__ import annotations

from dataclasses import dataclass

from movers.errors import InputError
from movers.io.pairs import check_sentence


@dataclass(frozen=True)
class Limits:
    """The limits of a server: how much it takes on.

    Parameters
    ----------
    max_body
        Bytes of a request.
    max_pairs
        Pairs of a request; each measure asked for counts its own.
    max_characters
        Characters of a sentence.
    max_text
        Characters of a text that is compared sentence by sentence.
    max_words
        Words compared of a sentence: solving takes their third power.
    queue
        Pairs waiting, over all requests; beyond that a request is turned away with 429.
    connections
        Connections at a time, or what the system's limit on open files leaves room for; one more is
        turned away with 503.
    timeout
        Seconds until an answer must be there, and until a body must have arrived.
    """

    max_body: int = 1 << 20
    max_pairs: int = 1000
    max_characters: int = 2000
    max_text: int = 100_000
    max_words: int = 200
    queue: int = 4096
    connections: int = 4096
    timeout: float = 30.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise InputError(f"{name} must be greater than 0, got {value}")
        if self.queue < self.max_pairs:
            raise InputError(
                f"a queue of {self.queue} pairs has no room for a request of max_pairs = "
                f"{self.max_pairs}; make it at least as long"
            )

    def check_sentence(self, text: str, what: str, *, long: bool = False) -> None:
        """Refuse a sentence, or a ``long`` text, that is too long or no text; `what` names it."""
        most = max(self.max_text, self.max_characters) if long else self.max_characters
        if len(text) > most:
            option = "--max-text" if long else "--max-characters"
            raise InputError(
                f"{what} has {len(text)} characters and this server takes {most}; shorten it, or "
                f"start the server with {option}"
            )
        check_sentence(text, what)

    def check_pairs(self, count: int, measures: int = 1) -> None:
        """Refuse more pairs than one request may have."""
        if count * measures > self.max_pairs:
            times = f" under {measures} measures" if measures > 1 else ""
            raise InputError(
                f"{count} pairs{times} are more than the {self.max_pairs} this server takes "
                "in one request; send several, or start the server with --max-pairs"
            )
