package org.apache.spark.sql.streamc

/** The process that started this JVM, which has no purpose without it. */
object Parent {
  private val Grace = 10000L

  /**
   * Ends this JVM once a process is gone, however it ended: a killed one sends no word, and what
   * Spark is still working on would continue next to its successor. The JVM gets a moment to shut
   * down cleanly.
   */
  def watch(process: Long): Unit = {
    val parent = ProcessHandle.of(process)
    if (parent.isPresent) parent.get().onExit().thenRun(() => end()) else end()
  }

  private def end(): Unit = {
    val orderly = new Thread(() => System.exit(1), "the parent is gone")
    orderly.setDaemon(true)
    orderly.start()
    val certain = new Thread(() => {
      Thread.sleep(Grace)
      Runtime.getRuntime.halt(137)
    }, "the parent is gone for long")
    certain.setDaemon(true)
    certain.start()
  }
}
