from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def note(apps, schema_editor):
    """Versions of before: those of a compaction are sized as it says, and so are the one before and those restored."""
    versions = apps.get_model("store", "MemoryVersion").objects
    jobs = apps.get_model("store", "CompactionJob").objects
    made = jobs.filter(pk=OuterRef("compaction_id")).values("token_source")
    versions.exclude(compaction=None).update(token_source=Subquery(made))
    behind = versions.filter(parent=OuterRef("pk")).exclude(token_source="").order_by("version")
    versions.filter(created_by="base").update(token_source=_found(behind))
    versions.filter(token_source="", tokens=0).update(token_source="counted")  # nothing in it
    again = versions.filter(pk=OuterRef("restored_id"), tokens=OuterRef("tokens"))
    versions.filter(created_by="restore").update(token_source=_found(again))


def _found(rows):
    return models.functions.Coalesce(Subquery(rows.values("token_source")[:1]), models.Value(""))


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0022_answers_cut_off'),
    ]

    operations = [
        migrations.AddField(
            model_name='memoryversion',
            name='token_source',
            field=models.CharField(blank=True, default='', max_length=10),
        ),
        migrations.RunPython(note, migrations.RunPython.noop, elidable=True),
    ]
