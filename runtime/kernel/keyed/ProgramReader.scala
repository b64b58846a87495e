package org.apache.spark.sql.streamc

import scala.collection.mutable

import org.json4s.JsonAST._

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedExtractValue, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate, Sum}
import org.apache.spark.sql.catalyst.optimizer.{NormalizeNaNAndZero, ReplaceExpressions}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LocalRelation, Project}
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.types._

/**
 * Translates the text of a program to the program: names become indices, expressions are Spark's,
 * analysed in this session and bound.
 *
 * `columns` are the columns that each input has in the common row, whose attributes are `row`.
 * Those in `behind` follow in each row and are not used.
 */
private[streamc] class ProgramReader(
    session: SparkSession,
    text: ProgramText,
    place: Place,
    row: Seq[Attribute],
    behind: Seq[Attribute],
    inputs: Seq[InputPlan],
    columns: Seq[Map[String, Attribute]]) {

  private val own = session.cloneSession()
  // Otherwise an expression used twice would need a plan of its own below the one that uses it.
  own.conf.set("spark.sql.alwaysInlineCommonExpr", "true")

  private val (values, entries) = text.cells.partition(c => c.kind == "value" || c.kind == "frame")
  private val named = text.keys.map { case (name, kind) => attribute(name, kind) }
  private val keys = if (named.isEmpty) Seq(attribute("all", BooleanType)) else named
  private val cells = values.map(cell => attribute(cell.name, cell.value))
  private val (framed, plain) =
    values.zip(cells).partition { case (cell, _) => cell.kind == "frame" }
  private val frames = framed.map { case (cell, _) => new RolledFrame(cell.name, cell.value) }
  private val instant = attribute("instant", TimestampType)
  private val locals = mutable.ArrayBuffer.empty[Attribute]

  private def attribute(name: String, kind: DataType): Attribute =
    AttributeReference(name, kind, nullable = true)()

  def read(): Program = {
    val handlers = text.handlers
    val events = inputs.zip(columns).map { case (input, held) =>
      handler(handlers, "event", input.alias, new Scope(Some(input.alias), held, Map.empty))
    }
    val expiries = text.timers.map { timer =>
      val known = Map(lower(timer.name) -> instant)
      handler(handlers, "timer", timer.name, new Scope(None, Map.empty, known))
    }
    Program(
      text.id,
      named.nonEmpty,
      StructType(keys.map(key => StructField(key.name, key.dataType))),
      StructType(row.map(a => StructField(a.name, StateName.within(a.dataType)))),
      behind.length,
      inputs,
      text.ordered,
      values.map(plan),
      entries.map(plan),
      frames.map(f => FramePlan(f.name, index(f.name), f.columns, f.functions.toSeq)),
      text.timers,
      locals.map(_.dataType).toSeq,
      events,
      expiries,
      StructType(text.returns.map { case (name, kind) => StructField(name, kind) }),
      readsClock,
      readsBefore,
      byChance,
      text.wakes)
  }

  private var readsClock = false
  private var readsBefore = false
  private var byChance = false

  private def plan(cell: CellText): CellPlan = {
    val default = cell.default.map(value(_, new Scope(None, Map.empty, Map.empty), cell.value))
    CellPlan(cell.name, cell.kind, cell.key, cell.value,
      default.getOrElse(Literal(null, Option(cell.value).getOrElse(NullType))), cell.ttl)
  }

  private def handler(
      all: Seq[HandlerText], on: String, name: String, scope: Scope): Handler = {
    val own = all.find(h => h.on == on && lower(h.name) == lower(name))
    Handler(s"ON ${on.toUpperCase} $name", own.map(h => steps(h.steps, scope)).getOrElse(Nil))
  }

  /** What names refer to: columns of the row, keys, values, locals, the instant of the timer. */
  private class Scope(
      alias: Option[String], held: Map[String, Attribute], known: Map[String, Attribute]) {
    private val names: Map[String, Attribute] =
      held ++ byName(named) ++ byName(plain.map(_._2)) ++ known

    def attributes: Seq[Attribute] = row ++ behind ++ keys ++ cells ++ Seq(instant) ++ locals

    def and(local: Attribute): Scope =
      new Scope(alias, held, known + (lower(local.name) -> local))

    def find(parts: Seq[String]): Option[Expression] = {
      val qualified = alias.exists(a => lower(a) == lower(parts.head)) && parts.length > 1
      val column = if (qualified) held.get(lower(parts(1))).map(_ -> parts.drop(2)) else None
      column.orElse(names.get(lower(parts.head)).map(_ -> parts.tail))
        .map { case (found, fields) => below(found, fields) }
    }

    def local(name: String): Option[Attribute] = known.get(lower(name))

    private def byName(all: Seq[Attribute]) = all.map(a => lower(a.name) -> a).toMap
  }

  private def below(found: Expression, fields: Seq[String]): Expression =
    fields.foldLeft(found)((e, field) => UnresolvedExtractValue(e, Literal(field)))

  private def lower(name: String): String = name.toLowerCase(java.util.Locale.ROOT)

  // Statements.

  private def steps(all: Seq[JValue], scope: Scope): Seq[Step] = {
    var known = scope
    all.map { step =>
      val (found, after) = this.step(step, known)
      known = after
      found
    }
  }

  /** A statement, and the scope after it. */
  private def step(found: JValue, scope: Scope): (Step, Scope) = {
    def text(name: String): String = found \ name match {
      case JString(held) => held
      case other => throw new IllegalArgumentException(s"a step has $other as its $name")
    }
    def of(name: String, kind: DataType = null) = value(text(name), scope, kind)
    def inner(body: JValue, known: Scope = scope) = body match {
      case JArray(all) => steps(all, known)
      case _ => Nil
    }
    text("step") match {
      case "declare" =>
        val local = attribute(text("name"), DataType.fromDDL(text("type")))
        val initial = of("value", local.dataType)
        locals += local
        (Assign(slot(local), initial), scope.and(local))
      case "each" =>
        val values = of("values")
        val local = attribute(text("name"), DataType.fromDDL(text("type")))
        locals += local
        (Each(slot(local), values, inner(found \ "steps", scope.and(local))), scope)
      case "assign" => (assign(text("name"), text("value"), scope), scope)
      case "when" =>
        val JArray(branches) = found \ "branches": @unchecked
        val chosen = branches.map { branch =>
          val JString(condition) = branch \ "if": @unchecked
          (value(condition, scope), inner(branch \ "steps"))
        }
        (When(chosen, inner(found \ "otherwise")), scope)
      case "loop" => (Loop(of("if"), inner(found \ "steps")), scope)
      case "put" =>
        val cell = entry(text("cell")).get
        (Put(cell, key(cell, text("key"), scope), of("value", entries(cell).value)), scope)
      case "remove" =>
        val cell = entry(text("cell")).get
        (Remove(cell, key(cell, text("key"), scope)), scope)
      case "add" =>
        val cell = entry(text("cell")).get
        (Put(cell, key(cell, text("value"), scope), Literal(true)), scope)
      case "append" =>
        val cell = entry(text("cell")).get
        (Append(cell, of("value", entries(cell).key)), scope)
      case "keep" =>
        val i = frame(text("cell")).get
        val rows = of("rows", values(index(text("cell"))).value)
        val since = found \ "since" match {
          case JString(_) => Ends.instant(of("since", TimestampType))
          case _ => null
        }
        (Keep(i, rows, since, if (since == null) text("last").toLong else 0), scope)
      case "clear" =>
        val name = text("cell")
        (entry(name).map(ClearEntries(_)).getOrElse(ClearValue(index(name))), scope)
      case "clear state" => (ClearState, scope)
      case "start timer" =>
        (StartTimer(timer(text("timer")), Ends.instant(of("at", TimestampType))), scope)
      case "stop timer" => (StopTimer(timer(text("timer"))), scope)
      case "emit" =>
        val JArray(all) = found \ "values": @unchecked
        (Emit(all.zip(this.text.returns).map {
          case (JString(e), (_, kind)) => value(e, scope, kind)
          case (other, _) => throw new IllegalArgumentException(s"a step emits $other")
        }), scope)
      case other => throw new IllegalArgumentException(s"unknown step $other")
    }
  }

  private def assign(name: String, text: String, scope: Scope): Step =
    scope.local(name).map(local => Assign(slot(local), value(text, scope, local.dataType)))
      .orElse(entry(name).map(cell => AssignEntries(cell, value(text, scope, entries(cell).whole))))
      .getOrElse {
        require(frame(name).isEmpty, s"$name is a frame")
        val cell = index(name)
        Assign(keys.length + cell, value(text, scope, values(cell).value))
      }

  private def slot(local: Attribute): Int =
    keys.length + cells.length + 1 + locals.indexWhere(_.exprId == local.exprId)

  private def index(name: String): Int = positive(name, values.indexWhere(c => same(c.name, name)))

  private def timer(name: String): Int =
    positive(name, text.timers.indexWhere(t => same(t.name, name)))

  private def entry(name: String): Option[Int] =
    Some(entries.indexWhere(c => same(c.name, name))).filter(_ >= 0)

  private def frame(name: String): Option[Int] =
    Some(frames.indexWhere(f => same(f.name, name))).filter(_ >= 0)

  private def positive(name: String, found: Int): Int =
    if (found >= 0) found
    else throw new IllegalArgumentException(s"${text.id} has nothing called $name")

  private def same(one: String, other: String): Boolean = lower(one) == lower(other)

  // Expressions.

  /** An expression, cast to the type that is expected; null if any will do. */
  private def value(text: String, scope: Scope, kind: DataType = null): Expression =
    bound(replaced(parsed(text), scope, Set.empty), scope) match {
      case found if kind == null || DataType.equalsIgnoreNullability(found.dataType, kind) => found
      case other => Cast(other, kind, Some(own.sessionState.conf.sessionLocalTimeZone), EvalMode.ANSI)
    }

  /** Spark's parser uses the settings of the active session. */
  private def parsed(text: String): Expression =
    own.withActive(own.sessionState.sqlParser.parseExpression(text))

  private def key(cell: Int, text: String, scope: Scope): Expression = {
    val found = replaced(parsed(text), scope, Set.empty)
    bound(entryKey(cell, found), scope)
  }

  /** A key as it is looked up: equal values have equal bytes. */
  private def entryKey(cell: Int, found: Expression): Expression = {
    val cast = Cast(found, entries(cell).key, ansiEnabled = true)
    entries(cell).key match {
      case FloatType | DoubleType => NormalizeNaNAndZero(cast)
      case _ => cast
    }
  }

  private def bound(found: Expression, scope: Scope): Expression = {
    val attributes = scope.attributes
    val plan = Project(Seq(Alias(found, "value")()), LocalRelation(attributes))
    val analysed = Dataset.ofRows(own, plan).queryExecution.analyzed
    byChance ||= analysed.expressions.exists(Chance.isIn)
    val whole = own.withActive(ReplaceExpressions(analysed))
    val expression = whole match {
      case Project(Seq(Alias(e, _)), _) => e
      case other => throw new IllegalStateException(s"no expression: $other")
    }
    Ends.bounds(BindReferences.bindReference(expression, AttributeSeq(attributes)))
  }

  /** Replaces names by what they refer to; parameters of a lambda hide them. */
  private def replaced(found: Expression, scope: Scope, hidden: Set[String]): Expression = {
    def again(e: Expression) = replaced(e, scope, hidden)
    def held(e: Expression) = name(e).filter(p => p.length == 1 && !hidden(lower(p.head)))
      .flatMap(p => entry(p.head))
    found match {
      case UnresolvedExtractValue(cell, at) if held(cell).exists(entries(_).kind == "map") =>
        val map = held(cell).get
        EntryOf(place, map, entries(map).value, entryKey(map, again(at)))
      case call: UnresolvedFunction if isCall(call, "contains", 2) && held(call.arguments.head).isDefined =>
        val cell = held(call.arguments.head).get
        ContainsEntry(place, cell, entryKey(cell, again(call.arguments(1))))
      case call: UnresolvedFunction if isCall(call, "size", 1) && held(call.arguments.head).isDefined =>
        SizeOf(place, held(call.arguments.head).get)
      case call: UnresolvedFunction if isCall(call, "rolling", 2) =>
        val rows = name(call.arguments.head).flatMap(p => frame(p.head))
        rolled(rows.getOrElse(throw new IllegalArgumentException(s"${call.sql}: not a frame")),
          call.arguments(1))
      case call: UnresolvedFunction if isCall(call, "watermark", 0) => clock(WatermarkOf(place))
      case call: UnresolvedFunction if isCall(call, "now", 0) => clock(NowOf(place))
      case call: UnresolvedFunction if isCall(call, "watermark_before", 0) =>
        readsBefore = true
        WatermarkBefore()
      case LambdaFunction(body, arguments, internal) =>
        val more = arguments.flatMap(a => name(a).map(p => lower(p.head)))
        LambdaFunction(replaced(body, scope, hidden ++ more), arguments, internal)
      case other => name(other) match {
        case Some(parts) if hidden(lower(parts.head)) => other
        case Some(parts) => meaning(parts, scope)
        case None => other.mapChildren(again)
      }
    }
  }

  private def meaning(parts: Seq[String], scope: Scope): Expression =
    entry(parts.head).map(cell => below(WholeCell(place, cell, entries(cell).whole), parts.tail))
      .orElse(scope.find(parts))
      .getOrElse(throw new IllegalArgumentException(
        s"${text.id} has nothing called ${parts.mkString(".")}"))

  /** An aggregate over a frame, which is kept up to date with its rows. */
  private def rolled(place: Int, call: Expression): Expression = {
    val frame = frames(place)
    val plan = Aggregate(Nil, Seq(Alias(call, "value")()), LocalRelation(frame.columns))
    val analysed = own.withActive(ReplaceExpressions(Dataset.ofRows(own, plan).queryExecution.analyzed))
    val function = analysed.expressions.flatMap(_.collect {
      case AggregateExpression(found, _, false, None, _) => found
    })
    function match {
      case Seq(sum: Sum) if sum.child.dataType.isInstanceOf[IntegralType] =>
        // Parts of a sum may be greater than any sum: only the whole may overflow.
        val wide = sum.copy(child = Cast(sum.child, DecimalType(20, 0)))
        Cast(frame.value(this.place, place, wide), LongType, None, EvalMode.ANSI)
      case Seq(found: DeclarativeAggregate) => frame.value(this.place, place, found)
      case _ => throw new IllegalArgumentException(s"${call.sql} is no aggregate that can be merged")
    }
  }

  private def clock(found: Expression): Expression = {
    readsClock = true
    found
  }

  private def isCall(call: UnresolvedFunction, name: String, arguments: Int): Boolean =
    call.nameParts.map(lower) == Seq(name) && call.arguments.length == arguments

  private def name(found: Expression): Option[Seq[String]] = found match {
    case UnresolvedAttribute(parts) => Some(parts)
    case UnresolvedNamedLambdaVariable(parts) => Some(parts)
    case _ => None
  }
}

/** A frame while the program is read: the attributes of its rows, and the aggregates found so far. */
private class RolledFrame(val name: String, kind: DataType) {
  val columns: Seq[Attribute] = kind match {
    case ArrayType(row: StructType, _) =>
      row.map(f => AttributeReference(f.name, f.dataType, nullable = true)())
    case other => throw new IllegalArgumentException(s"$name is a frame of ${other.sql}")
  }
  val functions: mutable.ArrayBuffer[DeclarativeAggregate] = mutable.ArrayBuffer.empty

  /** The read of an aggregate; equal ones are one. */
  def value(place: Place, frame: Int, function: DeclarativeAggregate): Expression = {
    val found = functions.indexWhere(_.semanticEquals(function))
    if (found < 0) functions += function
    RolledValue(
      place, frame, if (found < 0) functions.length - 1 else found, function.evaluateExpression.dataType)
  }
}
