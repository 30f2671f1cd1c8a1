"""Use cases: each one transaction or a run of short ones. They know neither HTTP nor Celery.

A service returns the runs that it queued; who called it rings (`contextlab.tasks.ring`) once the transaction is
committed. What nobody rang for, the reaper does.
"""
