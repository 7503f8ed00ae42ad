"""Servers on loopback: in a thread with a tiny model, and as the program users start."""

import faulthandler
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx

from movers.web.limits import Limits
from movers.web.server import bind, make_server

PATIENCE = 60
"""Seconds that a server may take to end: longer than it waits for requests in flight."""


@contextmanager
def serving(models, limits=None, **options):
    """A server in a thread, and a client for it."""
    server = make_server(models, limits or Limits(), **options)
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        run = {"target": server.run, "kwargs": {"sockets": [listener]}}
        thread = threading.Thread(**run, daemon=True)
        thread.start()
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            if thread.is_alive():  # seen twice in hundreds of runs, after all tests had passed
                faulthandler.dump_traceback(sys.__stderr__)
                server.force_exit = True
                thread.join(PATIENCE)
            assert not thread.is_alive(), "the server did not end; the threads are above"


def start_program(*arguments):
    """The program as users start it."""
    command = [sys.executable, "-m", "movers", *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


class Program:
    """A running `movers serve`."""

    def __init__(self, *arguments, start=start_program, **environment):
        self.process = start("serve", "--port", "0", *arguments, **environment)
        self.log, self.url = [], None
        self.begun = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.begun.wait(250)
        if self.url is None:
            self.process.kill()
            raise AssertionError("".join(self.log))
        self.port = int(self.url.rpartition(":")[2])

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"serving on (\S+)", line):
                self.url = found[1]
                self.begun.set()
        self.begun.set()  # or ended

    def client(self, **options):
        return httpx.Client(base_url=self.url, timeout=60, **options)

    def stop(self, patience=30):
        """Ask the program to stop; its exit code and how long it took."""
        started = time.monotonic()
        self.process.terminate()
        code = self.process.wait(patience)
        self.reader.join()
        self.process.stderr.close()
        return code, time.monotonic() - started
