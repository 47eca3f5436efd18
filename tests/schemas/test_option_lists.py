"""The schemas of recipes and sweeps list the options that the program has."""

import copy
import re

from option_lists import with_options
from support import emplace, schema


def test_the_schemas_of_recipes_and_sweeps_list_the_options_that_the_program_has():
    recipe, sweep = schema("recipe"), schema("sweep")
    now = with_options(copy.deepcopy(recipe), copy.deepcopy(sweep))
    assert (recipe, sweep) == now, "write them anew: python3 tests/schemas/option_lists.py"


def test_the_schema_of_recipes_has_every_key_that_the_manual_has():
    manual = emplace("manual").stdout
    recipes = manual[manual.index("\n.SH RECIPES") : manual.index("\n.SH PLACERS")]
    keys = re.findall(r"^\\fB([\w\\.-]+)\\fR=", recipes, re.MULTILINE)
    flat = {key.replace("\\", "") for key in keys}
    recipe = schema("recipe")
    of_tables = {f"roofline.{key}" for key in recipe["$defs"]["roofline"]["properties"]}
    for name, table in recipe["$defs"]["methods"].items():
        of_tables.update(f"{name}.{key}" for key in table["properties"])
    own = {key for key, value in recipe["properties"].items() if "$ref" not in value}
    assert own | of_tables == flat
