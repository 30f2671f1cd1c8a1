"""What is known about models by their names."""

import pytest

from contextlab.core.measuring.tokens import (
    CL100K,
    O200K,
    calibration_for,
    encoding_for,
    estimate,
    keeps_reasoning,
    reasoning_size,
    window_for,
)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-5.5", (O200K, True)),
        ("openai/gpt-4o-mini", (O200K, True)),
        ("gpt-4.1-2025-04-14", (O200K, True)),
        ("o3-mini", (O200K, True)),
        ("gpt-4-0613", (CL100K, True)),
        ("gpt-3.5-turbo", (CL100K, True)),
        ("gpt-6.1-sol", (O200K, False)),
        ("claude-opus-4-5-20251101", (O200K, False)),
        (None, (O200K, False)),
    ],
)
def test_an_encoding_is_exact_only_for_models_known_to_use_it(model, expected):
    """A count in a tokenizer that is not the model's own says so."""
    assert encoding_for(model) == expected


@pytest.mark.parametrize(
    ("model", "counted", "blocks", "expected"),
    [
        ("claude-opus-4-5-20251101", 1000, 2, 1213),
        ("us.anthropic.claude-opus-4-6-v1:0", 1000, 1, 1143),
        ("claude-sonnet-4-20250514", 1000, 1, 1195),
        ("claude-opus-4-8", 1000, 1, 1554),
        ("claude-fable-5-2", 1000, 0, 1456),
        ("gpt-5.5", 1000, 1, 1009),
    ],
)
def test_a_calibrated_size_follows_the_model(model, counted, blocks, expected):
    """Ratio and cost per block come from the model's own fit, else from its generation's default."""
    assert calibration_for(model).apply(counted, blocks) == expected


def test_an_unfitted_model_has_the_wide_band():
    """What was not measured is shown with plus or minus 15 %."""
    assert calibration_for("some-model").band == 0.15
    assert calibration_for("claude-opus-4-5").band < 0.15


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-5-20251101", (True, False)),
        ("claude-opus-5", (True, False)),
        ("claude-sonnet-4-5-20250929", (False, False)),
        ("gpt-5.3-codex", (False, False)),
        ("claude-3-7-sonnet-20250219", (False, True)),
        ("claude-sonnet-4-20250514", (False, True)),
        ("claude-haiku-4-5-20251001", (True, True)),
        ("mystery", (True, True)),
    ],
)
def test_whether_earlier_reasoning_stays_is_known_or_labelled_assumed(model, expected):
    """An assumption about hidden reasoning is never shown as knowledge."""
    assert keeps_reasoning(model) == expected


@pytest.mark.parametrize(
    ("model", "signature", "counted", "expected"),
    [
        ("claude-opus-4-5", 1000, 5, 145),
        ("claude-opus-4-5", 101, 5, 0),
        ("claude-opus-4-5", 0, 100, 135),
        ("claude-opus-4-6", 0, 100, 340),
    ],
)
def test_reasoning_is_sized_by_its_signature_else_by_its_text(model, signature, counted, expected):
    """The logged text may be a summary; the signature carries the real length, and no size is negative."""
    assert reasoning_size(model, signature, counted) == expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-6[1m]", 1_000_000),
        ("claude-opus-4-6", 200_000),
        ("claude-sonnet-5", 1_000_000),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("gpt-5.4-mini-2026-01-01", 400_000),
        ("gpt-5-2025-08-07", 400_000),
        ("gpt-4o-2024-08-06", 128_000),
        ("mystery", None),
        (None, None),
    ],
)
def test_a_window_is_in_the_table_or_unknown(model, expected):
    """Unknown is None, never a guess."""
    assert window_for(model) == expected


@pytest.mark.parametrize(("text", "expected"), [("", 1), ("abcdefgh", 2), ("日本語の", 3), ("\ud800" * 8, 6)])
def test_an_estimate_is_a_quarter_of_the_bytes(text, expected):
    """It is at least 1 and survives lone surrogates."""
    assert estimate(text) == expected
