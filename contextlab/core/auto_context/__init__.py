"""Automatic context compression: six strategies from cheap to drastic, each of which leaves a way back.

| strategy | file               | what it does                                                | model |
|----------|--------------------|-------------------------------------------------------------|-------|
| 1        | tool_runs.py       | a run of old calls and results becomes one summary          | yes   |
| 2        | protected_large.py | large old texts become previews; the newest messages do not | no    |
| 3        | large.py           | the same up to the last answer                              | no    |
| 4        | previous_rounds.py | earlier rounds become question and summary                  | yes   |
| 5        | current_large.py   | large texts of the current round become summaries in place  | yes   |
| 6        | current_round.py   | everything after the last question becomes one summary      | yes   |

The first that changes something ends the call. A change counts only if it is smaller than what it replaces. Every
replacement ends with a tag that names where its originals are kept (tags.py); nothing is lost, only put aside.
"""
