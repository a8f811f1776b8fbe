"""How every error reaches a caller: as one problem document (RFC 9457), with a remedy."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from events.job_config.strict_json import printable, shorten
from turbine.extras import lacking
from turbine.failures import Failed, ending_of
from turbine.read.filters import BadFilter
from turbine.read.plain import JsonObject
from turbine_client.errors import TurbineError

PROBLEM = "application/problem+json"
LISTED = "/docs lists all there is"


class Problem(BaseModel):
    """What went wrong, where, and what helps."""

    type: str = Field(description="Code of the problem, as a URN.")
    title: str = Field(description="The same for every problem of this type.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field(description="One sentence: what is the matter, and what helps.")
    instance: str = Field(description="The path that was asked for.")
    place: str | None = Field(
        default=None, description="The part of the request, or the path of a config, that it is in."
    )


class RequestRefused(Exception):
    """Ends a request with a problem."""

    def __init__(
        self, status: int, kind: str, sentence: str, place: str | None = None, **headers: str
    ) -> None:
        super().__init__(sentence)
        self.status, self.kind, self.place = status, kind, place
        self.headers = headers


def invalid(sentence: str, place: str) -> RequestRefused:
    """The refusal of a request of which something is not what it should be."""
    return RequestRefused(422, "invalid-request", sentence, place)


def problem_of(
    status: int, kind: str, sentence: str, instance: str, place: str | None = None
) -> JsonObject:
    """The problem document of one refusal."""
    found = Problem(
        type=f"urn:turbine:problem:{kind}",
        title=kind.replace("-", " ").capitalize(),
        status=status,
        detail=printable(sentence),
        instance=printable(instance),
        place=place,
    )
    return found.model_dump(mode="json", exclude_none=True)


def answer(request: Request, refusal: RequestRefused) -> JSONResponse:
    """A refusal as an answer."""
    told = problem_of(refusal.status, refusal.kind, str(refusal), request.url.path, refusal.place)
    return JSONResponse(told, refusal.status, refusal.headers, media_type=PROBLEM)


def install(app: FastAPI) -> None:
    """Has every error of the app be a problem, those of the framework too."""
    app.add_exception_handler(RequestRefused, _refused)
    app.add_exception_handler(HTTPException, _of_framework)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(TurbineError, _known)
    app.add_exception_handler(Exception, _known)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestRefused)
    return answer(request, error)


async def _of_framework(request: Request, error: Exception) -> JSONResponse:
    """No such path, or no such method of it."""
    assert isinstance(error, HTTPException)
    path, headers = request.url.path, dict(error.headers or {})
    match error.status_code:
        case 404:
            found = RequestRefused(
                404, "no-such-path", f"there is nothing at {shorten(path)}; {LISTED}"
            )
        case 405:
            allowed = headers.get("allow", headers.get("Allow", "another method"))
            sentence = f"{request.method} is not for {shorten(path)}; use {allowed}"
            found = RequestRefused(405, "no-such-method", sentence, **headers)
        case 400:
            found = RequestRefused(400, "unreadable-body", f"{error.detail}; send one JSON object")
        case status:
            found = RequestRefused(status, "refused", f"{error.detail}; {LISTED}", **headers)
    return answer(request, found)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Something in the request is not what it should be: the first, by its place."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = [str(one) for one in first["loc"]]
    if first["type"] == "json_invalid":
        sentence = f"the body is no JSON: {first['ctx']['error']}; send one JSON object"
        return answer(request, RequestRefused(400, "unreadable-body", sentence, "body"))
    place = ".".join(where)
    what = str(first["msg"]).removeprefix("Value error, ")
    given = first.get("input")
    shown = f", not {shorten(repr(given))}" if isinstance(given, str | int | float) else ""
    sentence = f"{place}: {what[:1].lower()}{what[1:]}{shown}; correct it"
    return answer(request, invalid(sentence, place))


async def _known(request: Request, error: Exception) -> JSONResponse:
    """What the error tree says in sentences of its own; the rest is a bug of ours, and the
    server's log has its traceback."""
    return answer(request, refusal_of(error))


def refusal_of(error: Exception) -> RequestRefused:
    """The refusal that an error stands for."""
    if isinstance(error, RequestRefused):
        return error
    if isinstance(error, BadFilter):
        return invalid(f"q: {error}", "query.q")
    told = lacking(error) or error
    # `Failed` is a command's own: an answer of the API cannot end by it.
    if not isinstance(told, TurbineError) or isinstance(told, Failed):
        sentence = "this is a bug of Turbine's; its traceback is in what the server says"
        return RequestRefused(500, "bug", sentence)
    ending = ending_of(told)
    return RequestRefused(ending.status, ending.problem, str(told))


def told(*statuses: int) -> dict[int | str, JsonObject]:
    """What the OpenAPI document says of these statuses."""
    return {
        status: {
            "model": Problem,
            "description": HTTPStatus(status).phrase,
            "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }
