"""Thin plug-ins for other libraries, each in the file that bears the library's name.

Each needs its library: ``pip install movers[plugins]`` brings them all.
"""
