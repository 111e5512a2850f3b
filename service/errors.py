"""The exception with which a use case refuses a call. Its facts are in `service.wire`; `api.http` sets the status."""

from __future__ import annotations

from service.wire import BusyCause, CallRejected, Refusal, SandboxBusy, describe


class Refused(Exception):
    """The call was refused. Nothing was changed."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(describe(refusal))
        self.refusal = refusal


class Busy(Refused):
    """The sandbox cannot take the run now; it can be sent again later."""

    def __init__(self, why: BusyCause) -> None:
        super().__init__(SandboxBusy(why=why))


class Misconfigured(Refused):
    """An operator has to change something before the call can succeed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(CallRejected(code=code, message=message))
