"""What a log says by itself, without a model: one small file for each kind of evidence.

Each takes a Record (the items of memory, calls with their results) and answers with lines that name the items that
they come from. They look at all of memory, so that what was settled later is known; whoever puts a summary together
chooses the lines of what goes. Nothing here raises, whatever the items hold.

| file          | says                                  | from                                                         |
|---------------|---------------------------------------|--------------------------------------------------------------|
| goals         | the goal                              | the first real prompt, and the latest one that is a task     |
| todos         | completed, pending                    | to-do and plan tools, ticked lists, commits, "next steps"    |
| commands      | commands that failed                  | exit codes, results that are marked as errors                |
| test_results  | how tests went                        | the closing lines of test runners                            |
| edits         | changed files, with counts            | editing tools, patches                                       |
| approvals     | what a person agreed to               | short approving replies, and what stands before them         |
| rules         | rules of the person, decisions        | sentences that say must, never, only; "decided", "let's use" |
| questions     | questions that nobody answered        | the last words of a turn, prompts without an answer          |
| sandbox       | where work was done                   | directories, branches, environments, services                |
"""
