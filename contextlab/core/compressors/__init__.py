"""The compressors, one file each. A module here offers a class as COMPRESSOR; the registry finds it.

| kind            | what is left                                               | model | options                      |
|-----------------|------------------------------------------------------------|-------|------------------------------|
| identity        | everything                                                 | no    |                              |
| completed_turns | question and answer of each completed turn                 | no    |                              |
| text_excerpt    | the first characters of what was said, as one user message | no    | max_characters               |
| model_summary   | a model's summary, as a user and an assistant message      | yes   | instruction, timeout_seconds |
| per_message     | the same messages with shorter texts, by one model call    | yes   | instruction, timeout_seconds |
| incremental     | the summary so far and what is new, by another compressor  | its   | compressor                   |
| chain           | what several leave, one after the other                    | its   | members                      |

`compress(items, deps)` never changes its input. What a model does wrong is raised (ModelError), never papered over.
A class says in `needs_model` whether it asks one; without it, it is taken not to.
"""
