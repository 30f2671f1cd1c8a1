"""What became of the facts of a compaction that was made here is counted once, for lists."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("store", "0017_no_second_compression")]
    operations = [
        migrations.AddField(
            model_name="compactionjob",
            name="facts",
            field=models.JSONField(null=True),
        ),
    ]
