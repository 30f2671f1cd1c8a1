"""The Codex sample: invoices move to a new ledger, in two turns with one opaque compaction between its steps."""

# ruff: noqa: E501  (what was said stands on one line)

from __future__ import annotations

import random
from datetime import UTC, datetime

from scripts.sample_sessions.codex_writer import PER_MESSAGE, Rollout
from scripts.sample_sessions.texts import text
from scripts.sample_sessions.writer import Clock, count

ENVIRONMENT = """<environment_context>
  <cwd>/home/dev/acme-billing</cwd>
  <shell>zsh</shell>
  <current_date>2026-11-16</current_date>
</environment_context>"""
PERMISSIONS = """<permissions instructions>
`sandbox_mode` is `workspace-write`: files below the working directory may be written, network access is off.
</permissions instructions>"""
MONTHS = tuple(f"2026-{month:02d}" for month in range(1, 11))


def rows(rng: random.Random, month: str, number: int) -> str:
    """Invoices as psql shows them."""
    head = (
        " number          | issued_at  | account  | net_cents | vat_cents | gross_cents | state\n" + "-" * 86
    )
    lines = []
    for index in range(number):
        net = rng.randint(900, 2_400_000)
        vat = round(net * 0.081)
        lines.append(
            f" INV-{month.replace('-', '')}-{index + 1:05d} | {month}-{rng.randint(1, 28):02d} | acc_{rng.randint(1000, 9999)} | "
            f"{net:9d} | {vat:9d} | {net + vat:11d} | {rng.choice(('paid', 'paid', 'open', 'reminded'))}"
        )
    return "\n".join([head, *lines, f"({number} rows)"])


def differences(rng: random.Random, month: str, number: int) -> str:
    """What the comparison of the old tables with the ledger prints."""
    lines = [
        f"{month} invoice INV-{month.replace('-', '')}-{rng.randint(1, 900):05d} old={rng.randint(2000, 900000)} "
        f"delta={rng.choice((-1, 1))} lines={rng.randint(2, 19)} vat_rate=810"
        for _ in range(number)
    ]
    return "\n".join([*lines, f"{month}: {number} differences in {rng.randint(700, 1400)} invoices"])


def first_turn(log: Rollout) -> None:
    """Read, write the move, compare month by month; the context fills up on the way."""
    rng = log.rng
    ask = "Move the invoices of 2026 to the new ledger, month by month, and prove that the sums agree with the old tables to the cent."
    log.start(ask, [("developer", [PERMISSIONS]), ("user", [text("agents"), ENVIRONMENT])])
    log.step(
        "I'll read the schema and the old invoicing code before I write anything.",
        [
            ("sed -n '1,80p' sql/ledger.sql", text("schema")),
            (
                "git log --oneline -12",
                "\n".join(
                    f"{rng.getrandbits(28):07x} {line}"
                    for line in (
                        "Ledger: schema",
                        "Freeze the old tables",
                        "Round half-even",
                        "Invoices in CHF",
                        "Reminders stop after three",
                        "VAT per line",
                        "Payments: partial",
                        "Export for the accountant",
                        "Lock closed months",
                        "just check-ledger",
                        "PDF once",
                        "First ledger notes",
                    )
                ),
            ),
        ],
        thought="**Reading the schema first**\n\nThe ledger has accounts, transactions "
        "and entries. Idempotence can come from UNIQUE (source, source_id).",
    )
    log.step(
        "",
        [
            (
                "rg -n 'half_even|vat' src/billing",
                (
                    "src/billing/money.py:14:def half_even(numerator: int, denominator: int) -> int:\n"
                    "src/billing/invoices.py:88:    vat = sum(half_even(line.net * rate, 10_000) for line in lines)\n"
                    "src/billing/invoices.py:131:    # per line, see AGENTS.md"
                ),
            )
        ],
    )
    log.step(
        "The move is one function per month, idempotent by (source, source_id).",
        [("cat > src/billing/move.py <<'EOF'\n" + text("move") + "EOF", "")],
    )
    log.step(
        "",
        [
            (
                "just test -q",
                "................................................................  [100%]\n64 passed in 7.1s",
            )
        ],
    )
    log.step(
        "January first, with the rows in view.",
        [
            (
                "psql acme_billing -c \"select * from invoice_sums where month = '2026-01' limit 190\"",
                rows(rng, "2026-01", 190),
            ),
            ("python -m billing.move 2026-01", "2026-01: 1104 invoices, 987 payments, 2091 new transactions"),
        ],
    )
    log.step(
        "",
        [("python -m billing.compare 2026-01", differences(rng, "2026-01", 41))],
        thought="**Comparing January**\n\nDeltas of exactly one cent on invoices with several lines.",
    )
    log.step(
        "41 invoices differ by one cent, all with several lines: I rounded VAT per invoice, the rule is per line. I correct it.",
        [
            (
                (
                    "python - <<'EOF'\nimport re, pathlib\np = pathlib.Path('src/billing/move.py')\ns = p.read_text()\ns = s.replace('vat = "
                    "half_even(net * invoice.vat_rate, 10_000)', 'vat = sum(half_even(line.net * invoice.vat_rate, 10_000) for line in "
                    "invoice.lines)')\np.write_text(s)\nEOF"
                ),
                "",
            ),
            ("just test -q", "65 passed in 7.0s"),
        ],
    )
    log.step(
        "",
        [
            (
                "python -m billing.move 2026-01 --again && python -m billing.compare 2026-01",
                "2026-01: 2091 transactions booked anew\n2026-01: 0 differences in 1104 invoices",
            )
        ],
    )
    for month in MONTHS[1:]:
        number = 175 + rng.randint(0, 50)
        log.step(
            f"{month}: move, then compare." if month in ("2026-02", "2026-06") else "",
            [
                (
                    f"psql acme_billing -c \"select * from invoice_sums where month = '{month}' limit {number}\"",
                    rows(rng, month, number),
                ),
                (
                    f"python -m billing.move {month}",
                    f"{month}: {rng.randint(900, 1300)} invoices, {rng.randint(800, 1200)} payments moved",
                ),
            ],
        )
        if month == "2026-08":
            log.step(
                "",
                [(f"python -m billing.compare {month}", differences(rng, month, 12))],
                thought="**August differs**\n\nTwelve invoices with vat_rate=810 issued before the change of the rate on 1 August?",
            )
            log.step(
                "August: twelve invoices carry the new VAT rate although their lines have the old one. I look at one.",
                [
                    (
                        "psql acme_billing -x -c \"select * from invoices where number = 'INV-202608-00317'\"",
                        (
                            "number | INV-202608-00317\n"
                            "issued_at | 2026-07-31 23:58:12+02\nvat_rate | 810\nlines_vat_rate | 770\nbooked_month | 2026-08"
                        ),
                    )
                ],
            )
        else:
            log.step("", [(f"python -m billing.compare {month}", f"{month}: 0 differences")])
    log.compact(7_340)
    log.step(
        "I continue with the check of the whole ledger.",
        [
            (
                "just check-ledger",
                (
                    "accounts 41, transactions 21377, entries 53120\n"
                    "every transaction sums to zero: yes\ncurrencies mixed in a transaction: 0"
                ),
            )
        ],
    )
    log.step("", [("python -m billing.compare 2026-08", differences(rng, "2026-08", 12))])
    done = (
        "January to October are moved; nine months agree to the cent. August has 12 invoices that were issued on 31 July shortly before "
        "midnight and carry the new VAT rate: the old tables are wrong there, not the ledger. How should they be booked?"
    )
    log.step(done, [], final=True)
    log.end(done)


def second_turn(log: Rollout) -> None:
    """The decision, and the proof."""
    rng = log.rng
    log.start(
        "By issue date: they belong to July with the old rate. Book corrections, don't change the old tables.",
        [],
    )
    log.step(
        "",
        [
            (
                "rg -n 'def book' -A 14 src/billing/db.py",
                (
                    "58:    def book(self, source, source_id, booked_at, entries) -> int:\n"
                    "59:        if sum(amount for _, amount in entries) != 0:\n60:            raise Unbalanced(source_id)\n61:        ..."
                ),
            )
        ],
        thought="**Corrections as transactions of their own**\n\nsource = correction, source_id = invoice number.",
    )
    log.step(
        "Corrections become transactions of their own, dated 31 July.",
        [
            (
                "python -m billing.correct --from 2026-08 --to 2026-07 --rate 770 --dry-run",
                "\n".join(
                    f"INV-202608-{rng.randint(1, 900):05d} vat {rng.randint(900, 90000)} -> {rng.randint(800, 85000)}"
                    for _ in range(12)
                ),
            )
        ],
    )
    log.step(
        "", [("python -m billing.correct --from 2026-08 --to 2026-07 --rate 770", "12 corrections booked")]
    )
    for month in ("2026-07", "2026-08"):
        log.step("", [(f"python -m billing.compare {month} --with-corrections", f"{month}: 0 differences")])
    log.step(
        "",
        [
            ("just check-ledger", "transactions 21389, every transaction sums to zero: yes"),
            ("just test -q", "68 passed in 7.4s"),
        ],
    )
    for month in MONTHS[:4]:
        log.step(
            "",
            [
                (
                    f"python -m billing.report {month} --old --new | diff -y --suppress-common-lines - /dev/null | head -3",
                    f"{month} receivable {rng.randint(10**6, 10**7)} = {month} ledger 1200: equal",
                )
            ],
        )
    log.step(
        "",
        [
            (
                "git add -A && git commit -q -m 'Move 2026 to the ledger' && git show --stat HEAD | tail -5",
                " src/billing/correct.py | 61 +++\n src/billing/move.py    | 27 +++\n tests/test_move.py     | 48 +++\n 3 files changed, 136 insertions(+)",
            )
        ],
    )
    done = (
        "All ten months agree to the cent. The twelve invoices of 31 July are corrected by transactions of their own (source "
        "`correction`), the old tables are untouched, and every transaction sums to zero (21,389 of 21,389)."
    )
    log.step(done, [], final=True)
    log.end(done)


def codex_files() -> dict[str, str]:
    """The rollout by its path."""
    rng = random.Random(31)
    thread = "019e95c2-7b1d-7c40-a1f3-3d2c90be6a77"
    log = Rollout(
        thread, Clock(datetime(2026, 11, 16, 13, 4, 40, tzinfo=UTC), rng), rng, "/home/dev/acme-billing"
    )
    log.meta(text("instructions"))
    log.window_total = count(text("instructions")) + PER_MESSAGE
    first_turn(log)
    second_turn(log)
    return {f"codex/2026/11/16/rollout-2026-11-16T13-04-40-{thread}.jsonl": "\n".join(log.lines) + "\n"}
