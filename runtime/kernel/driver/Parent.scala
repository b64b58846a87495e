package org.apache.spark.sql.streamc

/** The process that started this JVM, which has nothing to do without it. */
object Parent {
  private val Grace = 10000L

  /**
   * Ends this JVM once a process is gone, however that ended: a killed one leaves no word, and what
   * Spark still works on would go on beside whoever comes next. It has a moment to tidy up.
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
