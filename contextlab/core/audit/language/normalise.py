"""One form for what is written in many: numbers, units, paths, words of three languages.

| written                                  | compared as                                   |
|------------------------------------------|-----------------------------------------------|
| 1,800   1_800   1 800   １８００          | 1800                                          |
| 1.9 million, 1.9M                        | 1900000                                       |
| 30 min, 1800 s, 1800000 ms, 30分钟       | 1800 of `time`                                |
| 2 KB, 2048 bytes                         | near each other, of `size`                    |
| v2.3.0, 2.3.0, version 2.3               | (2, 3, 0) of a name; a shorter one may stand for it |
| retries, attempts, tries, 次, 回          | `attempt`                                     |
| 2026-11-16, 16 Nov 2026, 11/16/2026      | 2026-11-16                                    |
| /home/me/app/src/a.py, ./src/a.py        | parts, compared from their end                |
| tests, testing, 测试, テスト               | `test`                                        |
"""

from __future__ import annotations

import re
from functools import lru_cache

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xA0: 0x20, 0x202F: 0x20}
_IS_WIDE = re.compile("[！-～\u3000\u00a0\u202f]")
_THOUSANDS = re.compile(r"\d{1,3}(?:([,_ ])\d{3})(?:\1\d{3})*(?:\.\d+)?\Z")
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{3}){2,}\Z")
MULTIPLIERS = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "mio": 1e6, "bn": 1e9, "billion": 1e9,
    "万": 1e4, "萬": 1e4, "億": 1e8, "亿": 1e8, "千": 1e3,
}  # fmt: skip
_UNITS: dict[str, tuple[float, tuple[str, ...]]] = {
    "time 0.001": (0.001, ("ms", "msec", "millisecond", "毫秒", "ミリ秒")),
    "time 0.000001": (1e-6, ("us", "µs", "microsecond", "微秒")),
    "time 1": (1, ("s", "sec", "second", "秒", "秒钟", "秒間", "sekunde", "sekunden")),
    "time 60": (60, ("min", "minute", "分", "分钟", "分間", "分鐘", "minuten")),
    "time 3600": (3600, ("h", "hr", "hour", "小时", "小時", "時間", "stunde", "stunden")),
    "time 86400": (86400, ("d", "day", "天", "日間", "tag", "tage", "tagen")),
    "time 604800": (604800, ("week", "周", "週間", "woche", "wochen")),
    "size 1": (1, ("b", "byte", "字节", "バイト")),
    "size 1000": (1024, ("kb", "kib", "kilobyte")),
    "size 1000000": (1024**2, ("mb", "mib", "megabyte")),
    "size 1000000000": (1024**3, ("gb", "gib", "gigabyte")),
    "size 1e12": (1024**4, ("tb", "tib", "terabyte")),
    "percent": (1, ("%", "percent", "pct", "％", "prozent")),
    "pixel": (1, ("px", "pixel")),
    "rate": (1, ("rps", "qps", "rpm", "tps")),
    "money": (1, ("usd", "eur", "dollar", "euro", "円", "元")),
    "attempt": (1, ("attempt", "retry", "retries", "try", "tries", "time", "次", "回", "versuch", "versuche")),
    "row": (1, ("row", "record", "行", "条", "件", "zeile", "zeilen")),
    "test": (1, ("test", "testcase", "测试", "テスト")),
    "file": (1, ("file", "文件", "ファイル", "datei", "dateien")),
    "worker": (1, ("worker", "thread", "process", "processes", "线程", "スレッド")),
    "replica": (1, ("replica", "instance", "node", "pod", "shard", "副本", "レプリカ", "台")),
    "connection": (1, ("connection", "连接", "接続", "verbindungen")),
    "item": (1, ("item", "entry", "entries", "element", "个", "個", "つ")),
    "user": (1, ("user", "customer", "people", "人", "名")),
    "request": (1, ("request", "call", "请求", "リクエスト")),
    "page": (1, ("page", "页", "ページ")),
    "line": (1, ("line",)),
    "token": (1, ("token", "トークン")),
    "batch": (1, ("batch", "batches", "chunk", "批")),
    "character": (1, ("character", "char", "字符", "文字")),
    "session": (1, ("session", "会话", "セッション")),
    "message": (1, ("message", "event", "消息", "メッセージ")),
    "error": (1, ("error", "failure", "warning", "issue", "错误", "エラー")),
    "step": (1, ("step", "turn", "iteration", "epoch", "步")),
    "job": (1, ("job", "task", "任务", "ジョブ")),
    "column": (1, ("column", "列")),
    "core": (1, ("core", "cpu", "gpu", "核")),
}  # fmt: skip
UNITS: dict[str, tuple[str, float]] = {
    word: (name.split()[0], factor) for name, (factor, words) in _UNITS.items() for word in words
}
"""Unit word -> (dimension, factor to its base). Sizes are compared with room for 1000 beside 1024."""
_NEVER_PLURAL = {"s", "us", "ms", "process"}
NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100,
    "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"), 1
    )
    for name in names.split()
}  # fmt: skip


def narrow(text: str) -> str:
    """Full-width letters and figures as plain ones, in the same places."""
    return text if text.isascii() or not _IS_WIDE.search(text) else text.translate(_WIDE)


def number(text: str) -> float | None:
    """The value of figures with their separators; None for what is no single number (1.2.3, 21:40)."""
    if text.isdigit():
        return float(text) if len(text) <= 15 else None
    if _THOUSANDS.match(text):
        return float(re.sub(r"[,_ ]", "", text))
    if _DOTTED.match(text):
        return float(text.replace(".", ""))
    if text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def unit(word: str) -> tuple[str, float] | None:
    """Dimension and factor of a unit's name, singular or plural; None for a word that is none."""
    if word in ("M", "MB", "MiB", "GB", "KB", "kB"):
        return UNITS.get(word.lower())
    low = word.lower()
    found = UNITS.get(low)
    if found is None and low.endswith("s") and low not in _NEVER_PLURAL:
        found = UNITS.get(low[:-1]) or (UNITS.get(low[:-2]) if low.endswith("es") else None)
    return found


def shown(value: float) -> str:
    """A number as short as it can be told."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.10g}"


@lru_cache(maxsize=8192)
def close(told: float, true: float, dimension: str) -> bool:
    """Whether one number tells another: equal, or (but for ports) rounded to two figures or more."""
    if told == true:
        return True
    if dimension == "port" or not told or not true or not 0.85 < told / true < 1.18:
        return False
    if dimension == "size" and any(abs(told * step / true - 1) < 0.005 for step in _SIZE_STEPS):
        return True
    if abs(told) < 10 and told == int(told) and true == int(true):
        return False
    figures = len(shown(told).strip("-").replace(".", "").strip("0")) or 1
    return (
        figures < len(shown(true).replace(".", "").strip("0"))
        and f"{true:.{figures}g}" == f"{told:.{figures}g}"
    )


_SIZE_STEPS = tuple((1000 / 1024) ** power for power in (-3, -2, -1, 1, 2, 3))


def version(text: str) -> tuple[str, ...]:
    """The parts of a version, without a v before it."""
    return tuple(part for part in re.split(r"[.\-+_]", text.lower().lstrip("v")) if part)


def same_version(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether two versions agree as far as the shorter goes (2.3 tells 2.3.0)."""
    size = min(len(left), len(right))
    return size > 0 and left[:size] == right[:size]


@lru_cache(maxsize=32768)
def path_parts(text: str) -> tuple[str, ...]:
    """A path's parts, without where it begins from and in one case."""
    parts = text.replace("\\", "/").casefold().split("/")
    return tuple([part for part in parts if part not in _NO_PART])


_NO_PART = frozenset(("", ".", "..", "~"))


def canonical(name: str) -> str:
    """A name without case and joints: maxRetries, max_retries and MAX-RETRIES are one."""
    low = name.casefold()
    return low if low.isalnum() else "".join(filter(str.isalnum, low))
