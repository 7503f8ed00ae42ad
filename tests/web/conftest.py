import pytest
from servers import Program, serving

from movers.web.models import Models


@pytest.fixture(scope="session")
def models(bert):
    models = Models({"tiny": bert})
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
