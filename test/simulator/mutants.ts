/** Lists faults that were fixed, or that a slip could introduce: each replaces a text that occurs once in a file. */

export interface Mutant {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  /** subject of the runs that look for the fault, because other runs rarely meet it; absent: ordinary runs */
  readonly about?: string
}

const RULES = 'src/services/rules/durable'
const ALARMS = 'src/services/alarms'

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'downtime counts toward limits',
    file: 'src/core/task/execution.ts',
    find: 'return wakeAt > from ? wakeAt + (until - from) : wakeAt',
    replace: 'return wakeAt',
  },
  {
    name: 'a clock jump counts toward limits',
    file: `${RULES}/deterministic-engine.ts`,
    find: 'Math.max(limitAfter(limit, from, at), limitWithout(limit, timeoutMs, since, at)),',
    replace: 'Math.max(limit, limitWithout(limit, timeoutMs, Math.max(from, since), at)),',
  },
  {
    name: 'with work in flight, occurrences that a clock jump skipped are executed',
    file: `${RULES}/live-tasks.ts`,
    find: 'if (at - horizon > SLEPT_MS || this.#hasSlept(at))',
    replace: 'if (this.#hasSlept(at))',
  },
  {
    name: 'occurrences that a clock jump skipped are executed one by one',
    file: `${RULES}/live-tasks.ts`,
    find: 'return now - (this.deterministic.nextAt ?? now) > SLEPT_MS',
    replace: 'return false',
  },
  {
    name: 'outages of the store count toward limits',
    file: 'src/core/task/execution.ts',
    find: 'return limit + Math.max(0, until - Math.max(from, limit - timeoutMs))',
    replace: 'return limit',
  },
  {
    name: 'limits pass while the state of the store is unknown',
    file: `${RULES}/stall-detector.ts`,
    find: 'return now - this.#lastSign > QUIET_MS',
    replace: 'return false',
  },
  {
    name: 'moved limits are not stored',
    file: `${RULES}/deterministic-engine.ts`,
    find: 'if (this.engine.tasks.get(id)?.moveLimits(move) === true) this.#hooks.touched(id)',
    replace: 'this.engine.tasks.get(id)?.moveLimits(move)',
  },
  {
    name: 'acting plugs are called during replay',
    file: 'src/core/plug/acting-plugs.ts',
    find: 'execute: async (context) => perform(context)',
    replace: 'execute: (context) => perform(context)',
  },
  {
    name: 'a batch of alarms fails after an outage',
    file: `${ALARMS}/batch-service.ts`,
    find: 'error.status >= 500) throw error',
    replace: "error.code === 'CLOSED') throw error",
  },
  {
    name: 'a late response of a handler is a warning',
    file: 'src/host/open-answers.ts',
    find: "reply.raw.once('finish', () => (reply.send = () => reply))",
    replace: '',
  },
  {
    name: 'the time of a host goes back with the wall clock',
    file: 'src/host/host-clock.ts',
    find: 'this.#time = Math.max(wall - this.#unconfirmed, this.#time + passed * PACE)',
    replace: 'this.#time = wall',
  },
  {
    name: 'a repeated post with a key is processed again',
    file: 'src/services/broker/posting/idempotency.ts',
    find: "if (found.value.print === print) return { kind: 'done', at: found.value.at }",
    replace: '',
  },
  {
    name: 'an alarm forgets the effects that raised it',
    file: `${ALARMS}/change-alarm.ts`,
    find: 'return effect !== undefined && effects.length > 0 && effects.includes(markOf(effect))',
    replace: 'return effect !== undefined && effects.length > 1e9',
  },
  {
    name: 'calls of a task on one target overtake each other',
    file: 'src/core/task/execution.ts',
    find: 'const mayBegin = effectQueues.enqueue(execution, touches, run.model.maxWaiting)',
    replace: 'effectQueues.enqueue(execution, touches, run.model.maxWaiting); const mayBegin = true',
  },
  {
    name: 'readers of alarm events miss events during an interruption',
    file: `${ALARMS}/event-tail.ts`,
    find: 'let seen = after === undefined ? this.#last : positionOf(after)',
    replace: 'let seen = this.#last',
  },
  {
    name: 'the reconciler does not check for changes made while it worked',
    file: 'src/services/resources/managed-tasks/reconciler.ts',
    find: 'if (this.#isBehind) this.wake()',
    replace: '',
  },
  {
    name: 'a reconciliation interrupted by an outage is not retried',
    file: 'src/services/resources/managed-tasks/reconciler.ts',
    find: 'const RETRY_MS = 60_000',
    replace: 'const RETRY_MS = 6_000_000',
  },
  {
    name: 'plugs do not wait for an unavailable store',
    file: 'src/host/wiring/patient.ts',
    find: "error.code !== 'UNAVAILABLE') throw error",
    replace: "error.code !== 'CLOSED') throw error",
  },
  {
    name: 'series do not catch up with the log at start',
    file: 'src/services/broker/service.ts',
    find: 'await this.#projector.open()',
    replace: 'await Promise.resolve()',
  },
  {
    name: 'series that could not be written continue with later entries',
    file: 'src/services/broker/posting/series-projector.ts',
    find: 'if (hadFailed) await this.#catchUp(upTo)\n      else if',
    replace: 'if',
  },
  {
    name: 'commands from before a restart are not executed',
    file: 'src/services/resources/commands/command-runner.ts',
    find: 'for (const resource of waiting.keys()) this.#wake(resource)',
    replace: 'void waiting',
  },
  {
    name: 'a command is removed before its outcome is stored',
    file: 'src/services/resources/commands/command-runner.ts',
    find: 'const shown = await this.#execute(job)',
    replace: 'await this.#store.collection(COMMAND_JOBS).delete(job.id)\n      const shown = await this.#execute(job)',
  },
  {
    name: 'the first response after an outage ends waiting calls',
    file: `${RULES}/stall-detector.ts`,
    find: 'const silent = this.#wasSilent(at) ? this.#silentSince : Number.POSITIVE_INFINITY',
    replace: 'const silent = Number.POSITIVE_INFINITY',
  },
  {
    name: 'calls are abandoned in an outage while rejections are in flight',
    file: `${RULES}/live-tasks.ts`,
    find: 'if (nextAt > now) return false',
    replace: 'if (this.#log.size > 0 || nextAt > now) return false',
  },
  {
    name: 'a call that is retried while the store is stalled ends at once',
    file: `${RULES}/deterministic-engine.ts`,
    find: 'limit - timeoutMs === began ? without(limit, timeoutMs) : limit',
    replace: 'limit',
  },
  {
    name: 'reading a task ends its calls before an outage is discounted',
    file: `${RULES}/live-tasks.ts`,
    find: "if (this.#log.has('still') || this.#log.has('jump')) return true",
    replace: '',
  },
  {
    name: 'time continues while a jump waits for the store',
    file: `${RULES}/live-tasks.ts`,
    find: "|| this.#log.has('jump')) return true",
    replace: ') return true',
    about: 'calls in an outage',
  },
  {
    name: 'a store that responds soon after a request was stalled no longer than that',
    file: `${RULES}/stall-detector.ts`,
    find: 'now - this.#queriedAt > LATE_MS',
    replace: 'now - this.#queriedAt > QUIET_MS',
    about: 'calls in an outage',
  },
  {
    name: 'time continues between an outage and its discount',
    file: `${RULES}/live-tasks.ts`,
    find: 'if (this.#stall.since !== undefined) {',
    replace: 'if (this.#isClosed) {',
  },
  {
    name: 'a retried job waits for as long as the clock was set back',
    file: 'src/jobs/type-runner.ts',
    find: '!this.#waitsTooLong(one.value, time) &&',
    replace: '',
  },
  {
    name: 'a failed read during a start fails a task permanently',
    file: 'src/services/rules/service.ts',
    find: 'if (isAway(error)) throw error',
    replace: '',
  },
  {
    name: 'payloads are converted by an earlier version of a converter',
    file: 'src/services/converter/converters.ts',
    find: 'this.#kept.clear()\n    return isNew',
    replace: 'return isNew',
  },
  {
    name: 'creating a stored query overwrites an existing one',
    file: 'src/services/queries/stored/stored-queries.ts',
    find: "collection.put(entity.name, record, 'absent')",
    replace: 'collection.put(entity.name, record)',
  },
  {
    name: 'calls in flight are not repeated after a crash',
    file: 'src/core/task/restore.ts',
    find: "if (phase !== 'queued' && phase !== 'called' && phase !== 'behind') return",
    replace: "if (phase !== 'queued' && phase !== 'behind') return",
  },
  {
    name: 'the log of inputs is replayed from its beginning without states',
    file: `${RULES}/recovery.ts`,
    find: 'if (record.resources.some((resource) => isLater(this.#lastOfResource.get(resource)))) return true',
    replace: '',
  },
  {
    name: 'results in the log are requested again during replay',
    file: `${RULES}/recovery.ts`,
    find: 'return !this.#answers.has(key) && !withheld.has(key) && !isLater(execution, this.#later)',
    replace: 'return !withheld.has(key)',
  },
  {
    name: 'a raise does not see the open alarm',
    file: `${ALARMS}/keyed-committer.ts`,
    find: 'async latest(',
    replace: 'async latest(): Promise<undefined> { return undefined }\n  async latestOfAll(',
  },
  {
    name: 'the lease of a command outlives its host',
    file: 'src/services/resources/commands/command-runner.ts',
    find: 'lease.session === time.session',
    replace: 'true',
  },
  {
    name: 'a removed constraint is checked',
    file: 'src/services/resources/resource-writer.ts',
    find: 'return typeId === undefined',
    replace: 'if (typeId !== null) return save()\n    return typeId === undefined',
  },
  {
    name: 'an operation on a type that was interrupted by an outage waits for the next start',
    file: 'src/services/resources/type-work.ts',
    find: 'this.#retries.set(typeId, later(RETRY_MS, again))',
    replace: 'void again',
  },
  {
    name: 'a removed key is valid for two minutes',
    file: 'src/host/auth/remembered-checks.ts',
    find: 'export const REMEMBERED_MS = 60_000',
    replace: 'export const REMEMBERED_MS = 120_000',
  },
  {
    name: 'a key that is known to be removed is valid for a minute',
    file: 'src/host/auth/key-changes.ts',
    find: 'moment > this.#changed &&',
    replace: '',
  },
  {
    name: 'replaced content is not deleted',
    file: 'src/services/objects/object-writer.ts',
    find: ': [orphans.orphaning(before.value.content)]),',
    replace: ': []),',
  },
  {
    name: 'the content of an object stays claimed',
    file: 'src/services/objects/object-writer.ts',
    find: 'return this.#commit({ record, expect, cause, writes: async () => [ending] })',
    replace: 'void ending\n      return this.#commit({ record, expect, cause, writes: async () => [] })',
  },
  {
    name: 'a state stored after an outage makes the outage count for calls',
    file: `${RULES}/live-tasks.ts`,
    find: 'this.#stall.responded(Math.min(now, this.#log.horizon), now)',
    replace: 'this.#stall.responded(now, now)',
    about: 'calls in an outage',
  },
  {
    name: 'deliveries of a run that ends are not stored with its end',
    file: `${RULES}/ended-deliveries.ts`,
    find: 'return this.#fresh(id).map((one) => deliveries',
    replace: 'return this.#fresh(id).slice(0, 0).map((one) => deliveries',
    about: 'ends of runs',
  },
  {
    name: 'an import continues before its data is on disk',
    file: 'src/services/broker/service.ts',
    find: 'await this.#dependencies.store.series.append({ samples, synced: true })',
    replace: 'await this.#dependencies.store.series.append({ samples })',
  },
  {
    name: 'deliveries of an ended run are listed before they are stored',
    file: `${RULES}/ended-deliveries.ts`,
    find: 'const isOfRun = (one: DeliveryRecord): boolean => this.#deterministic.isOfRun(id, one.id)',
    replace: 'const isOfRun = (): boolean => true',
    about: 'ends of runs',
  },
  {
    name: 'the first delivery of a run replaces the last delivery of the previous run',
    file: `${RULES}/deterministic-engine.ts`,
    find: 'const delivered = Math.max(d, await this.#drop(t))',
    replace: 'await this.#drop(t); const delivered = d',
    about: 'ends of runs',
  },
  {
    name: 'the delivery of an object change is stored after it reached rules',
    file: 'src/services/objects/subscriptions/change-reader.ts',
    find: ': forwarding.receive(change, writes)',
    replace: ': forwarding.receive(change, []).then(() => store.commit(writes))',
  },
  {
    name: 'calls of webscripts about one object overtake each other',
    file: 'src/services/objects/subscriptions/outbox.ts',
    find: '.update(JSON.stringify([subscription, object.path]))',
    replace: '.update(JSON.stringify([subscription, object]))',
  },
  {
    name: 'a webscript call that fails twice is abandoned',
    file: 'src/services/objects/subscriptions/delivery-jobs.ts',
    find: 'if (isFinal || attempts >= DELIVERY_ATTEMPTS) return',
    replace: 'if (attempts >= 2) return',
  },
  {
    name: 'commands follow the clock of a starting host',
    file: 'src/services/resources/commands/command-runner.ts',
    find: 'for (const id of await newestIds(this.#store)) this.#goOnAfter(id)',
    replace: '',
    about: 'commands',
  },
]
