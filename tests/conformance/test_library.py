"""The hook itself: a message that RCP/1 does not allow is noticed. REQ: C2, C3, M4, M10"""
import pytest

from lib import InvalidMessage, check_bytes, schema_available

OK = '{"jsonrpc":"2.0","id":1,"result":{"hits":[{"id":"a","score":2.0},{"id":"b","score":1}]}}'

BAD = [
	"", "{", "[]", "5", '{"id":1,"result":{}}', '{"jsonrpc":"1.0","id":1,"result":{}}',
	'{"jsonrpc":"2.0","result":{}}', '{"jsonrpc":"2.0","id":null,"result":{}}',
	'{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0","id":1,"result":[]}',
	'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32600,"message":"x"}}',
	'{"jsonrpc":"2.0","id":1,"result":{},"extra":1}', '{"jsonrpc":"2.0","id":1,"id":2,"result":{}}',
	'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}',
	'{"jsonrpc":"2.0","id":1,"error":{"code":-32099,"message":"x"}}',
	'{"jsonrpc":"2.0","id":1,"error":{"code":-32600}}',
	'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"x","data":{"stack":"y"}}}',
	'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"x","data":{"retryable":1}}}',
	'{"jsonrpc":"2.0","id":1,"result":{"hits":[],"nextCursor":null}}',
	'{"jsonrpc":"2.0","id":1,"result":{"hits":[{"id":"a","score":NaN}]}}',
	'{"jsonrpc":"2.0","id":1,"result":{"hits":[{"id":"a","score":1e999}]}}',
	'{"jsonrpc":"2.0","id":1,"result":{"hits":[{"id":"a","score":null}]}}',
	'{"jsonrpc":"2.0","id":1,"result":{"hits":[{"id":"a"}]}}',
	'{"jsonrpc":"2.0","id":1,"result":{"hits":[{"id":"a","score":1},{"id":"a","score":1}]}}',
	'{"jsonrpc":"2.0","id":1,"result":{"hits":[{"id":"a","score":1},{"id":"b","score":2}]}}',
	'{"jsonrpc":"2.0","method":"retrieve","params":{}}',
	'{"jsonrpc":"2.0","id":1,"method":"notifications/progress","params":{"progressToken":1}}',
	'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.5,"stage":"recall"}}',
	'{"jsonrpc":"2.0","method":"notifications/progress","params":'
	'{"progressToken":"t","progress":1.5,"stage":"recall"}}',
	'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","stage":"x"}}',
	'{"jsonrpc":"2.0","method":"notifications/log","params":{"level":"info","message":"x"}}',
]


@pytest.mark.parametrize("text", BAD)
def test_the_hook_notices(text):
	with pytest.raises(InvalidMessage):
		check_bytes(text, "retrieve")


def test_the_hook_lets_good_messages_pass():
	check_bytes(OK, "retrieve")
	check_bytes(f"[{OK},{OK}]", "retrieve")
	with pytest.raises(InvalidMessage):
		check_bytes(OK.encode().replace(b'"a"', b'"\xff"'), "retrieve")
	check_bytes('{"jsonrpc":"2.0","method":"notifications/log","params":{"level":"info",'
		'"message":"x"}}', transport="stdio")


@pytest.mark.parametrize("method,text", [
	("retrieve", '{"jsonrpc":"2.0","id":1,"result":{"hits":[{"id":"a","score":1,"text":5}]}}'),
	("retrieve", '{"jsonrpc":"2.0","id":1,"result":{"hits":[],"indexVersion":5}}'),
	("info", '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":0}}'),
	("index/add", '{"jsonrpc":"2.0","id":1,"result":{"ids":[1]}}'),
	("index/delete", '{"jsonrpc":"2.0","id":1,"result":{"deleted":-1}}')])
def test_results_are_held_against_the_schema_where_it_is(method, text):
	if schema_available():
		with pytest.raises(InvalidMessage):
			check_bytes(text, method)
	else:
		check_bytes(text, method)
