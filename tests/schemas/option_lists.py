"""Writes the parts of recipe.schema.json and sweep.schema.json that list options.

Where a policy, a learner, an evaluator or a strategy got another option,

    python3 tests/schemas/option_lists.py

writes these parts anew. The bounds that stand there are kept: those of new options are to be added by hand.
"""

import copy
import json

from support import SCHEMAS, printed, schema

JSON_TYPES = {
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "number": {"type": "number"},
    "text": {"type": "string"},
    "list of texts": {"type": "array", "items": {"type": "string"}},
}
BOUNDS = ("minimum", "maximum", "exclusiveMinimum")
# Keys that may not vary in a sweep: they change what is measured, or every trial has its own.
FIXED_IN_SWEEPS = {"seed", "run", "problem", "graph", "machine", "problems", "shape", "batch", "pin",
                   "forbid", "together", "max_cuts", "schedule", "objective", "held_out", "workers", "evaluator"}


def entries(kind):
    return {entry["name"]: entry["options"] for entry in printed("list", kind, "--json")}


def option_schema(option, before):
    """Of what `emplace list` says of an option; bounds, and the unit behind the sentence, are as they were."""
    found = copy.deepcopy(JSON_TYPES[option["type"]])
    if "choices" in option:
        inner = found["items"] if found["type"] == "array" else found
        inner.pop("type")
        inner["enum"] = option["choices"]
    found.update({key: before[key] for key in BOUNDS if key in before})
    default = option["default"]
    if found.get("type") in ("boolean", "integer", "number") and default != "":
        found["default"] = json.loads(default)
    elif option["type"] == "text" and default != "":
        found["default"] = default
    said = before.get("description", "")
    found["description"] = said if said.startswith(option["help"]) else option["help"]
    return found


def options_schema(options, before):
    old = before.get("properties", {})
    return {
        "type": "object",
        "properties": {each["name"]: option_schema(each, old.get(each["name"], {})) for each in options},
        "additionalProperties": False,
    }


def named(key, name, default):
    """A recipe whose `key` is `name`, by its default or said."""
    condition = {"properties": {key: {"const": name}}}
    return condition if name == default else dict(condition, required=[key])


def not_named(key, name, default):
    unlike = {"properties": {key: {"not": {"const": name}}}}
    return dict(unlike, required=[key]) if name == default else unlike


def with_options(recipe, sweep):
    """Both schemas with the options that the program has now."""
    roles = {"policy": entries("policies"), "learner": entries("learners"), "evaluator": entries("evaluators")}
    defaults = {role: recipe["properties"][role]["default"] for role in roles}
    methods = recipe["$defs"].get("methods", {})
    tables, conditions = {}, []
    for role, of_role in roles.items():
        recipe["properties"][role]["enum"] = list(of_role)
        for name in of_role:
            tables.setdefault(name, [])
    for name in tables:
        mine = {role: of_role[name] for role, of_role in roles.items() if name in of_role}
        # A policy and a learner of one name share a table.
        options = {each["name"]: each for of_role in mine.values() for each in of_role}
        tables[name] = options_schema(list(options.values()), methods.get(name, {}))
        wanted = [named(role, name, defaults[role]) for role in mine]
        conditions.append({"if": {"required": [name]}, "then": wanted[0] if len(wanted) == 1 else {"anyOf": wanted}})
        for role in mine if len(mine) > 1 else []:
            others = {each["name"] for other in mine if other != role for each in mine[other]}
            conditions.append({
                "if": not_named(role, name, defaults[role]),
                "then": {"properties": {name: {"propertyNames": {"enum": sorted(others)}}}},
            })
    recipe["$defs"]["methods"] = tables
    for name in [key for key, value in recipe["properties"].items() if "/methods/" in value.get("$ref", "")]:
        del recipe["properties"][name]
    recipe["properties"].update({name: {"$ref": f"#/$defs/methods/{name}"} for name in tables})
    recipe["allOf"] = conditions

    strategies = entries("strategies")
    old = sweep["$defs"].get("strategies", {})
    sweep["$defs"]["strategies"] = {
        name: options_schema(options, old.get(name, {})) for name, options in strategies.items()
    }
    sweep["properties"]["strategy"]["enum"] = list(strategies)
    own = {key: value for key, value in sweep["properties"].items()
           if "recipe.schema.json" not in value.get("$ref", "") and "/strategies/" not in value.get("$ref", "")}
    of_recipe = [key for key in recipe["properties"] if key not in own]
    own.update({key: {"$ref": f"recipe.schema.json#/properties/{key}"} for key in of_recipe})
    own.update({name: {"$ref": f"#/$defs/strategies/{name}"} for name in strategies})
    sweep["properties"] = own
    default = sweep["properties"]["strategy"]["default"]
    sweep["allOf"] = [{"if": {"required": [name]}, "then": named("strategy", name, default)} for name in strategies]

    varies, space = {"$ref": "#/$defs/varies"}, {}
    option_tables = {"polish": recipe["$defs"]["polish"], **tables}
    for key in recipe["properties"]:
        if key not in option_tables and key not in FIXED_IN_SWEEPS and key != "roofline":
            space[key] = varies
    for name, table in option_tables.items():
        keys = list(table["properties"])
        if keys:
            space[name] = {"type": "object", "properties": {key: varies for key in keys}, "additionalProperties": False}
            space.update({f"{name}.{key}": varies for key in keys})
    sweep["$defs"]["space"] = {"type": "object", "minProperties": 1, "properties": space, "additionalProperties": False}
    return recipe, sweep


def laid_out(value, indent=0, before=0, width=118):
    """JSON with what fits one line on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or indent + before + len(flat) <= width:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        rows = []
        for key, each in value.items():
            name = json.dumps(key, ensure_ascii=False) + ": "
            rows.append(inner + name + laid_out(each, indent + 2, len(name) + 1, width))
        return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"
    rows = [inner + laid_out(each, indent + 2, 1, width) for each in value]
    return "[\n" + ",\n".join(rows) + "\n" + " " * indent + "]"


def update():
    for name, content in zip(("recipe", "sweep"), with_options(schema("recipe"), schema("sweep"))):
        (SCHEMAS / f"{name}.schema.json").write_text(laid_out(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    update()
