"""Workspaces, the log files read, their raw bytes, and the folders that are watched."""

# ruff: noqa: RUF012, DJ008 - Django reads Meta as it is; null is "unknown" here; most rows never show as text

from __future__ import annotations

import uuid

from django.db import models


class Workspace(models.Model):
    """The tenant. Local mode has one; every query passes through it."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120, default="local")
    fitted_calibrations = models.BooleanField(default=True)
    """Whether what was fitted to its sessions is used where it rests on enough; off: the table alone."""
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class LogFile(models.Model):
    """One file that was read. Its bytes are kept in segments, so that it may vanish."""

    class Origin(models.TextChoices):
        PATH = "path", "imported from a path"
        UPLOAD = "upload", "uploaded"
        SCAN = "scan", "found on this machine"
        API = "api", "sent by API"
        SAMPLE = "sample", "sample"

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=1024)
    relative = models.CharField(max_length=1024, default="", blank=True)
    """Path below the folder that was imported, forward slashes."""
    path = models.TextField(default="", blank=True)
    """Absolute path on this machine, empty for uploads."""
    key = models.CharField(max_length=64)
    """sha256 (hex) of what identifies the file: its absolute path, or for uploads the content.

    Two uploads may bear one name; a longer upload of the same log takes its session over (services.ingest).
    """
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.PATH)
    format = models.CharField(max_length=40, default="", blank=True)
    revision = models.IntegerField(default=1)
    """Which of the raw segments are the file's; the next revision is written beside and swapped in."""
    size = models.BigIntegerField(default=0)
    """Bytes of the content that was read (decompressed)."""
    disk_size = models.BigIntegerField(default=0)
    mtime_ns = models.BigIntegerField(null=True)
    sha256 = models.CharField(max_length=64, default="", blank=True)
    """Hash of the `size` bytes read; a grown file has these bytes as its prefix. Empty: never read to its end."""
    report = models.JSONField(default=dict)
    """The import report (core.events.FileReport as a dict)."""
    error = models.TextField(default="", blank=True)
    """Why the file could not be read at all, redacted; empty when it was."""
    imported_at = models.DateTimeField(null=True)
    missing_since = models.DateTimeField(null=True)
    """When the file was found to have vanished: ContextLab then holds the only copy."""
    forgotten_at = models.DateTimeField(null=True)
    """When a person deleted its sessions: watching does not bring them back, only asking for the file does."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "key"], name="logfile_key")]

    def __str__(self) -> str:
        return self.name


RAW_SEGMENT = 128 * 1024


class RawSegment(models.Model):
    """RAW_SEGMENT bytes of a log (the last one fewer), compressed (zstd): number n begins at n * RAW_SEGMENT."""

    file = models.ForeignKey(LogFile, on_delete=models.CASCADE, related_name="segments", db_index=False)
    revision = models.IntegerField(default=1)
    number = models.IntegerField()
    offset = models.BigIntegerField()
    length = models.IntegerField()
    sha256 = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["file", "revision", "number"], name="rawsegment_number")
        ]


class WatchedFolder(models.Model):
    """A folder that is read again every two seconds while it is enabled."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    path = models.TextField()
    label = models.CharField(max_length=80)
    enabled = models.BooleanField(default=True)
    since = models.DateTimeField(null=True)
    """Files that were last changed before it and are not known yet are left alone until someone asks for them."""
    last_scan_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "path"], name="watched_path")]
