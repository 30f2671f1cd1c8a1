"""Many writers on one memory: nothing is lost, and its versions have no gap."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from contextlab.services import compaction
from contextlab.store.models import MemoryVersion, View
from tests.services.compaction.doing import asked, done
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
WRITERS, WRITES = 16, 3


def test_sixteen_writers_while_the_memory_is_compacted(tmp_path):
    """Each write that changes memory is a version, each version has the one before it as its parent."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    done(asked(session, before_step=12))
    branch = View.objects.get(kind="branch")

    def write(number):
        try:
            if number == 0:
                return [done(asked(session, view="branch-1", keep_recent=1)).run.state]
            made = [compaction.restore(branch, 1 + (number + turn) % 2) for turn in range(WRITES)]
            return [(version.version, new) for version, new in made]
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = [one for answer in pool.map(write, range(WRITERS)) for one in answer]
    assert len(answers) == (WRITERS - 1) * WRITES + 1
    restored = [number for number, new in answers[1:] if new]
    added = len(restored) + (answers[0] == "done")
    assert len(set(restored)) == len(restored)
    versions = list(MemoryVersion.objects.filter(view=branch).order_by("version").select_related("parent"))
    numbers = [(one.version, one.parent and one.parent.version) for one in versions]
    assert numbers == [(1, None)] + [(number, number - 1) for number in range(2, added + 3)]
    again = [one.same_as for one in versions]
    assert all(one != before for one, before in zip(again[1:], again, strict=False))
