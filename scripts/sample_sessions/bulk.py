"""The long outputs of the sample sessions: test runs, logs, listings. Seeded, so that every run is the same."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

BEHAVIOURS = {
    "tests/accounts/test_accounts.py": (
        "creates_an_account changes_the_address refuses_a_second_owner lists_newest_first pages_by_key "
        "hides_deleted_accounts merges_duplicates keeps_the_audit_trail masks_the_tax_number exports_as_csv "
        "refuses_an_unknown_country sends_one_welcome_mail restores_within_thirty_days counts_seats"
    ),
    "tests/invoices/test_invoices.py": (
        "numbers_are_gap_free rounds_half_even converts_to_chf adds_vat_per_line refuses_negative_amounts "
        "credits_a_cancelled_invoice renders_the_pdf stores_the_pdf_once reminds_after_fourteen_days "
        "stops_after_three_reminders matches_a_payment keeps_partial_payments open sums_by_month locks_a_closed_month"
    ),
    "tests/teams/test_teams.py": (
        "invites_by_mail accepts_once expires_after_a_week hands_over_ownership removes_a_member "
        "keeps_the_last_owner shows_pending_invites refuses_strangers renames_the_team counts_members_per_plan"
    ),
    "tests/exports/test_exports.py": (
        "streams_rows escapes_formulas ends_with_a_newline survives_a_slow_client stops_when_the_client_leaves "
        "closes_the_one_shot_session_after_the_body limits_rows_per_export names_the_file writes_utf8_with_bom"
    ),
    "tests/webhooks/test_webhooks.py": (
        "checks_the_signature refuses_old_timestamps answers_202 accepts_an_empty_body delivers_once "
        "retries_with_back_off gives_up_after_a_day shows_the_last_answer redacts_the_secret"
    ),
    "tests/login/test_login.py": (
        "sets_a_secure_cookie refuses_a_wrong_password slows_down_after_five_tries resets_the_password "
        "tells_nothing_about_unknown_mails rotates_the_session logs_out_everywhere remembers_the_device"
    ),
    "tests/sessions/test_store.py": (
        "creates_a_random_id gets_an_open_session refuses_a_closed_one refuses_an_expired_one touch_moves_the_end "
        "touch_refuses_a_closed_one close_twice_is_fine delete_expired_respects_the_batch"
    ),
    "tests/sessions/test_cleanup.py": (
        "removes_expired_sessions keeps_sessions_that_are_in_use stops_while_waiting "
        "two_sweeps_at_once_delete_each_row_once goes_on_after_an_error"
    ),
    "tests/test_middleware.py": (
        "open_paths_need_no_session refuses_without_cookie refuses_an_unknown_session touches_the_session "
        "closes_a_one_shot_session deletes_the_cookie_when_expired passes_the_session_on leaves_errors_alone"
    ),
    "tests/test_config.py": "reads_the_environment has_defaults refuses_a_bad_number splits_origins",
}
PARAMETERS = ("postgres15", "postgres16")


def pytest_run(seed: int, failing: tuple[str, ...] = (), only: str = "", seconds: float = 41.0) -> str:
    """What `pytest -v` prints; tests whose name contains a word of `failing` fail."""
    rng = random.Random(seed)
    names = [
        f"{path}::test_{name}[{parameter}]"
        for path, behaviours in BEHAVIOURS.items()
        for name in behaviours.split()
        for parameter in PARAMETERS
        if only in path
    ]
    head = "============================= test session starts ==============================\n"
    head += "platform linux -- Python 3.12.7, pytest-8.3.3, pluggy-1.5.0\nrootdir: /home/dev/acme-api\n"
    head += (
        f"configfile: pyproject.toml\nplugins: asyncio-0.24.0, timeout-2.3.1\ncollected {len(names)} items\n"
    )
    lines, failed = [head], []
    for number, name in enumerate(names, 1):
        bad = any(word in name for word in failing)
        failed += [name] if bad else []
        percent = number * 100 // len(names)
        took = rng.uniform(0.01, 0.4) + (1.1 if "expired" in name else 0)
        lines.append(f"{name} {'FAILED' if bad else 'PASSED'} ({took:.2f}s) [{percent:3d}%]")
    lines += [_failure(name, rng) for name in failed]
    if failed:
        lines.append("=========================== short test summary info ============================")
        lines += [
            f"FAILED {name} - {'assert 0 >= 1' if 'goes_on' in name else 'SessionGone'}" for name in failed
        ]
    counts = f"{len(failed)} failed, " if failed else ""
    lines.append(f"==== {counts}{len(names) - len(failed)} passed in {seconds + rng.random():.2f}s ====")
    return "\n".join(lines)


def _failure(name: str, rng: random.Random) -> str:
    if "goes_on" in name:
        return f"""
=================================== FAILURES ===================================
_____________ {name.rsplit("::", 1)[1]} _____________
tests/sessions/test_cleanup.py:85: in test_goes_on_after_an_error
    assert calls >= 1
E   assert 0 >= 1"""
    token = _token(rng)
    return f"""
=================================== FAILURES ===================================
_____________ {name.rsplit("::", 1)[1]} _____________
tests/sessions/test_cleanup.py:43: in test_keeps_sessions_that_are_in_use
    assert (await store.get(session.id)).account_id == session.account_id
src/acme_api/sessions/store.py:71: in get
    raise SessionGone(session_id)
E   acme_api.sessions.store.SessionGone: '{token}'
------------------------------ Captured log call -------------------------------
INFO     acme_api.sessions.cleanup:cleanup.py:54 removed {rng.randint(1, 6)} expired sessions"""


def _token(rng: random.Random) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return "".join(rng.choices(letters, k=43))


def ci_log(seed: int, lines: int) -> str:
    """A job's log as the CI shows it: time stamps, groups, package downloads, test dots, one failure."""
    rng = random.Random(seed)
    clock = datetime(2026, 11, 16, 17, 2, 11, tzinfo=UTC)
    packages = (
        "anyio asyncpg certifi click coverage h11 httpcore httpx idna iniconfig jinja2 markupsafe mypy packaging "
        "pluggy pydantic pytest pytest-asyncio pytest-timeout python-multipart ruff sniffio starlette uvicorn uvloop"
    ).split()
    shapes = (
        lambda: (
            f"Collecting {rng.choice(packages)}=={rng.randint(0, 9)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}"
        ),
        lambda: (
            f"  Downloading {rng.choice(packages)}-{rng.randint(1, 9)}.{rng.randint(0, 20)}-py3-none-any.whl "
            f"({rng.randint(9, 900)} kB)"
        ),
        lambda: (
            f"db-1  | LOG:  checkpoint complete: wrote {rng.randint(3, 900)} buffers "
            f"({rng.uniform(0, 5):.1f}%); write={rng.uniform(0, 9):.3f} s, sync={rng.uniform(0, 0.2):.3f} s"
        ),
        lambda: (
            f"db-1  | LOG:  duration: {rng.uniform(100, 1900):.3f} ms  statement: DELETE FROM sessions WHERE "
            f"id = ANY($1::text[]) /* {rng.randint(1, 500)} ids */"
        ),
        lambda: f"{rng.choice(list(BEHAVIOURS))} {'.' * rng.randint(4, 30)}",
        lambda: (
            f"db-1  | DETAIL:  Process {rng.randint(60, 99)} waits for ShareLock on transaction "
            f"{rng.randint(70000, 79999)}; blocked by process {rng.randint(60, 99)}."
        ),
    )
    out = ["##[group]Run make test", "make test", "shell: /usr/bin/bash -e {0}", "##[endgroup]"]
    out += [shapes[rng.choice((0, 1, 2, 3, 4, 4, 5))]() for _ in range(lines)]
    out += [
        _failure("tests/sessions/test_cleanup.py::test_keeps_sessions_that_are_in_use[postgres16]", rng),
        "##[error]Process completed with exit code 1.",
    ]
    stamped = []
    for line in out:
        clock += timedelta(milliseconds=rng.randint(20, 1400))
        stamped.append(f"{clock.isoformat(timespec='milliseconds')[:-6]}Z {line}")
    return "\n".join(stamped)


def server_log(seed: int, lines: int, word: str = "") -> str:
    """Staging's log, one JSON object per line."""
    rng = random.Random(seed)
    clock = datetime(2026, 11, 16, 21, 40, 3, tzinfo=UTC)
    paths = (
        "/accounts/me",
        "/invoices",
        "/invoices/8821/pdf",
        "/teams/41",
        "/exports/invoices.csv",
        "/logout",
    )
    out = []
    for _ in range(lines):
        clock += timedelta(milliseconds=rng.randint(3, 900))
        record: dict[str, object] = {
            "ts": clock.isoformat(timespec="milliseconds"),
            "pid": rng.choice((31, 32, 33, 34)),
        }
        kind = rng.random()
        if word or kind < 0.12:
            record |= {
                "level": "WARNING",
                "logger": "acme_api.middleware",
                "msg": word or "session expired",
                "session": _token(rng)[:8],
                "age_s": rng.randint(2, 1790),
                "path": rng.choice(paths),
            }
        elif kind < 0.2:
            record |= {
                "level": "INFO",
                "logger": "acme_api.sessions.cleanup",
                "msg": f"removed {rng.randint(1, 40)} expired sessions",
                "took_ms": rng.randint(4, 6100),
            }
        else:
            record |= {
                "level": "INFO",
                "logger": "uvicorn.access",
                "method": "GET",
                "path": rng.choice(paths),
                "status": rng.choice((200, 200, 200, 304, 401)),
                "ms": round(rng.uniform(2, 480), 1),
            }
        out.append(json.dumps(record))
    return "\n".join(out)


ROUTES = {
    "accounts": ("account", ("name", "address", "country", "tax_number", "plan", "seats")),
    "invoices": ("invoice", ("number", "currency", "lines", "vat_rate", "due_at", "paid_at")),
    "teams": ("team", ("name", "owner_id", "members", "plan", "invited_by")),
    "exports": ("export", ("kind", "rows", "filename", "started_at", "finished_at")),
    "webhooks": ("webhook", ("url", "secret", "events", "last_status", "next_try_at")),
}
ACTIONS = {
    "create": "INSERT",
    "read": "SELECT",
    "change": "UPDATE",
    "remove": "DELETE",
    "list_": "SELECT",
    "history": "SELECT",
}


def route_file(name: str) -> str:
    """A module of handlers in the style of the project."""
    thing, fields = ROUTES[name]
    out = [
        f'"""Handlers of /{name}."""',
        "",
        "from __future__ import annotations",
        "",
        "from starlette.requests import Request",
        "from starlette.responses import JSONResponse",
        "from starlette.routing import Route",
        "",
        f"from acme_api.{name} import queries",
        "from acme_api.errors import Invalid, NotFound",
        "",
    ]
    for action, verb in ACTIONS.items():
        out += [
            "",
            f"async def {action}(request: Request) -> JSONResponse:",
            f'    """{verb} for one {thing}; only members of the account may do it."""',
            "    account = request.state.session.account_id",
        ]
        if action in ("create", "change"):
            out += ["    body = await request.json()"]
            for field in fields:
                out += [
                    f'    if "{field}" in body and not queries.valid_{field}(body["{field}"]):',
                    f'        raise Invalid("{field}", f"{field} of a {thing} cannot be {{body[\'{field}\']!r}}")',
                ]
            out += [
                f"    row = await queries.{action}(account, {{key: body.get(key) for key in queries.FIELDS}})"
            ]
        else:
            out += [
                f'    row = await queries.{action.rstrip("_")}(account, request.path_params.get("{thing}_id"))',
                "    if row is None:",
                f'        raise NotFound("{thing}")',
            ]
        shown = ", ".join(f'"{field}": row["{field}"]' for field in fields)
        out += [f'    return JSONResponse({{"id": row["id"], {shown}}})', ""]
    out += ["", "routes = ["]
    out += [f'    Route("/{{{thing}_id}}/{action.rstrip("_")}", {action}),' for action in ACTIONS]
    return "\n".join([*out, "]", ""])


def openapi(seed: int) -> str:
    """The API's description, long and dull as they are."""
    rng = random.Random(seed)
    paths: dict[str, object] = {}
    for name, (thing, fields) in ROUTES.items():
        for action in ACTIONS:
            paths[f"/{name}/{{{thing}_id}}/{action.rstrip('_')}"] = {
                "get": {
                    "operationId": f"{action.rstrip('_')}_{thing}",
                    "security": [{"session": []}],
                    "parameters": [{"in": "path", "name": f"{thing}_id", "schema": {"type": "string"}}],
                    "responses": {
                        "200": {
                            "description": f"The {thing}",
                            "content": {
                                "application/json": {
                                    "schema": {
                                        "type": "object",
                                        "required": ["id", *fields[:2]],
                                        "properties": {
                                            field: {"type": "string", "maxLength": rng.choice((40, 120, 400))}
                                            for field in fields
                                        },
                                    }
                                }
                            },
                        },
                        "401": {"$ref": "#/components/responses/unauthorised"},
                        "404": {"$ref": "#/components/responses/not_found"},
                    },
                }
            }
    return json.dumps(
        {"openapi": "3.1.0", "info": {"title": "acme-api", "version": "2.4.0"}, "paths": paths}, indent=1
    )
