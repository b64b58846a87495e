package org.apache.spark.sql.streamc

import java.util.concurrent.{Executors, ThreadFactory, TimeUnit}

import scala.collection.immutable.SortedMap
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.util.UninterruptibleThread

/**
 * Asks the sources where they stand, in a thread of its own.
 *
 * A broker that hangs holds up this thread and nothing else: queries, barriers and requests go on
 * without new input. What was found is kept until it is used, since asking some sources moves them.
 * All but the constructor and `stop` is called under the gate's lock; so is `answered`, when an answer
 * is there.
 */
private[streamc] class Asking(session: SparkSession, gate: AnyRef, answered: () => Unit) {
  private type Cuts = SortedMap[String, String]

  private val worker = Executors.newSingleThreadExecutor(new ThreadFactory {
    override def newThread(work: Runnable): Thread = {
      val thread = new UninterruptibleThread(work, "streamc-sources")
      thread.setDaemon(true)
      thread
    }
  })
  private var found: Option[Try[Cuts]] = None
  private var releasing = false
  private var unreleased: String = _

  /** Since when the sources are being asked, in milliseconds; 0 while they are not. */
  var since = 0L

  /** Whether the answer takes so long that other things need not wait for it. */
  def slow: Boolean = since > 0 && System.currentTimeMillis - since > Asking.Patience

  /** Begins to ask; waits a moment for the answer, without the gate's lock. */
  def ask(look: => Cuts): Unit = {
    since = System.currentTimeMillis
    work(look) { answer =>
      found = Some(answer)
      since = 0
      answered()
      gate.notifyAll()
    }
    gate.wait(Asking.Moment)
  }

  /** The answer that is there; raises what the sources have raised, in the thread of a query. */
  def answer: Option[Cuts] = found.map {
    case Success(cuts) => cuts
    case Failure(error) => throw error
  }

  /** The answer has been made use of. */
  def used(): Unit = found = None

  /**
   * Has the sources forget input, when they can. Returns why they could not the last time, or null; what
   * is not released is released the next time.
   */
  def release(forget: => Unit): String = {
    if (!releasing) {
      releasing = true
      work(forget) { done =>
        releasing = false
        unreleased = done.fold(error => String.valueOf(error.getMessage), _ => null)
      }
    }
    unreleased
  }

  private def work[T](what: => T)(after: Try[T] => Unit): Unit = worker.execute { () =>
    // What the gate interrupts when it closes is of no use to anybody.
    try {
      val done = Try(session.withActive(what))
      gate.synchronized(after(done))
    } catch { case _: InterruptedException => () }
  }

  /** Ends the thread; a source that hangs is not waited for. */
  def stop(): Unit = {
    worker.shutdown()
    if (!worker.awaitTermination(Asking.Farewell, TimeUnit.MILLISECONDS)) worker.shutdownNow()
  }
}

private object Asking {
  /** How long a query waits for the sources before it looks again; longer than most of them take. */
  private val Moment = 50L
  private val Patience = 1000L
  private val Farewell = 5000L
}
