"""What the black-box tests share.

    from lib import Rcpd, RcpdStdio, MARKER

    with Rcpd("--sessions", "strict") as server:
        answer = server.rpc("ping", {"nonce": 1})
        assert answer.result == {"nonce": 1}

server.py   Rcpd: the daemon over HTTP (and what both transports share)
stdio.py    RcpdStdio: the daemon over its pipes
peer.py     one interface over both, for tests that hold for every transport
wire.py     reading HTTP answers and SSE frames from plain sockets
messages.py the hook that every message from the server goes through
corpus.py   documents for retrieve tests
"""
from .messages import (CODES, Answer, InvalidMessage, check_bytes, check_message, parse_strict,
                       schema_available)
from .peer import HttpPeer, StdioPeer
from .process import MARKER, SCALE, rcpd_path, wait_until
from .server import Rcpd, SseStream
from .stdio import RcpdStdio
from .wire import RawSocket, read_http_response

__all__ = [
    "CODES", "MARKER", "SCALE", "Answer", "HttpPeer", "InvalidMessage", "RawSocket", "Rcpd",
    "RcpdStdio", "SseStream", "StdioPeer", "check_bytes", "check_message", "parse_strict",
    "rcpd_path", "read_http_response", "schema_available", "wait_until",
]
