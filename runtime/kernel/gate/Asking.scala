package org.apache.spark.sql.streamc

import java.util.concurrent.{Executors, ThreadFactory, TimeUnit}

import scala.collection.immutable.SortedMap
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.util.UninterruptibleThread

/**
 * Asks the sources for their newest positions, in a thread of its own.
 *
 * A broker that hangs blocks only this thread: queries, barriers and requests continue without new
 * input. An answer is kept until it is used, since asking moves some sources. Everything but the
 * constructor and `stop` is called under the gate's lock, including `answered`, which is called
 * when an answer has arrived.
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

  /** Whether the answer takes so long that nothing else needs to wait for it. */
  def slow: Boolean = since > 0 && System.currentTimeMillis - since > Asking.Patience

  /** Starts asking; waits a moment for the answer, without the gate's lock. */
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

  /** The answer, once it is there; an exception of the sources is rethrown in a query's thread. */
  def answer: Option[Cuts] = found.map {
    case Success(cuts) => cuts
    case Failure(error) => throw error
  }

  /** The answer has been used. */
  def used(): Unit = found = None

  /**
   * Lets the sources forget input when they can. Returns why the last attempt failed, or null; what
   * could not be released is released with the next call.
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
    // An interruption by the gate closing concerns nobody.
    try {
      val done = Try(session.withActive(what))
      gate.synchronized(after(done))
    } catch { case _: InterruptedException => () }
  }

  /** Ends the thread, without waiting for a source that hangs. */
  def stop(): Unit = {
    worker.shutdown()
    if (!worker.awaitTermination(Asking.Farewell, TimeUnit.MILLISECONDS)) worker.shutdownNow()
  }
}

private object Asking {
  /** How long a query waits for the sources before it checks again; most of them answer sooner. */
  private val Moment = 50L
  private val Patience = 1000L
  private val Farewell = 5000L
}
