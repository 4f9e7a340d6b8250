"""Small faults for a module: one expression or statement replaced at a time."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
NAMES = {"min": "max", "any": "all", "argmin": "argmax", "minimum": "maximum", "setdefault": "get"}
NAMES |= {new: old for old, new in NAMES.items() if new != "get"}
CLAIMS = ("dtype", "strict")  # arguments that say what holds anyway, as an assert does

Slot = tuple[str, int | None]  # field of a node, and the position where the field is a list


@dataclass(frozen=True)
class Edit:
    """One fault: in `parent` the node in `slot` is replaced."""

    scope: str  # qualified name of the outermost function; empty: a constant of the module
    line: int
    last_line: int
    text: str  # of the first line
    change: str
    in_default: bool
    parent: ast.AST
    slot: Slot
    new: ast.AST

    @property
    def key(self) -> tuple[str, str, str]:
        """What names the fault, whatever moves around it."""
        return self.scope, self.text, self.change

    def put(self, node: ast.AST | None = None) -> ast.AST:
        """Put `node` (the fault, when it is left out) in the slot; returns what was there."""
        field, at = self.slot
        holder = getattr(self.parent, field)
        if at is None:
            setattr(self.parent, field, node or self.new)
            return holder
        before, holder[at] = holder[at], node or self.new
        return before


def edits_of(source: str, tree: ast.Module) -> Iterator[Edit]:
    """All faults of the functions and of the numbers that are constants of a module."""
    lines = source.splitlines()
    seen: Counter[tuple[str, str, str]] = Counter()
    for scope, parent, slot, node, statement, in_default in _slots(tree):
        for new in _replacements(node):
            ast.copy_location(new, node)
            ast.fix_missing_locations(new)
            line = node.lineno if isinstance(node, ast.expr | ast.stmt) else statement.lineno
            text = lines[line - 1].strip()
            change = f"{_words(node)} -> {_words(new)}"
            seen[scope, text, change] += 1
            if (count := seen[scope, text, change]) > 1:
                change += f" #{count}"
            first, last = _header(statement)
            yield Edit(scope, first, last, text, change, in_default, parent, slot, new)


def _slots(tree: ast.Module) -> Iterator[tuple[str, ast.AST, Slot, ast.AST, ast.stmt, bool]]:
    """Each place of each node that may be replaced, with the statement that it is in."""
    for name, function in functions_of(tree):
        for field in ("defaults", "kw_defaults"):
            for at, value in enumerate(getattr(function.args, field)):
                if value is not None:
                    yield name, function.args, (field, at), value, function, True
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        start = len(function.body) - len(body)
        for at, statement in enumerate(body, start):
            yield from _inside(name, function, ("body", at), statement, statement)
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            yield "", statement, ("value", None), statement.value, statement, False


def functions_of(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Outermost functions and methods with their qualified names."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            for member in statement.body:
                if isinstance(member, ast.FunctionDef):
                    yield f"{statement.name}.{member.name}", member


def _inside(scope, parent, slot, node, statement):
    yield scope, parent, slot, node, statement, False
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "ctx", "type_comment"):
            continue
        for at, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Assert):
                continue
            if isinstance(child, ast.keyword) and child.arg in CLAIMS:
                continue
            if isinstance(node, ast.Expr | ast.Raise | ast.arg) and isinstance(child, ast.Constant):
                continue
            if isinstance(node, ast.Call) and isinstance(statement, ast.Raise) and _is_text(child):
                continue
            around = child if isinstance(child, ast.stmt) else statement
            yield from _inside(scope, node, (field, at), child, around)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for new in OPERATORS.get(type(op), ()):
                    yield _with(node, ops=[*ops[:at], new(), *ops[at + 1 :]])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
            for new in OPERATORS.get(type(op), ()):
                yield _with(node, op=new())
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub(), operand=operand):
            yield copy.deepcopy(operand)
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
            if value >= 1:
                yield ast.Constant(value - 1)
        case ast.Constant(value=str(value)):
            yield ast.Constant(f"?{value}?")
        case ast.Call(func=function, keywords=keywords):
            for at in (at for at, keyword in enumerate(keywords) if keyword.arg not in CLAIMS):
                yield _with(node, keywords=[*keywords[:at], *keywords[at + 1 :]])
            if isinstance(function, ast.Name) and function.id in NAMES:
                yield _with(node, func=ast.Name(NAMES[function.id], ast.Load()))
            if isinstance(function, ast.Attribute) and function.attr in NAMES:
                yield _with(node, func=_with(function, attr=NAMES[function.attr]))
        case ast.comprehension(ifs=[_, *_] as ifs):
            for at in range(len(ifs)):
                yield _with(node, ifs=[*ifs[:at], *ifs[at + 1 :]])
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield ast.Pass()
        case ast.Continue():
            yield ast.Pass()
            yield ast.Break()
        case ast.Break():
            yield ast.Pass()
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Compare | ast.UnaryOp):
                yield _with(node, test=ast.UnaryOp(ast.Not(), test))


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _words(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While):
        return f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    if isinstance(node, ast.comprehension):
        return ast.unparse(node).strip()
    return " ".join(ast.unparse(node).split())


def _header(statement: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement, without the statements that it holds."""
    inner = [child.lineno for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
    last = min(inner) - 1 if inner else statement.end_lineno
    return statement.lineno, max(last or 0, statement.lineno)
