"""Vendored files are those that were fetched, and nothing else lies beside them."""

import hashlib
import json
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[2] / "static" / "vendor"


def locked() -> dict[str, str]:
    return {line["file"]: line["sha256"] for line in json.loads((VENDOR / "vendor.lock").read_text())}


def test_every_vendored_file_has_its_recorded_hash():
    """An edited or damaged file is noticed."""
    actual = {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in locked()}
    assert actual == locked()


def test_no_file_lies_there_unrecorded():
    """Whatever comes from elsewhere is listed with its version."""
    found = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()}
    assert found - {"vendor.lock"} == set(locked())


def test_every_library_brings_its_licence():
    """Each folder of a version has the licence beside the code."""
    for name in locked():
        assert (VENDOR / name).parent.joinpath("LICENSE").is_file()
