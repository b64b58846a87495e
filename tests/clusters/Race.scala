import java.util.UUID
import java.util.concurrent.{CyclicBarrier, Executors}
import java.util.concurrent.TimeUnit.SECONDS

import scala.io.StdIn
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}

import org.apache.spark.sql.streamc.Entrants

/**
 * One process of a race: threads that make or exchange a file at the same moment, for each line of
 * its input. `create NAME` makes a file, `exchange NAME` reads its version and writes the one after.
 * The answer is a line with who succeeded, each with the version that it exchanged, and failures.
 */
object Race {
  def main(arguments: Array[String]): Unit = {
    val Array(folder, own, threads) = arguments.take(3)
    val conf = new Configuration
    arguments.drop(3).foreach { setting =>
      val Array(key, value) = setting.split("=", 2)
      conf.set(key, value)
    }
    val start = new CyclicBarrier(threads.toInt)
    val pool = Executors.newFixedThreadPool(threads.toInt)
    println("ready")
    Iterator.continually(StdIn.readLine()).takeWhile(_ != null).foreach { line =>
      val Array(what, name) = line.split(" ")
      val path = new Path(folder, name)
      val all = (0 until threads.toInt).map { number =>
        pool.submit[String] { () =>
          val who = s"$own-$number"
          try {
            val files = Entrants.of(path, conf)
            if (what == "create") {
              start.await(60, SECONDS)
              files.create(path, s"$who of $line")
              s"$who:"
            } else {
              val read = files.version(path)
              start.await(60, SECONDS)
              // No text comes twice, as a version is known by its content.
              if (files.exchange(path, s"$who $line ${UUID.randomUUID}", read)) s"$who:$read" else ""
            }
          } catch {
            case _: FileAlreadyExistsException => ""
            case NonFatal(e) => s"!$e".replaceAll("\\s+", "_")
          }
        }
      }
      println(all.map(_.get).filter(_.nonEmpty).mkString(" "))
    }
    System.exit(0)
  }
}
