"""Last seen: any text over a session of 100,000 items, and over all sessions, warm.

    python -m bench.last_seen [--turns 25500] [--searches 60] [PATH ...]

SQLite, and PostgreSQL where CONTEXTLAB_BENCH_PG names a server. Texts to look for are taken from the log itself: words
that are rare and words that stand everywhere, two to four words in a row, letters without spaces where it has such,
and texts that stand nowhere; half of them are looked for in the session, half in all. Prints milliseconds of each kind
as the clock tells them (they grow with the load of the machine) and as CPU of this process (a database server's is not
in it), and exits with 1 above 200 ms (p50) or below 100,000 items in the session.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from bench.measure import note, run
from bench.places import POSTGRES, ask, installation, long_session, own_command
from bench.report import percentile

MOST_P50 = 200.0
LEAST_ITEMS = 100_000
_CJK = re.compile("[\u3040-\u30ff\u4e00-\u9fff]{2,8}")
_WORD = re.compile(r"\w+")


def main() -> int:
    """Both databases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="logs to import beside the generated one")
    parser.add_argument("--turns", type=int, default=25_500)
    parser.add_argument("--searches", type=int, default=60, help="of each kind")
    asked = parser.parse_args()
    logs = [str(long_session(asked.turns)), *map(str, asked.paths)]
    servers = [None, *([os.environ[POSTGRES]] if os.environ.get(POSTGRES) else [])]
    too_slow = too_few = False
    for server in servers:
        with installation(server) as made:
            made.renew()
            note("importing")
            run(own_command("import", *logs), made.env())
            found = json.loads(ask(made, "bench.last_seen", "--helper", str(asked.searches)))
        print(
            f"\n{'PostgreSQL' if server else 'SQLite'}: {found['session_items']:,} items in the session, "
            f"{found['items']:,} in {found['sessions']} sessions, ",
            end="",
        )
        too_few |= found["session_items"] < LEAST_ITEMS
        print(
            f"{found['pieces']:,} pieces; indexed in {found['index_seconds']:.1f} s of CPU, {found['index_mb']:.0f} MB"
        )
        # Wall times: on a machine that does other work they grow by its load.
        print(f"  load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for kind, times in found["times"].items():
            wall, cpu = zip(*times, strict=True)
            p50, p90 = statistics.median(wall), percentile(list(wall), 0.9)
            too_slow |= p50 > MOST_P50
            print(
                f"  {kind:34} p50 {p50:6.1f}  p90 {p90:6.1f}  most {max(wall):6.1f} ms  "
                f"CPU p50 {statistics.median(cpu):6.1f}  p90 {percentile(list(cpu), 0.9):6.1f} ms  ({len(times)})"
            )
    return int(too_slow or too_few)


def helper(searches: int) -> None:
    """Index, then search, in this process; prints what it measured as JSON."""
    import django

    django.setup()
    from django.db import connection

    from contextlab.services import last_seen
    from contextlab.services.actions import perform
    from contextlab.store.models import SearchPiece, Session

    before, spent = _size(connection), time.process_time()
    while runs := last_seen.missing():
        for one in runs:
            perform(one)
    spent = time.process_time() - spent
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    session = Session.objects.filter(role="").order_by("-items")[0]
    times = {kind: _timed(session, texts) for kind, texts in _wanted(session, searches).items() if texts}
    facts = {
        "items": sum(Session.objects.values_list("items", flat=True)),
        "session_items": session.items,
        "sessions": Session.objects.count(),
    }
    facts |= {"pieces": SearchPiece.objects.count(), "index_seconds": spent, "times": times}
    print(json.dumps(facts | {"index_mb": (_size(connection) - before) / 1e6}))


def _timed(session: Any, texts: list[str]) -> list[tuple[float, float]]:
    """Milliseconds of each search by the clock and of CPU, half of them over the session, half over all.

    The first ones warm up.
    """
    from contextlab.core.audit.search_words import query
    from contextlab.queries.last_seen import search_session
    from contextlab.queries.search import search_everywhere
    from contextlab.store.models import View

    view = View.objects.get(session=session, name="recorded")
    for text in texts[:3]:
        search_session(session, query(text), view)
        search_everywhere(session.workspace_id, query(text))
    times = []
    for number, text in enumerate(texts):
        began, spent = time.perf_counter(), time.process_time()
        if number % 2:
            search_everywhere(session.workspace_id, query(text))
        else:
            search_session(session, query(text), view)
        times.append(((time.perf_counter() - began) * 1000, (time.process_time() - spent) * 1000))
    return times


def _wanted(session: Any, searches: int) -> dict[str, list[str]]:
    """Texts to look for, by kind."""
    from contextlab.store.models import ItemRecord, Session
    from contextlab.store.texts import TEXT_COLUMNS, read_texts

    chance, counted, phrases, runs = random.Random(3), dict[str, int](), list[str](), list[str]()
    for one in (session, *Session.objects.exclude(pk=session.pk).order_by("?")[:20]):
        rows = ItemRecord.objects.filter(session=one, revision=one.revision, text_length__gt=20)
        some = chance.sample(range(one.items), min(one.items, 3_000))
        for start in range(0, len(some), 500):
            refs = rows.filter(position__in=some[start : start + 500]).values_list(*TEXT_COLUMNS)
            for text in read_texts(one.pk, one.revision, refs, 4_000).values():
                runs += _CJK.findall(text)
                words = _WORD.findall(text)
                for word in set(words):
                    counted[word] = counted.get(word, 0) + 1
                at = chance.randrange(max(1, len(words) - 4))
                found = re.search(r"\W+".join(map(re.escape, words[at : at + chance.randint(2, 4)])), text)
                phrases += [found.group()] if found else []
    often = sorted(counted, key=lambda word: -counted[word])
    rare = [word for word in often if counted[word] == 1]
    return {
        "a rare word": chance.sample(rare, min(len(rare), searches)),
        "a word that stands everywhere": often[:searches],
        "two to four words": chance.sample(phrases, min(len(phrases), searches)),
        "letters without spaces": chance.sample(runs, min(len(runs), searches)),
        "nowhere: an unknown word": [f"zq{number}xv" for number in range(searches)],
        "nowhere: known words in a row": [" ".join(chance.sample(often[:200], 3)) for _ in range(searches)],
    }


def _size(connection: Any) -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        return int(cursor.fetchone()[0])


if __name__ == "__main__":
    if "--helper" in sys.argv:
        helper(int(sys.argv[-1]))
    else:
        sys.exit(main())
