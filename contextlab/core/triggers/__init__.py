"""The triggers, one file each. A module here offers a class as TRIGGER; the registry finds it.

| kind             | due when                                                        | option          |
|------------------|-----------------------------------------------------------------|-----------------|
| never            | never                                                           |                 |
| items            | memory has more entries than that (the summary not counted)     | max_items       |
| messages         | memory has at least so many entries                             | min_messages    |
| tokens           | items and summary are at least so large                         | min_tokens      |
| pending_turns    | at least so many turns stand outside the summary                | min_turns       |
| tool_result_size | all tool results together, or one of them, are at least so large | min_chars, each |
| age              | the last compaction is at least so long ago                     | min_seconds     |
| any_of           | one of several is                                               | triggers        |
"""
