"""Thin, optional bridges to other libraries; each needs the extra it names."""
