"""What every Python driver shares: the expected texts, and a bounded run of named checks with a count at the end."""

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable

DONE = "done"
CHUNKS = "Hello, world <b>&é漢字\nend"
TIMEOUT_S = 10.0
BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")

Check = Callable[[], Awaitable[None]]


def expect(what: str, got: object, wanted: object) -> None:
    """Fails the check that is running unless both are equal."""
    if got != wanted:
        raise AssertionError(f"{what}: {got!r} instead of {wanted!r}")


async def run(checks: list[Check]) -> int:
    """Runs the checks in order, each within the time-out, and gives the exit code."""
    failed = 0
    for check in checks:
        name = check.__name__.strip("_")
        try:
            await asyncio.wait_for(check(), TIMEOUT_S)
            print(f"PASS {name}", flush=True)
        except Exception as error:  # one broken check must not hide the others
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
            traceback.print_exc(file=sys.stderr)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main(drive: Callable[[str, str], Awaitable[int]]) -> None:
    """Runs a driver against the base URL of the command line, over one binding after the other."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BASE_URL")
    codes = []
    for binding in BINDINGS:
        print(f"-- {binding}", flush=True)
        codes.append(asyncio.run(drive(sys.argv[1].rstrip("/"), binding)))
    sys.exit(max(codes))
