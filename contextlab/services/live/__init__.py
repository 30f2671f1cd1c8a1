"""Live sessions: an agent sends what happens, asks for its memory, and that memory compacts itself.

    view, new = open_live(workspace, read_wish(values, workspace_id))     opening.py; raises BadRequest
    taken = take_events(view, body)                                       intake.py: append, read, decide
    given = next_memory(view, "openai_chat")                              answering.py: what the next step gets

| file         | what                                                                                              |
|--------------|---------------------------------------------------------------------------------------------------|
| log.py       | the log that is appended to; the ordinary ingest reads it                                          |
| memory.py    | memory in force: the latest version, and behind its cut all that came since                        |
| versions.py  | where a version stands, which one a step got, restore                                              |
| own.py       | compactions that the agent made by itself                                                          |
| auto.py      | is one due before the next step; history.py the breakers, deciding.py the decision log             |
| changing.py  | another policy from the next step on                                                               |
| replay.py    | the steps of the `live` view, each with the memory that was in force                               |
"""
