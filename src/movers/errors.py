"""The exceptions movers raises on purpose; everything else is a bug."""


class MoversError(Exception):
    """Base of every error that movers raises on purpose."""


class InputError(MoversError, ValueError):
    """Something the caller passed cannot be used; the message says what and what to do."""


class ModelError(MoversError):
    """A model cannot be found, loaded or used for these measures."""


class DependencyError(MoversError, ImportError):
    """An optional package is needed; the message names the extra to install."""


class StorageError(MoversError, OSError):
    """A file cannot be written; the message says which, why, and what is left."""
