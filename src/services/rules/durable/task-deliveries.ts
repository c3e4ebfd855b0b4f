/** Lists the deliveries of tasks, open and ended, and makes failed calls again. */
import type { Plug } from '#core'
import { AppError } from '#kernel'
import type { Condition, Store } from '#storage'
import type { Delivery, DeliveryQuery } from '../inspection/inspection-schema.ts'
import type { DeliveryPlace, KeyedDelivery, NodeControl } from '../runner.ts'
import { callAgain } from './call-again.ts'
import type { EngineSettings } from './deterministic-engine.ts'
import type { LiveTasks } from './live-tasks.ts'
import { isShadow } from './shadow-id.ts'
import { DELIVERIES, deliveryId, MAX_DELIVERIES, newestOf, type DeliveryRecord, type OpenDelivery } from './records.ts'

export interface DeliveryDependencies {
  readonly store: Store
  readonly settings: Omit<EngineSettings, 'plugs'>
  readonly plugs: () => readonly Plug[]
  open(): Promise<LiveTasks>
}

/** maximum number of deliveries that are not stored in one list */
const MAX_UNSTORED = 10_000

export class TaskDeliveries implements Pick<
  NodeControl,
  'deliveries' | 'storedDeliveries' | 'unstoredDeliveries' | 'retry'
> {
  readonly #dependencies: DeliveryDependencies
  readonly #retried = new Set<string>()

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies
  }

  async deliveries(id: string, query: DeliveryQuery): Promise<readonly Delivery[]> {
    const tasks = await this.#dependencies.open()
    // reads fresh deliveries before stored ones, so that a delivery stored in between appears twice rather than never
    const fresh = await tasks.deliveries.listed(id)
    const open = tasks.deterministic.ledger.open(id).toReversed()
    const stored = await this.#stored.find(newestOf(id, MAX_DELIVERIES))
    const known = new Set(fresh.map(({ number }) => number))
    const ended = [...fresh.toReversed(), ...stored.map(({ value }) => value).filter((one) => !known.has(one.number))]
    const over = new Set(ended.map((one) => one.id))
    const all: Delivery[] = [
      ...open.filter((one) => !over.has(one.id)).map(shownOpen),
      ...ended.slice(0, MAX_DELIVERIES).map(shown),
    ]
    const start = query.after === undefined ? 0 : all.findIndex((one) => one.id === query.after) + 1
    if (query.after !== undefined && start === 0) return []
    return all
      .slice(start)
      .filter(({ status }) => query.status === undefined || status === query.status)
      .slice(0, query.limit)
  }

  async storedDeliveries(
    { status, limit }: Pick<DeliveryQuery, 'status' | 'limit'>,
    after?: DeliveryPlace,
  ): Promise<readonly KeyedDelivery[]> {
    const where: Condition[] = [{ field: 'time', op: 'exists', value: true }]
    if (status !== undefined) where.push({ field: 'status', op: 'eq', value: status })
    if (after !== undefined) {
      const isSameTime = { field: 'time', op: 'eq', value: after.time } as const
      const older = { field: 'time', op: 'lt', value: after.time } as const
      where.push({ any: [[older], [isSameTime, { field: 'id', op: 'gt', value: after.key }]] })
    }
    const found = await this.#stored.find({ where, sort: [{ field: 'time', descending: true }], limit })
    return found.map(({ id, value }) => ({ ...shown(value), task: value.task, key: id }))
  }

  async unstoredDeliveries(): Promise<readonly KeyedDelivery[]> {
    const { deterministic } = await this.#dependencies.open()
    const { ledger } = deterministic
    const all: KeyedDelivery[] = []
    for (const task of ledger.tasks()) {
      if (isShadow(task)) continue
      for (const one of ledger.open(task)) all.push({ ...shownOpen(one), task, key: `${task}/open/${one.id}` })
      for (const one of ledger.fresh.get(task) ?? [])
        all.push({ ...shown(one), task, key: deliveryId(task, one.number) })
      if (all.length > MAX_UNSTORED) break
    }
    return all.slice(0, MAX_UNSTORED)
  }

  async retry(id: string, delivery: string): Promise<Delivery> {
    const { open, settings, plugs } = this.#dependencies
    const tasks = await open()
    await tasks.deliveries.store(id)
    const stored = await this.#stored.find(newestOf(id, MAX_DELIVERIES))
    const found = stored.find(({ value }) => value.id === delivery)
    if (found === undefined) throw await this.#noneToRetry(id, delivery)
    const { value } = found
    if (value.status !== 'dead')
      throw wrongStatus(`delivery ${delivery} is ${value.status}; only a dead one is retried`)
    tasks.catchUp()
    const task = tasks.deterministic.engine.tasks.get(id)
    if (task?.status !== 'running') throw wrongStatus(`task ${id} does not run; start it, then retry the delivery`)
    if (this.#retried.has(delivery)) throw wrongStatus(`delivery ${delivery} is being retried`)
    this.#retried.add(delivery)
    try {
      const { now } = tasks.deterministic
      const result = await callAgain(value, task, { ...settings, plugs }, now)
      const { error: _error, message: _message, call, ...rest } = value
      const next: DeliveryRecord = {
        ...rest,
        ...result,
        attempts: value.attempts + 1,
        lastAttemptTime: now,
        ...(result.status === 'dead' && call && { call }),
      }
      await this.#stored.put(found.id, next, found.version)
      return shown(next)
    } finally {
      this.#retried.delete(delivery)
    }
  }

  async #noneToRetry(id: string, delivery: string): Promise<AppError> {
    const { deterministic } = await this.#dependencies.open()
    const open = deterministic.ledger.open(id).find((one) => one.id === delivery)
    if (open !== undefined) return wrongStatus(`delivery ${delivery} is ${open.status}; only a dead one is retried`)
    return new AppError('NOT_FOUND', `task ${id} has no delivery ${delivery}`)
  }

  get #stored() {
    return this.#dependencies.store.collection(DELIVERIES)
  }
}

function shownOpen({ execution: _of, item: _item, gave: _gave, ...delivery }: OpenDelivery): Delivery {
  return delivery
}

function shown({ task: _task, number: _number, call: _call, ...delivery }: DeliveryRecord): Delivery {
  return delivery
}

function wrongStatus(text: string): AppError {
  return new AppError('WRONG_STATUS', text)
}
