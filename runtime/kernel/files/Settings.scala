package org.apache.spark.sql.streamc

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration

import org.apache.spark.SparkConf
import org.apache.spark.deploy.SparkHadoopUtil

/** Hadoop's settings in a JVM without a session: what Spark would give one, and some more. */
object Settings {
  def hadoop(more: java.util.Map[String, String]): Configuration =
    SparkHadoopUtil.get.newConfiguration(new SparkConf().setAll(more.asScala))
}
