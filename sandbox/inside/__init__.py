"""Code that runs in the jail, next to submitted code.

Nothing here is trusted once a child has taken a run: the answer shares its process and may overwrite all of it. The
zygote and a parked child are trusted to confine themselves, because they have not seen any submitted code yet. No
secret, expected result or verdict is ever in these processes. Imports nothing from `sandbox.host`.
"""
