"""State and originals in the database: same promises as in memory, under contention and inside transactions."""

from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from contextlab.core.offload import Offload
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import CompressionStateRecord, OffloadRecord, Session, Workspace
from contextlab.store.offloads import DjangoOffloadStore
from contextlab.store.state import DjangoStateStore
from tests.support import store_contracts as contracts

pytestmark = [pytest.mark.database]


@pytest.mark.django_db
def test_state_store():
    """The database compares and sets."""
    contracts.check_state_store(DjangoStateStore(local_workspace()), "c")
    contracts.check_arguments(DjangoStateStore(local_workspace()))


@pytest.mark.django_db
def test_offload_store():
    """Originals come back as they were."""
    contracts.check_offload_store(DjangoOffloadStore(local_workspace()))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", [True, False], ids=["first save", "later save"])
def test_of_saves_at_once_one_wins(first):
    """No update is lost, whether the row is new or not."""
    stores = [DjangoStateStore(local_workspace()) for _ in range(6)]
    expected = 0 if first else 1
    assert first or stores[0].save("c", contracts.state(1), 0)
    assert contracts.winners(stores, "c", expected, lambda: connection.close()) == 1
    assert stores[0].load("c") == contracts.state(expected + 1)


@pytest.mark.django_db
def test_a_refusal_leaves_the_callers_transaction_usable():
    """A lost race for the first version is an answer, not an error of the database."""
    store = DjangoStateStore(local_workspace())
    assert store.save("c", contracts.state(1), 0)
    with transaction.atomic():
        assert not store.save("c", contracts.state(1), 0)
        assert store.save("d", contracts.state(1), 0)
    assert store.load("d") is not None


@pytest.mark.django_db(transaction=True)
def test_originals_and_state_are_stored_together_or_not_at_all():
    """A transaction that fails takes both back."""
    states, offloads = DjangoStateStore(local_workspace()), DjangoOffloadStore(local_workspace())
    with transaction.atomic():
        offloads.put(Offload("x", contracts.ITEMS))
        assert states.save("c", contracts.state(1), 0)
        transaction.set_rollback(True)
    assert (offloads.get("x"), states.load("c")) == ((), None)


@pytest.mark.django_db
def test_workspaces_do_not_see_each_other():
    """The same ids in another workspace are other conversations and other originals."""
    one, other = (Workspace.objects.create(name=name) for name in ("one", "other"))
    assert DjangoStateStore(one).save("c", contracts.state(1), 0)
    DjangoOffloadStore(one).put(Offload("x", contracts.ITEMS))
    assert DjangoStateStore(other).load("c") is None
    assert DjangoStateStore(other).save("c", contracts.state(1), 0)
    assert DjangoOffloadStore(other).get("x") == ()
    DjangoOffloadStore(other).clear("x")
    assert DjangoOffloadStore(one).get("x") == contracts.ITEMS


@pytest.mark.django_db
def test_they_go_with_their_session():
    """Who deletes a session deletes what was derived from it."""
    session = Session.objects.create(
        workspace=local_workspace(), native_id="n", format="test", sort_at=datetime.now(UTC)
    )
    DjangoStateStore(local_workspace(), session).save("c", contracts.state(1), 0)
    DjangoOffloadStore(local_workspace(), session).put(Offload("x", contracts.ITEMS))
    session.delete()
    assert (CompressionStateRecord.objects.count(), OffloadRecord.objects.count()) == (0, 0)


@pytest.mark.django_db
def test_a_save_is_one_conditional_statement(django_assert_num_queries):
    """A later version is one UPDATE; nothing is read before it is written."""
    store = DjangoStateStore(local_workspace())
    store.save("c", contracts.state(1), 0)
    with django_assert_num_queries(1) as seen:
        assert store.save("c", contracts.state(2), 1)
    assert seen.captured_queries[0]["sql"].startswith("UPDATE")
