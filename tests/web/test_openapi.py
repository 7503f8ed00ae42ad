import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from movers.measures.registry import ALIASES, JUDGES, METHODS

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::movers.runtime.notices.{name}Warning")
    for name in ("Undefined", "Unfitted", "Truncation")
]

UNCHECKED = "positive_data_acceptance"
"""Text without words is valid by the schema and refused all the same."""


@pytest.mark.parametrize(
    ("phases", "most"),
    [
        ("examples,fuzzing", 5),
        pytest.param("examples,coverage,fuzzing", 15, marks=pytest.mark.published),
    ],
)
def test_generated_requests_meet_no_server_error_and_keep_to_the_document(
    client, tmp_path, phases, most
):
    command = f"""
        run {client.base_url}/openapi.json --phases {phases} --max-examples {most}
        --seed 1 --no-shrink --checks all --exclude-checks {UNCHECKED}
        --exclude-path /v1/contrast
    """
    done = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", *command.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout
    assert "14 selected / 15 total" in done.stdout
    assert client.get("/healthz").status_code == 200


def test_every_example_is_answered_as_documented(client):
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    posts = {path: item["post"] for path, item in document["paths"].items() if "post" in item}
    names = "compare score rank search differences align explain contrast curve page"
    assert set(posts) == {f"/v1/{name}" for name in names.split()}
    for path, operation in posts.items():
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        (example,) = schemas[reference.rpartition("/")[2]]["examples"]
        answer = client.post(path, json=example)
        assert answer.status_code == 200, answer.text
        (kind, content), *_ = operation["responses"]["200"]["content"].items()
        assert answer.headers["content-type"].startswith(kind)
        if kind == "text/html":
            continue
        promised = content["schema"]
        whole = {**promised, "components": document["components"]}
        Draft202012Validator(whole).validate(answer.json())
        assert {"413", "422", "429", "504"} <= set(operation["responses"])


def test_the_document_leaves_nothing_unsaid(client):
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    unsaid = [
        f"{name}.{property}"
        for name, schema in schemas.items()
        if name not in ("HTTPValidationError", "ValidationError")
        for property, facts in schema.get("properties", {}).items()
        if not facts.get("description")
    ]
    assert unsaid == []
    method = schemas["CompareRequest"]["properties"]["method"]
    assert set(method["enum"]) == {*METHODS, *JUDGES, *ALIASES}
    assert schemas["ScoreRequest"]["properties"]["methods"]["items"]["enum"] == method["enum"]
    for path, item in document["paths"].items():
        for operation in item.values():
            answers = operation["responses"]
            busy = {"429"} if path.startswith("/v1/") and "post" in item else set()
            assert {"401", "503", *busy} <= set(answers), path
            assert all("Retry-After" in answers[status]["headers"] for status in {"503", *busy})
            assert path in ("/metrics", "/v1/page") or "$ref" in str(answers["200"]["content"])


@pytest.mark.parametrize(
    "method", ["movers", "wsmd", "wmd", "smd", "lambda-wmd", "average", "bertscore"]
)
def test_explanations_keep_to_the_document(client, method):
    document = client.get("/openapi.json").json()
    body = {"source": "the dog chased the cat", "target": "a red car", "method": method}
    answer = client.post("/v1/explain", json=body)
    assert answer.status_code == 200, answer.text
    schema = document["components"]["schemas"]["ExplainAnswer"]
    whole = {**schema, "components": document["components"]}
    Draft202012Validator(whole).validate(answer.json())
    assert set(answer.json()) == set(schema["properties"])


GENERATED = """
import sys
from movers_client import Client
from movers_client.api.default import compare_v1_compare_post as compare
from movers_client.models import CompareRequest

client = Client(base_url=sys.argv[1], timeout=60)
body = CompareRequest(source="the dog chased the cat", target="the cat chased the dog")
print(compare.sync(client=client, body=body).distance)
"""


def test_a_generator_makes_a_client_of_the_document(client, tmp_path):
    generator = shutil.which("openapi-python-client")
    if generator is None:
        pytest.skip("needs openapi-python-client on the path: pip install openapi-python-client")
    (tmp_path / "document.json").write_text(client.get("/openapi.json").text)
    command = "generate --path document.json --meta none --output-path movers_client"
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    done = run([generator, *command.split()])
    assert done.returncode == 0 and "Warning" not in done.stdout, done.stdout + done.stderr
    python = Path(generator).with_name("python")
    asked = run([python, "-c", GENERATED, str(client.base_url)])
    body = {"source": "the dog chased the cat", "target": "the cat chased the dog"}
    expected = client.post("/v1/compare", json=body).json()["distance"]
    assert asked.stdout.strip() == str(expected), asked.stderr
