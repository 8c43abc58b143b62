"""Start a program that ends with the process that started it, even if that process is killed.

`python tied.py PARENT PROGRAM ARGUMENT…` becomes the program, which Linux ends by SIGTERM when the process PARENT has
ended. Other systems cannot do this: there, a process that is killed leaves the program running.

Not here: which programs are started, and how they end otherwise (webserver).
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""Option of `prctl` (linux/prctl.h)."""


def main() -> None:
    """Become the program that the command line names."""
    parent, program, *arguments = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != int(parent):  # it ended before the signal was asked for
            sys.exit(1)
    # A shell that starts a job in the background may ignore SIGINT, and what ignores it survives the end of its parent.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main()
