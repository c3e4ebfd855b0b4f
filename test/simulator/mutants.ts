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
    name: 'time in which nobody was there counts for limits',
    file: 'src/core/task/execution.ts',
    find: 'return wakeAt > from ? wakeAt + (until - from) : wakeAt',
    replace: 'return wakeAt',
  },
  {
    name: 'a jump of the clock counts for limits',
    file: `${RULES}/deterministic-engine.ts`,
    find: 'Math.max(limitAfter(limit, from, at), limitWithout(limit, timeoutMs, since, at)),',
    replace: 'Math.max(limit, limitWithout(limit, timeoutMs, Math.max(from, since), at)),',
  },
  {
    name: 'what is on its way makes a leap of the clock be made up for',
    file: `${RULES}/live-tasks.ts`,
    find: 'if (at - horizon > SLEPT_MS || this.#hasSlept(at))',
    replace: 'if (this.#hasSlept(at))',
  },
  {
    name: 'a leap of the clock is made up for moment by moment',
    file: `${RULES}/live-tasks.ts`,
    find: 'return now - (this.deterministic.nextAt ?? now) > SLEPT_MS',
    replace: 'return false',
  },
  {
    name: 'time in which the store says nothing counts for limits',
    file: 'src/core/task/execution.ts',
    find: 'return limit + Math.max(0, until - Math.max(from, limit - timeoutMs))',
    replace: 'return limit',
  },
  {
    name: 'limits pass although nobody knows whether the store says anything',
    file: `${RULES}/stall-detector.ts`,
    find: 'return now - this.#lastSign > QUIET_MS',
    replace: 'return false',
  },
  {
    name: 'limits that were moved are not stored',
    file: `${RULES}/deterministic-engine.ts`,
    find: 'if (this.engine.tasks.get(id)?.moveLimits(move) === true) this.#hooks.touched(id)',
    replace: 'this.engine.tasks.get(id)?.moveLimits(move)',
  },
  {
    name: 'what acts is called when inputs are played again',
    file: 'src/core/plug/acting-plugs.ts',
    find: 'execute: async (context) => perform(context)',
    replace: 'execute: (context) => perform(context)',
  },
  {
    name: 'a batch of alarms gives up what met an outage',
    file: `${ALARMS}/batch-service.ts`,
    find: 'error.status >= 500) throw error',
    replace: "error.code === 'CLOSED') throw error",
  },
  {
    name: 'a late answer of a handler is a warning',
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
    name: 'a repeated post with a key is another one',
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
    name: 'calls of a task on one thing overtake each other',
    file: 'src/core/task/execution.ts',
    find: 'const mayBegin = effectQueues.enqueue(execution, touches, run.model.maxWaiting)',
    replace: 'effectQueues.enqueue(execution, touches, run.model.maxWaiting); const mayBegin = true',
  },
  {
    name: 'readers of alarm events do not get what was written while they were away',
    file: `${ALARMS}/event-tail.ts`,
    find: 'let seen = after === undefined ? this.#last : positionOf(after)',
    replace: 'let seen = this.#last',
  },
  {
    name: 'the reconciler does not look again for what came meanwhile',
    file: 'src/services/resources/managed-tasks/reconciler.ts',
    find: 'if (this.#isBehind) this.wake()',
    replace: '',
  },
  {
    name: 'what an outage kept from being reconciled is not tried again',
    file: 'src/services/resources/managed-tasks/reconciler.ts',
    find: 'const RETRY_MS = 60_000',
    replace: 'const RETRY_MS = 6_000_000',
  },
  {
    name: 'plugs do not wait for a store that is away',
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
    name: 'series that could not be written go on with what came after',
    file: 'src/services/broker/posting/series-projector.ts',
    find: 'if (hadFailed) await this.#catchUp(upTo)\n      else if',
    replace: 'if',
  },
  {
    name: 'commands of the last life are not carried out',
    file: 'src/services/resources/commands/command-runner.ts',
    find: 'for (const resource of waiting.keys()) this.#wake(resource)',
    replace: 'void waiting',
  },
  {
    name: 'a command is forgotten before it is written down',
    file: 'src/services/resources/commands/command-runner.ts',
    find: 'const shown = await this.#execute(job)',
    replace: 'await this.#store.collection(COMMAND_JOBS).delete(job.id)\n      const shown = await this.#execute(job)',
  },
  {
    name: 'an answer that comes first after an outage ends the calls that waited',
    file: `${RULES}/stall-detector.ts`,
    find: 'const silent = this.#wasSilent(at) ? this.#silentSince : Number.POSITIVE_INFINITY',
    replace: 'const silent = Number.POSITIVE_INFINITY',
  },
  {
    name: 'calls are given up in an outage while refusals are on their way',
    file: `${RULES}/live-tasks.ts`,
    find: 'if (nextAt > now) return false',
    replace: 'if (this.#log.size > 0 || nextAt > now) return false',
  },
  {
    name: 'a call that is tried again while the store stands still is over at once',
    file: `${RULES}/deterministic-engine.ts`,
    find: 'limit - timeoutMs === began ? without(limit, timeoutMs) : limit',
    replace: 'limit',
  },
  {
    name: 'who looks at a task ends its calls before an outage is left out',
    file: `${RULES}/live-tasks.ts`,
    find: "if (this.#log.has('still') || this.#log.has('jump')) return true",
    replace: '',
  },
  {
    name: 'time goes on to a jump that waits for the store, with what is due before it',
    file: `${RULES}/live-tasks.ts`,
    find: "|| this.#log.has('jump')) return true",
    replace: ') return true',
    about: 'calls in an outage',
  },
  {
    name: 'a store that speaks soon after it was asked stood still no longer than that',
    file: `${RULES}/stall-detector.ts`,
    find: 'now - this.#queriedAt > LATE_MS',
    replace: 'now - this.#queriedAt > QUIET_MS',
    about: 'calls in an outage',
  },
  {
    name: 'time goes on between an outage and what leaves it out',
    file: `${RULES}/live-tasks.ts`,
    find: 'if (this.#stall.since !== undefined) {',
    replace: 'if (this.#isClosed) {',
  },
  {
    name: 'a job that is tried again waits for as long as the clock was set back',
    file: 'src/jobs/type-runner.ts',
    find: '!this.#waitsTooLong(one.value, time) &&',
    replace: '',
  },
  {
    name: 'a task is failed for good by a start that cannot read',
    file: 'src/services/rules/service.ts',
    find: 'if (isAway(error)) throw error',
    replace: '',
  },
  {
    name: 'payloads are converted by what a converter was',
    file: 'src/services/converter/converters.ts',
    find: 'this.#kept.clear()\n    return isNew',
    replace: 'return isNew',
  },
  {
    name: 'a stored query is made where there is one',
    file: 'src/services/queries/stored/stored-queries.ts',
    find: "collection.put(entity.name, record, 'absent')",
    replace: 'collection.put(entity.name, record)',
  },
  {
    name: 'tasks that were at work are not called again after a crash',
    file: 'src/core/task/restore.ts',
    find: "if (phase !== 'queued' && phase !== 'called' && phase !== 'behind') return",
    replace: "if (phase !== 'queued' && phase !== 'behind') return",
  },
  {
    name: 'the log of inputs is played from its beginning without states',
    file: `${RULES}/recovery.ts`,
    find: 'if (record.resources.some((resource) => isLater(this.#lastOfResource.get(resource)))) return true',
    replace: '',
  },
  {
    name: 'answers in the log are asked for again when it is played',
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
    name: 'the lease of a command outlives the host that had it',
    file: 'src/services/resources/commands/command-runner.ts',
    find: 'lease.session === time.session',
    replace: 'true',
  },
  {
    name: 'a resource is checked by a constraint that is no more',
    file: 'src/services/resources/resource-writer.ts',
    find: 'return typeId === undefined',
    replace: 'if (typeId !== null) return save()\n    return typeId === undefined',
  },
  {
    name: 'an operation on a type that met an outage waits for the next start',
    file: 'src/services/resources/type-work.ts',
    find: 'this.#retries.set(typeId, later(RETRY_MS, again))',
    replace: 'void again',
  },
  {
    name: 'a key that was removed is good for two minutes',
    file: 'src/host/auth/remembered-checks.ts',
    find: 'export const REMEMBERED_MS = 60_000',
    replace: 'export const REMEMBERED_MS = 120_000',
  },
  {
    name: 'a key that is known to be removed is good for a minute',
    file: 'src/host/auth/key-changes.ts',
    find: 'moment > this.#changed &&',
    replace: '',
  },
  {
    name: 'content that was replaced stays',
    file: 'src/services/objects/object-writer.ts',
    find: ': [orphans.orphaning(before.value.content)]),',
    replace: ': []),',
  },
  {
    name: 'a content that became an object stays claimed',
    file: 'src/services/objects/object-writer.ts',
    find: 'return this.#commit({ record, expect, cause, writes: async () => [ending] })',
    replace: 'void ending\n      return this.#commit({ record, expect, cause, writes: async () => [] })',
  },
  {
    name: 'a state that is stored at last makes an outage count for calls',
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
    name: 'what is imported is not on the disk when the import goes on',
    file: 'src/services/broker/service.ts',
    find: 'await this.#dependencies.store.series.append({ samples, synced: true })',
    replace: 'await this.#dependencies.store.series.append({ samples })',
  },
  {
    name: 'deliveries of a run that is over are listed before they are stored',
    file: `${RULES}/ended-deliveries.ts`,
    find: 'const isOfRun = (one: DeliveryRecord): boolean => this.#deterministic.isOfRun(id, one.id)',
    replace: 'const isOfRun = (): boolean => true',
    about: 'ends of runs',
  },
  {
    name: 'the first delivery of a run takes the place of the last of the one before',
    file: `${RULES}/deterministic-engine.ts`,
    find: 'const delivered = Math.max(d, await this.#drop(t))',
    replace: 'await this.#drop(t); const delivered = d',
    about: 'ends of runs',
  },
  {
    name: 'that a change of an object was handed on is stored after it reached rules',
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
    name: 'a call of a webscript that fails twice is given up',
    file: 'src/services/objects/subscriptions/delivery-jobs.ts',
    find: 'if (attempts >= DELIVERY_ATTEMPTS) return',
    replace: 'if (attempts >= 2) return',
  },
  {
    name: 'commands go by the clock of a host that starts',
    file: 'src/services/resources/commands/command-runner.ts',
    find: 'for (const id of await newestIds(this.#store)) this.#goOnAfter(id)',
    replace: '',
    about: 'commands',
  },
]
