"""Bytes that are compressed already are stored as they are: PostgreSQL would try to compress each of them again."""

from django.db import migrations

COLUMNS = (
    ("store_rawsegment", "data"),
    ("store_textsegment", "data"),
    ("store_memoryversion", "payload"),
)


def as_they_are(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for table, column in COLUMNS:
            schema_editor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")


class Migration(migrations.Migration):
    dependencies = [("store", "0016_calibrations")]

    operations = [migrations.RunPython(as_they_are, migrations.RunPython.noop)]
