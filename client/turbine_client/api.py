"""What stands, as Turbine's HTTP API answers it: jobs, one job, a decision, lag, the platform."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

from turbine_client.errors import BadRequest, TurbineError, Unavailable
from turbine_client.settings import BadSettings, Settings, load_settings

PREFIX = "/api/v1"
WAIT_S = 30.0
ANSWER_BYTES_MAX = 64 * 1024 * 1024


class ApiProblem(TurbineError, RuntimeError):
    """An answer that is none: the API's own sentence, its status and the problem's code.

    The status is 0 where nothing answered, or nothing that is an API of Turbine.
    """

    def __init__(self, sentence: str, status: int = 0, code: str = "") -> None:
        super().__init__(sentence)
        self.status, self.code = status, code


class ApiRefused(ApiProblem, BadRequest):
    """A question that the API does not answer as it is put: its status is from 400 to 499."""


class ApiUnavailable(ApiProblem, Unavailable):
    """No answer now: no API is there, or it cannot read its log; any other status."""


class Api:
    """Asks one API. Each answer is the JSON that docs/api.md describes; from any thread.

    The address is the one given, or the setting `api` (TURBINE_API); the token is the setting
    `api_token` (TURBINE_API_TOKEN), where what stands before the API asks for one.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        settings: Settings | None = None,
        timeout_s: float = WAIT_S,
    ) -> None:
        given = load_settings({"api": address}) if settings is None else settings
        self.address, self._token = (address or given.api).rstrip("/"), given.api_token
        self._timeout_s = timeout_s
        if not self.address:
            raise BadSettings("no API is named; give its address, or set TURBINE_API to it")

    def jobs(self, **query: str | int) -> Mapping[str, Any]:
        """A page of the jobs, searched and sorted by the words of GET /jobs."""
        return self._get("/jobs", query)

    def job(self, name: str) -> Mapping[str, Any]:
        """The answer about one job: all that GET /jobs/NAME tells."""
        return self._get(f"/jobs/{quote(name, safe='')}")

    def decision(self, name: str) -> Mapping[str, Any]:
        """What stands behind a decision, or behind the change that was asked under this id."""
        return self._get(f"/decisions/{quote(name, safe='')}")

    def lag(self, job: str) -> Mapping[str, Any]:
        """The tasks of a job, each with how far it is behind."""
        return self._get(f"/jobs/{quote(job, safe='')}/tasks")

    def platform(self) -> Mapping[str, Any]:
        """How the control plane itself does."""
        return self._get("/platform")

    def _get(self, path: str, query: Mapping[str, str | int] | None = None) -> Mapping[str, Any]:
        asked = f"?{urlencode(query)}" if query else ""
        headers = {"Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = Request(f"{self.address}{PREFIX}{path}{asked}", headers=headers)  # noqa: S310 - the settings take http and https alone
        try:
            with urlopen(request, timeout=self._timeout_s) as answer:  # noqa: S310 - as above
                return self._read(answer.read(ANSWER_BYTES_MAX))
        except HTTPError as refused:
            with refused:
                raise self._problem(refused) from None
        except (OSError, HTTPException) as error:
            why = error.reason if isinstance(error, URLError) else error
            raise ApiUnavailable(
                f"no API answers at {self.address} ({why}); set TURBINE_API"
            ) from None

    def _read(self, body: bytes) -> Mapping[str, Any]:
        try:
            found = json.loads(body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ApiUnavailable(f"what answers at {self.address} is no API of Turbine")
        return cast("Mapping[str, Any]", found)

    def _problem(self, refused: HTTPError) -> ApiProblem:
        told = self._read(refused.read(ANSWER_BYTES_MAX))
        code = str(told.get("type", "")).rpartition(":")[2]
        sentence = f"the API at {self.address}: {told.get('detail', refused.reason)}"
        kind = ApiRefused if 400 <= refused.code < 500 else ApiUnavailable
        return kind(sentence, refused.code, code)
