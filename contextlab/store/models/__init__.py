"""Tables. Items, steps and raw bytes belong to a session; spans and reports to a view of it.

Rows of a session carry a `revision`: a log that changed otherwise than by growing is written beside the old rows
under the next revision and swapped in. Positions, step and turn numbers are dense inside a revision.
"""

from contextlab.store.models.audits import FindingRecord, SessionAudit
from contextlab.store.models.calibrations import ModelCalibration
from contextlab.store.models.compactions import CompactionJob, MemoryVersion, ModelAnswer
from contextlab.store.models.compression import CompressionStateRecord, OffloadRecord
from contextlab.store.models.live import LiveSession, LiveVersion, PolicyChange
from contextlab.store.models.logs import RAW_SEGMENT, LogFile, RawSegment, WatchedFolder, Workspace
from contextlab.store.models.memories import (
    WHOLE_SESSION,
    MemorySettings,
    ObservationBatch,
    ObservationPrompts,
    ObservationRecord,
    ObservationTag,
    SessionSummaryRecord,
    UserMemoryRecord,
    UserMemoryVersion,
)
from contextlab.store.models.policies import PolicyCompaction, PolicyDocument, PolicyVersion
from contextlab.store.models.runs import FINISHED, Lease, Run, RunState
from contextlab.store.models.search import SearchPiece, SearchState
from contextlab.store.models.sessions import (
    CompactionRecord,
    ContentCount,
    ItemRecord,
    LinkRecord,
    MarkRecord,
    Session,
    StepRecord,
    TextSegment,
    TurnRecord,
)
from contextlab.store.models.views import SpanRecord, StepReport, View

__all__ = [
    "FINISHED",
    "RAW_SEGMENT",
    "WHOLE_SESSION",
    "CompactionJob",
    "CompactionRecord",
    "CompressionStateRecord",
    "ContentCount",
    "FindingRecord",
    "ItemRecord",
    "Lease",
    "LinkRecord",
    "LiveSession",
    "LiveVersion",
    "LogFile",
    "MarkRecord",
    "MemorySettings",
    "MemoryVersion",
    "ModelAnswer",
    "ModelCalibration",
    "ObservationBatch",
    "ObservationPrompts",
    "ObservationRecord",
    "ObservationTag",
    "OffloadRecord",
    "PolicyChange",
    "PolicyCompaction",
    "PolicyDocument",
    "PolicyVersion",
    "RawSegment",
    "Run",
    "RunState",
    "SearchPiece",
    "SearchState",
    "Session",
    "SessionAudit",
    "SessionSummaryRecord",
    "SpanRecord",
    "StepRecord",
    "StepReport",
    "TextSegment",
    "TurnRecord",
    "UserMemoryRecord",
    "UserMemoryVersion",
    "View",
    "WatchedFolder",
    "Workspace",
]
