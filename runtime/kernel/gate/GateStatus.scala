package org.apache.spark.sql.streamc

import org.json4s.JsonAST._
import org.json4s.jackson.JsonMethods

/** The status of a gate, for the Python side. */
private[streamc] object GateStatus {
  def text(at: Protocol, queries: Seq[QueryTurn], movedAt: Long, askedAt: Long): String =
    JsonMethods.compact(JObject(
      "epoch" -> JLong(at.last.number),
      "drained" -> JBool(at.last.drain),
      "all_done" -> JBool(at.allDone),
      "caught_up" -> JBool(at.caughtUp),
      "over" -> JBool(at.over),
      "broken" -> JBool(at.broken),
      "failures" -> JInt(at.failures),
      "awaited" -> JBool(at.barrier == Barrier.Wanted),
      "barrier" -> (at.barrier match {
        case Barrier.Reached(epoch) => JLong(epoch)
        case _ => JNull
      }),
      "waits" -> JString(at.waits.text),
      "moved_at" -> JLong(movedAt),
      "asked_at" -> (if (askedAt > 0) JLong(askedAt) else JNull),
      "queries" -> JObject(queries.toList.map(q => q.id -> JObject(
        "done" -> JLong(at.done(q.id)),
        "base" -> JLong(q.base),
        "done_at" -> JLong(q.doneAt))))))
}
