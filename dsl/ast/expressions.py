"""Spark SQL expressions as written."""

from __future__ import annotations

from ...contracts.records import dataclass
from .node import Name, Node
from .types import TypeNode


@dataclass(frozen=True, slots=True)
class Expression(Node):
    """An expression."""


@dataclass(frozen=True, slots=True)
class ColumnRef(Expression):
    """``a``, ``t.a`` or ``t.a.field``; the resolver decides which part is which."""

    parts: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Star(Expression):
    """``*`` or ``t.*``, in a select list or in ``COUNT(*)``."""

    qualifier: Name | None = None


@dataclass(frozen=True, slots=True)
class NullLiteral(Expression):
    """``NULL``."""


@dataclass(frozen=True, slots=True)
class BooleanLiteral(Expression):
    """``TRUE`` or ``FALSE``."""

    value: bool


@dataclass(frozen=True, slots=True)
class NumberLiteral(Expression):
    """A number as written, with its suffix (``1``, ``1.5``, ``1e3``, ``10L``, ``2.5BD``)."""

    text: str


@dataclass(frozen=True, slots=True)
class StringLiteral(Expression):
    """A string; ``value`` has its escapes resolved as Spark does."""

    value: str


@dataclass(frozen=True, slots=True)
class TypedLiteral(Expression):
    """``DATE '…'``, ``TIMESTAMP '…'``, ``TIMESTAMP_NTZ '…'``, ``X'…'``: type in upper case."""

    type_name: str
    value: str


@dataclass(frozen=True, slots=True)
class IntervalPart(Node):
    """One amount with its unit in the singular and upper case (``30``, ``SECOND``)."""

    amount: str
    unit: str


@dataclass(frozen=True, slots=True)
class Interval(Expression):
    """``INTERVAL 1 HOUR 30 MINUTES`` or ``INTERVAL '30' SECOND``."""

    parts: tuple[IntervalPart, ...]


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """``-x``, ``+x``, ``~x`` or ``NOT x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """An arithmetic, bitwise, comparison, concatenation or logical operator, in upper case.

    ``!=`` is kept as ``<>``, ``==`` as ``=``.
    """

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class IsTest(Expression):
    """``x IS [NOT] NULL | TRUE | FALSE | UNKNOWN``."""

    operand: Expression
    test: str
    negated: bool


@dataclass(frozen=True, slots=True)
class IsDistinct(Expression):
    """``x IS [NOT] DISTINCT FROM y``."""

    left: Expression
    right: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class Between(Expression):
    """``x [NOT] BETWEEN low AND high``."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool


@dataclass(frozen=True, slots=True)
class InList(Expression):
    """``x [NOT] IN (a, b)``."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Like(Expression):
    """``x [NOT] LIKE | ILIKE | RLIKE pattern [ESCAPE 'c']``; ``REGEXP`` is kept as ``RLIKE``."""

    operand: Expression
    operator: str
    pattern: Expression
    escape: str | None
    negated: bool


@dataclass(frozen=True, slots=True)
class LikeAny(Expression):
    """``x [NOT] LIKE | ILIKE ANY | ALL (a, b)``; ``SOME`` is kept as ``ANY``."""

    operand: Expression
    operator: str
    quantifier: str
    patterns: tuple[Expression, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Row(Expression):
    """``(a, b)``: a struct of several values."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Word(Expression):
    """A word as an argument that is not a column: the unit of ``TIMESTAMPADD(HOUR, 1, ts)``."""

    text: str


@dataclass(frozen=True, slots=True)
class When(Node):
    """``WHEN condition THEN result``."""

    condition: Expression
    result: Expression


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """``CASE [operand] WHEN … THEN … [ELSE …] END``."""

    operand: Expression | None
    whens: tuple[When, ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """``CAST(x AS t)``, ``TRY_CAST(x AS t)`` or ``x::t`` (kept as CAST)."""

    operand: Expression
    type: TypeNode
    is_try: bool = False


@dataclass(frozen=True, slots=True)
class Extract(Expression):
    """``EXTRACT(field FROM source)``; the field in upper case."""

    field: str
    source: Expression


@dataclass(frozen=True, slots=True)
class Lambda(Expression):
    """``x -> body`` or ``(x, y) -> body``; only as an argument of a call."""

    parameters: tuple[Name, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class NamedArgument(Expression):
    """``name => value`` in a call."""

    name: Name
    value: Expression


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """``x[i]``."""

    operand: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class FieldAccess(Expression):
    """``expression.field`` where the expression is not a plain name."""

    operand: Expression
    field: Name


@dataclass(frozen=True, slots=True)
class VariantPath(Expression):
    """``v:a.b[0]``; ``path`` is the text after the colon."""

    operand: Expression
    path: str


@dataclass(frozen=True, slots=True)
class SortItem(Node):
    """``expression [ASC | DESC] [NULLS FIRST | LAST]``.

    ``nulls`` is ``FIRST``, ``LAST`` or None.
    """

    expression: Expression
    descending: bool
    nulls: str | None


@dataclass(frozen=True, slots=True)
class FrameBound(Node):
    """``UNBOUNDED PRECEDING`` (offset None), ``e PRECEDING``, ``CURRENT ROW``, ``e FOLLOWING``.

    ``kind`` is one of ``UNBOUNDED PRECEDING``, ``PRECEDING``, ``CURRENT ROW``, ``FOLLOWING``,
    ``UNBOUNDED FOLLOWING``.
    """

    kind: str
    offset: Expression | None


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """``RANGE`` or ``ROWS`` ``BETWEEN start AND end``; a frame of one bound ends at CURRENT ROW."""

    unit: str
    start: FrameBound
    end: FrameBound


@dataclass(frozen=True, slots=True)
class WindowSpec(Node):
    """What follows OVER: a name, or ``( [name] [PARTITION BY …] [ORDER BY …] [frame] )``."""

    name: Name | None
    partition_by: tuple[Expression, ...]
    order_by: tuple[SortItem, ...]
    frame: Frame | None


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """``name([DISTINCT] arguments [ORDER BY …]) [FILTER (WHERE …)] [OVER …]``.

    ``nulls`` is ``IGNORE``, ``RESPECT`` or None.
    """

    name: Name
    arguments: tuple[Expression, ...]
    distinct: bool = False
    order_by: tuple[SortItem, ...] = ()
    nulls: str | None = None
    filter: Expression | None = None
    over: WindowSpec | None = None
