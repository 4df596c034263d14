"""A command on a terminal: `hapax` prints text there and JSON elsewhere."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

ERASED = re.compile(r"[^\n]*\r\x1b\[K")  # a progress line


def run(command, limit_seconds, **options):
    """The output of a command, as a terminal shows it after the command has ended."""
    master, slave = open_terminal()
    try:
        with os.fdopen(slave, "wb") as end:
            process = subprocess.Popen(command, stdin=end, stdout=end, stderr=end,
                                       start_new_session=True, **options)
        printed = read_to_end(master, limit_seconds)
        process.wait(limit_seconds)
    finally:
        os.close(master)
    return ERASED.sub("", printed.decode(errors="replace"))


def open_terminal():
    """Both ends of a wide terminal without output processing."""
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    return master, slave


def read_to_end(master, limit_seconds):
    printed, deadline = b"", time.monotonic() + limit_seconds
    while select.select([master], [], [], max(0, deadline - time.monotonic()))[0]:
        try:
            printed += os.read(master, 65_536)
        except OSError:  # every process has closed the other end
            return printed
    raise TimeoutError(f"still running after {limit_seconds} s\n{printed.decode(errors='replace')}")
