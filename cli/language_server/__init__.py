"""``streamc lsp``: a language server, which shows editors what the compiler knows of a spec.

- ``server``: requests to the modules below; ``positions``: places as the protocol counts them.
- ``documents``: open files, each compiled once per version; ``debounce``: checks while typing.
- ``diagnostics``: mistakes in specs and tests; ``actions``: fixes for some of them.
- ``relations``: the columns of a relation, and where each is declared.
- ``names``: what each name of a spec stands for (``occurrences``); ``expression_names`` and
  ``program_names``: those in queries and in CREATE OPERATOR.
- ``definition``, ``rename``, ``hover``, ``symbols``, ``formatting``: what is there.
- ``completion``: what can come at the cursor.
"""
