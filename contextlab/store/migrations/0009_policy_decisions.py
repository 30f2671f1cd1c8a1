import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('store', '0008_compaction_places'),
    ]

    operations = [
        migrations.CreateModel(
            name='PolicyDecisions',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('first_step', models.IntegerField()),
                ('last_step', models.IntegerField()),
                ('outcome', models.CharField(max_length=12)),
                ('reason', models.CharField(blank=True, default='', max_length=300)),
                ('rule', models.CharField(blank=True, default='', max_length=200)),
                ('threshold', models.BigIntegerField(null=True)),
                ('lowest', models.BigIntegerField(null=True)),
                ('highest', models.BigIntegerField(null=True)),
                ('estimates', models.BinaryField(null=True)),
                ('view', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='store.view')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('view', 'first_step'), name='policydecisions_step')],
            },
        ),
    ]
