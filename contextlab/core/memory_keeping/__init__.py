"""Memories that outlive a session: observations, session summaries, what they cost and save, and user memories.

| file             | theory                                                                                       |
|------------------|----------------------------------------------------------------------------------------------|
| observations     | what an observation and a session summary are; the hash by which two are one                 |
| replies          | a model's XML, read forgivingly; the classes of what is none                                  |
| batches          | what becomes of a reply: stored, skipped, discarded, or put back                             |
| by_rules         | observations and a summary from tool events alone; no model                                  |
| prompts          | what a model is asked; editable texts with named places                                      |
| by_model         | one turn, or one session, asked of a model                                                   |
| economics        | what was paid, what reading costs, what is saved                                              |
| injection        | the observations that fit a new session's budget, best first                                 |
| user_memories    | what is known of a user; the store's contract; tools that a model calls                      |
| manager          | a model of its own that keeps user memories, and makes many into one                         |
| background       | memory work beside an answer: awaited at the end, its failure logged, never fatal            |
"""
