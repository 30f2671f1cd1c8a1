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
    """Each write is a version, each version has the one before it as its parent."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    done(asked(session, before_step=12))
    branch = View.objects.get(kind="branch")

    def write(number):
        try:
            if number == 0:
                return [done(asked(session, view="branch-1", keep_recent=1)).run.state]
            return [compaction.restore(branch, 1 + (number + turn) % 2).created_by for turn in range(WRITES)]
        finally:
            connection.close()

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = [one for answer in pool.map(write, range(WRITERS)) for one in answer]
    added = answers.count("restore") + answers.count("done")
    assert answers.count("restore") == (WRITERS - 1) * WRITES
    versions = list(
        MemoryVersion.objects.filter(view=branch)
        .order_by("version")
        .values_list("version", "parent__version")
    )
    assert versions == [(1, None)] + [(number, number - 1) for number in range(2, added + 3)]
