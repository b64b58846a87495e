package org.apache.spark.sql.streamc

/** All that can happen next in a world: by the job itself, and from outside. */
object Steps {
  def of(world: World): Seq[Step] = world.run match {
    case Some(run) =>
      own(world, run).map { case (name, next) => Step(name, next, outside = false) } ++
        outside(world, Some(run)).map { case (name, next) => Step(name, next, outside = true) }
    case None => outside(world, None).map { case (name, next) => Step(name, next, outside = true) }
  }

  private type Named = (String, World)

  private def own(world: World, run: Run): Seq[Named] =
    run.queries.keys.toSeq.flatMap(query(world, run, _)) ++ sources(world, run) ++
      coordinator(world, run) ++ watch(world, run)

  private def put(world: World, run: Run): World = world.copy(run = Some(run))

  /** A query asks, logs what it is given, commits it. */
  private def query(world: World, run: Run, id: String): Seq[Named] = run.queries(id) match {
    case Doing.Asking => asks(world, run, id)
    case Doing.Given(epoch) =>
      check(world.log.exists(_.epoch.number == epoch), s"$id is given $epoch, which is not in the log")
      check(world.commits(id) == epoch - 1, s"$id is given $epoch behind ${world.commits(id)}")
      Seq(s"$id logs $epoch" -> put(world, at(run, id, Doing.Logged(epoch)))
        .copy(planned = world.planned.updated(id, epoch)))
    case Doing.Logged(epoch) =>
      Seq(s"$id commits $epoch" ->
        put(world, at(run, id, Doing.Committed(epoch))).copy(commits = world.commits.updated(id, epoch)))
    case Doing.Committed(epoch) =>
      val told = run.protocol.finished(id, epoch)
      Seq(s"$id is done with $epoch" -> put(world, at(run.copy(protocol = told), id, Doing.Asking)))
  }

  private def at(run: Run, id: String, doing: Doing): Run =
    run.copy(queries = run.queries.updated(id, doing))

  private def asks(world: World, run: Run, id: String): Seq[Named] = {
    val protocol = run.protocol
    protocol.next(id) match {
      case Some(epoch) => Seq(s"$id takes $epoch" -> put(world, at(run, id, Doing.Given(epoch))))
      case None =>
        val asking =
          if (protocol.asks && run.asked.isEmpty && run.answer.isEmpty && ahead(world, run))
            Seq(s"$id has the sources asked" -> put(world, run.copy(asked = Some(available(world, run)))))
          else Nil
        asking ++ known(world, run).flatMap { case (what, input, after) =>
          after.protocol.opening(input).toOption.map { epoch =>
            s"$id opens ${epoch.number} ($what)" -> open(world, after, id, epoch)
          }.orElse(Option.when(after != run)(s"$id sees $what" -> put(world, after)))
        }
    }
  }

  /** Whether an answer would say anything: asking in vain changes nothing but the clock. */
  private def ahead(world: World, run: Run): Boolean =
    available(world, run) > world.log.last.read ||
      run.protocol.ending == Ending.CaughtUp && !run.protocol.exhausted

  private def available(world: World, run: Run): Int =
    if (world.setting.caughtUp) run.there else world.input

  /** What can be known of the input, and the run that knows it. */
  private def known(world: World, run: Run): Seq[(String, Input, Run)] = run.answer match {
    case Some(read) if read > world.log.last.read => Seq(("input", Input.Fresh, run))
    case Some(_) =>
      val told = run.copy(answer = None, protocol = run.protocol.nothingNew)
      Seq(("no input", Input.Nothing, told))
    case None => Seq(("not known", Input.Unknown, run), ("quiet", Input.Nothing, run))
  }

  private def open(world: World, run: Run, id: String, epoch: Last): World = {
    val last = world.log.last
    check(epoch.number == last.epoch.number + 1, s"epoch ${epoch.number} follows ${last.epoch.number}")
    check(!last.epoch.drain || epoch.drain && !epoch.rows, s"epoch ${epoch.number} follows a drain")
    check(!epoch.rows || !run.protocol.closing, s"epoch ${epoch.number} has input behind the end")
    check(!run.protocol.fenced, s"epoch ${epoch.number} opens in a state that is another's")
    check(epoch.number - world.commits.values.min <= world.setting.rules.inFlight,
      s"epoch ${epoch.number} is too far ahead")
    world.barriers.headOption.foreach { oldest =>
      check(epoch.number - oldest < run.retained, s"Spark drops what barrier $oldest rests on")
    }
    val read = if (epoch.rows) run.answer.get else last.read
    check(!epoch.rows || read > last.read, s"epoch ${epoch.number} has no input")
    val protocol = run.protocol.opened(epoch)
    val next = run.copy(protocol = protocol, answer = if (epoch.rows) None else run.answer)
    put(world, at(next, id, Doing.Asking)).copy(log = world.log :+ Logged(epoch, read))
  }

  private def sources(world: World, run: Run): Seq[Named] = run.asked.toSeq.map { read =>
    s"the sources answer $read" -> put(world, run.copy(asked = None, answer = Some(read)))
  }

  /** The coordinator does as it is told; its manifest is on the disk before it says so. */
  private def coordinator(world: World, run: Run): Seq[Named] = run.writing match {
    case Some(epoch) => Seq(s"barrier $epoch is taken" -> kept(world, run, epoch))
    case None => Seq(true, false).map(run.protocol.act(_, late = false)).distinct.flatMap {
      case Act.Record(epoch) =>
        checkBarrier(world, run, epoch)
        Some(s"barrier $epoch is written" -> put(world, run.copy(writing = Some(epoch)))
          .copy(barriers = world.barriers :+ epoch))
      case Act.Request =>
        Some("a barrier is asked for" -> put(world, run.copy(protocol = run.protocol.request)))
      case _ => None
    }
  }

  private def kept(world: World, run: Run, epoch: Long): World =
    put(world, run.copy(writing = None, protocol = run.protocol.taken(epoch, record = true)))
      .copy(barriers = world.barriers.takeRight(world.setting.barriers))

  private def checkBarrier(world: World, run: Run, epoch: Long): Unit = {
    val logged = world.log.find(_.epoch.number == epoch)
    check(logged.isDefined, s"barrier $epoch is no epoch")
    check(world.commits.values.forall(_ >= epoch), s"barrier $epoch is not committed by all queries")
    check(!world.setting.rules.settles || !logged.get.epoch.rows, s"barrier $epoch is not settled")
    check(world.barriers.lastOption.forall(_ < epoch), s"barrier $epoch is recorded twice")
    // What a manifest says of an epoch is known of those that this run has done.
    check(epoch > run.began || run.began == 0, s"barrier $epoch is an epoch of an earlier run")
  }

  /** The run ends: with its last barrier, or because it can't go on. */
  private def watch(world: World, run: Run): Seq[Named] = {
    def end(how: String) = Seq(s"the run is $how" -> world.copy(run = None, ended = Some(how)))
    if (run.protocol.fenced) end("driven out")
    else if (run.protocol.broken) end("given up")
    else if (run.protocol.over && run.writing.isEmpty) end("over")
    else Nil
  }

  private def outside(world: World, run: Option[Run]): Seq[Named] = {
    val budget = world.budget
    val arrival = Option.when(budget.arrivals > 0)("input arrives" ->
      world.copy(input = world.input + 1, budget = budget.copy(arrivals = budget.arrivals - 1)))
    arrival.toSeq ++ run.fold(between(world))(disturbed(world, _))
  }

  private def between(world: World): Seq[Named] = {
    val budget = world.budget
    val back = Option.when(budget.rollbacks > 0 && world.barriers.size > 1)("a rollback" ->
      rolledBack(world.copy(budget = budget.copy(rollbacks = budget.rollbacks - 1))))
    val complete = world.barriers.lastOption.contains(world.log.last.epoch.number)
    val drained = world.log.last.epoch.drain && complete
    val begins = Option.when(!drained && budget.restarts > 0) {
      val next = world.copy(ended = None, budget = budget.copy(restarts = budget.restarts - 1))
      "a run begins" -> next.copy(run = Some(World.begin(next)))
    }
    back.toSeq ++ begins
  }

  private def disturbed(world: World, run: Run): Seq[Named] = {
    val (p, budget) = (run.protocol, world.budget)
    def told(name: String, left: Budget, next: Protocol): Option[Named] =
      Option.when(next != p)(name -> put(world.copy(budget = left), run.copy(protocol = next)))
    val crash = Option.when(budget.restarts > 0)("a crash" -> world.copy(run = None))
    val fails = p.barrier match {
      case Barrier.Reached(epoch) if budget.failures > 0 && run.writing.isEmpty =>
        told(s"barrier $epoch fails", budget.copy(failures = budget.failures - 1),
          p.taken(epoch, record = false))
      case _ => None
    }
    val late = Option.when(budget.late > 0 && p.act(due = false, late = true) == Act.Expire)(
      budget.copy(late = budget.late - 1)).flatMap(told("a barrier is late", _, p.expired))
    val left = budget.copy(endings = budget.endings - 1)
    val endings = if (budget.endings == 0) Nil else Seq(
      told("a stop is asked for", left, p.end(Ending.Hold)),
      told("a drain is asked for", left, p.end(Ending.Drain)),
      told("the lease is lost", left, p.fence))
    crash.toSeq ++ fails ++ late ++ endings.flatten ++ tick(world, run)
  }

  /** Time for an epoch without input, as pipelines with timers of processing time have it. */
  private def tick(world: World, run: Run): Option[Named] = for {
    id <- run.queries.collectFirst { case (id, Doing.Asking) if run.protocol.next(id).isEmpty => id }
    if world.budget.ticks > 0 && run.answer.isEmpty
    epoch <- run.protocol.opening(Input.Tick).toOption
    left = world.budget.copy(ticks = world.budget.ticks - 1)
  } yield s"$id opens ${epoch.number} (tick)" -> open(world.copy(budget = left), run, id, epoch)

  /** Back to the oldest barrier that is kept: a generation that begins where it was. */
  private def rolledBack(world: World): World = {
    val target = world.barriers.head
    val all = world.commits.map { case (q, _) => q -> target }
    world.copy(
      log = world.log.takeWhile(_.epoch.number <= target),
      planned = all,
      commits = all,
      barriers = Vector.empty,
      generation = world.generation + 1,
      ended = None)
  }

  private def check(holds: Boolean, message: => String): Unit = if (!holds) throw new Broken(message)
}
