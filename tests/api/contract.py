"""Checks responses against api/openapi.yaml: the status and the type are declared, the body has the schema, required headers are there.

Nothing is taken for granted: what the contract does not name, a response may not be.
"""
import json
import re
from pathlib import Path

import jsonschema
import yaml

FILE = Path(__file__).resolve().parents[2] / "api" / "openapi.yaml"
PARAMETER = re.compile(r"\{([^}]+)\}")


class Contract:
    def __init__(self, path=FILE):
        self.document = yaml.safe_load(path.read_text())
        self.resolver = jsonschema.RefResolver("", self.document)
        self.used = set()  # (method, template, status) that some response was checked against
        self.paths = sorted(
            ((self._pattern(template), template, operations)
             for template, operations in self.document.get("paths", {}).items()),
            key=lambda row: (row[1].count("{"), -len(row[1])))

    @staticmethod
    def _pattern(template):
        """{path} at the end takes slashes too: the rest of the address is a file's path."""
        text = re.escape(template).replace(r"\{", "{").replace(r"\}", "}")
        text = re.sub(r"\{path[^}]*\}$", ".+", text)
        return re.compile(PARAMETER.sub("[^/]+", text) + r"\Z")

    def _follow(self, node):
        while isinstance(node, dict) and "$ref" in node:
            node = self.resolver.resolve(node["$ref"])[1]
        return node

    def operation(self, method, target):
        """(template, operation) of a request; operation None for a method that the path has not, both None without a path."""
        address = target.partition("?")[0]
        for pattern, template, operations in self.paths:
            if pattern.match(address):
                operation = operations.get(method.lower())
                if operation is None and method == "HEAD":
                    operation = operations.get("get")
                return template, operation
        return None, None

    def unseen(self):
        """What is declared and no response has shown, as lines."""
        declared = {(method.upper(), template, int(status))
                    for _, template, operations in self.paths for method, operation in operations.items()
                    if method in ("get", "head", "put", "post", "delete") for status in operation["responses"]
                    if str(status).isdigit()}
        return [f"{method} {template} {status}" for method, template, status in sorted(declared - self.used)]

    def problems(self, method, target, response):
        """What is wrong with a response, as a list of sentences."""
        template, operation = self.operation(method, target)
        where = f"{method} {target.partition('?')[0][:100]} -> {response.status}"
        if operation is None:  # no such route: always the same three
            allowed = {404, 405, 400, 401, 414, 431, 408, 503, 505, 501}
            return ([] if response.status in allowed else [f"{where}: not in the contract"]) + self._problem(where, response)
        declared = {str(status): self._follow(row) for status, row in operation["responses"].items()}
        row = declared.get(str(response.status)) or declared.get(f"{response.status // 100}XX") or declared.get("default")
        if row is None:
            return [f"{where}: the status is not declared"]
        self.used.add((method, template, response.status))
        found = [f"{where}: no header {name}" for name, header in row.get("headers", {}).items()
                 if self._follow(header).get("required") and response.header(name) is None]
        return found + self._body(where, method, row, response)

    def _problem(self, where, response):
        if response.status < 400:
            return []
        if response.type != "application/problem+json":
            return [f"{where}: a refusal of type {response.type!r}"]
        return []

    def _body(self, where, method, row, response):
        content = row.get("content")
        if not content:
            return [f"{where}: a body where none is declared"] if response.body else []
        media = content.get(response.type) or content.get("*/*") or next(
            (value for name, value in content.items() if name.endswith("/*")), None)
        if media is None:
            return [f"{where}: type {response.type!r} is not declared"]
        if method == "HEAD" or not response.type.endswith("json") or "schema" not in media:
            return []
        return self.schema_problems(where, media["schema"], json.loads(response.body))

    def schema_problems(self, where, schema, value):
        validator = jsonschema.Draft202012Validator(schema, resolver=self.resolver)
        return [f"{where}: {'/'.join(map(str, error.absolute_path)) or 'the body'}: {error.message[:300]}"
                for error in validator.iter_errors(value)]

    def component_problems(self, name, value):
        """Against a schema of components: for the data of events."""
        return self.schema_problems(name, {"$ref": f"#/components/schemas/{name}"}, value)
