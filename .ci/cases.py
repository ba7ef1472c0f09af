#!/usr/bin/env python3
"""Runs the shared cases that this server claims: JSON-RPC, REST and the agent card, but no push.

    .ci/cases.py SCRIPTED [RUN.PY OPTION...]      SCRIPTED: the built example `scripted`

The runner chooses whole cases only, so copies are made without the steps that need push, and without those that use a
value which only such a step would have captured.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CASES = Path(__file__).resolve().parents[2] / "shared" / "cases"
CLAIMED = ("01", "03", "04", "06", "07", "09", "11", "13", "15", "20", "22", "24")
IN_PART = ("24",)  # some of whose steps need push
GIVEN = {"uuid", "no_such_id", "public_base", "ext_uri", "race_id"}  # what the runner itself fills in

Step = dict[str, Any]


def is_claimed(step: Step) -> bool:
    """False for a step of push."""
    request, expect = step["request"], step["expect"]
    if "webhook" in expect or "${webhook}" in json.dumps(step):
        return False
    if request is None:
        return True
    body = request["body"]
    method = body.get("method") if isinstance(body, dict) else None
    return "pushnotification" not in f"{request['path']} {method}".lower()


def reduce(steps: list[Step]) -> list[int]:
    """The places of the steps that stay."""
    kept: list[int] = []
    known = set(GIVEN)
    for place, step in enumerate(steps):
        used = set(re.findall(r"\$\{(\w+)\}", json.dumps([step["request"], step["expect"], step.get("race_with")])))
        if is_claimed(step) and used <= known:
            kept.append(place)
            known |= {*step.get("capture", {}), *step.get("capture_headers", {})}
    return kept


def copy_case(source: Path, folder: Path) -> tuple[int, int]:
    """Writes the case without what is not claimed; gives how many steps stay, of how many."""
    case = json.loads(source.read_text(encoding="utf-8"))
    steps = case.get("steps")
    if steps is None:
        case["steps"] = steps = [{"request": case["request"], "expect": case["expect"]}]
    kept = reduce(steps)
    case["steps"] = [steps[place] for place in kept]
    decisive = case.get("decisive_step", 0)
    case["decisive_step"] = kept.index(decisive) if decisive in kept else 0
    if case["steps"]:
        first = case["steps"][case["decisive_step"]]
        case["request"], case["expect"] = first["request"], first["expect"]
        (folder / source.name).write_text(json.dumps(case, ensure_ascii=False), encoding="utf-8")
    return len(kept), len(steps)


def main() -> int:
    """Makes the copies and runs them; gives the runner's exit code."""
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not (CASES / "run.py").is_file():
        print("there are no shared cases: a folder shared/cases must lie beside this repository", file=sys.stderr)
        return 2
    scripted, options = Path(sys.argv[1]).resolve(), sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in CLAIMED:
            sources = list(CASES.glob(f"{number}-*.json"))
            if len(sources) != 1:
                print(f"there is no case {number}", file=sys.stderr)
                return 2
            stay, all_steps = copy_case(sources[0], folder)
            print(f"{sources[0].stem}: {stay} of {all_steps} steps", flush=True)
            if stay == 0 or (number not in IN_PART and stay != all_steps):
                print(f"case {number} was to stay {'in part' if number in IN_PART else 'whole'}", file=sys.stderr)
                return 2
        start = f"'{scripted}' --profile {{profile}} --port {{port}} --public-url {{public_url}}"
        command = [sys.executable, str(CASES / "run.py"), "--cases", str(folder), "--start", start, *options]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
