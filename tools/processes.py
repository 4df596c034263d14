"""Ends all processes that a script starts, their descendants included, when the script ends."""
import contextlib
import ctypes
import os
import pathlib
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def adopt_orphans():
    """Makes this process adopt descendants whose parent ends, and makes stop signals end it through its
    finally clauses."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in STOPS:
        signal.signal(number, lambda *_: sys.exit(1))


def _parents():
    """The parent of each process on this machine."""
    found = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = pathlib.Path(entry.path, "stat").read_text()
                found[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return found


def descendants():
    """All descendants of this process."""
    children = {}
    for pid, parent in _parents().items():
        children.setdefault(parent, []).append(pid)
    found, left = [], [os.getpid()]
    while left:
        more = children.get(left.pop(), [])
        found += more
        left += more
    return found


def _reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def _send(number, processes):
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def end_descendants(grace_seconds=0.0):
    """Ends all descendants: with SIGTERM if there is a grace period, then with SIGKILL. Ignores stop
    signals meanwhile, because they would leave processes behind."""
    before = [signal.signal(number, signal.SIG_IGN) for number in STOPS]
    try:
        _end_descendants(grace_seconds)
    finally:
        for number, handler in zip(STOPS, before):
            signal.signal(number, handler)


def _end_descendants(grace_seconds):
    deadline = time.monotonic() + grace_seconds
    if grace_seconds:
        _send(signal.SIGTERM, descendants())
    while found := descendants():
        if time.monotonic() >= deadline:
            _send(signal.SIGKILL, found)
        _reap()
        time.sleep(0.01)
