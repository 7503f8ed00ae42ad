import pytest
from servers import Program, serving

from movers.search.index import Index
from movers.web.models import Models

NOUNS = ["president", "press", "dog", "fox", "house", "brother", "tourists", "soup"]
TEXTS = [f"the {a} greets the {b}" for a in NOUNS for b in NOUNS if a != b]


@pytest.fixture(scope="session")
def indexed(bert, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "index"
    Index.build(bert.using("movers"), TEXTS, folder)
    return folder


@pytest.fixture(scope="session")
def models(bert, indexed):
    models = Models({"tiny": bert}, {"greetings": indexed})
    models.warm_up()  # kernels take longer to compile than a request may
    return models


@pytest.fixture(scope="session")
def client(models):
    with serving(models) as client:
        yield client


@pytest.fixture(scope="session")
def program():
    program = Program()
    yield program
    assert program.stop()[0] == 0
    assert not [line for line in program.log if "Traceback" in line], "".join(program.log)
