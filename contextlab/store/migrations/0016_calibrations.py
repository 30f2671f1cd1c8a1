from django.db import migrations, models


def to_be_made_anew(apps, schema_editor):
    """Figures of views were calibrated without keeping what with: they are made anew in the background."""
    apps.get_model("store", "View").objects.filter(revision__gt=0).exclude(kind="branch").update(recalibrate=True)


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0015_live'),
    ]

    operations = [
        migrations.AddField(
            model_name='modelcalibration',
            name='band',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='modelcalibration',
            name='table_band',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='modelcalibration',
            name='used',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='stepreport',
            name='blocks',
            field=models.IntegerField(null=True),
        ),
        migrations.AddField(
            model_name='stepreport',
            name='reasoning_tokens',
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='view',
            name='calibrations',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='view',
            name='recalibrate',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='workspace',
            name='fitted_calibrations',
            field=models.BooleanField(default=True),
        ),
        migrations.AddIndex(
            model_name='view',
            index=models.Index(condition=models.Q(('recalibrate', True)), fields=['recalibrate'], name='view_recalibrate'),
        ),
        migrations.RunPython(to_be_made_anew, migrations.RunPython.noop),
    ]
