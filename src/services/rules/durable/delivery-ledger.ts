/** Lists the calls of asynchronous actuators, open and ended; a replay rebuilds the list with the same ids. */
import type { Execution, LiveTask, Outcome } from '#core/spi'
import type { Delivery } from '../inspection/inspection-schema.ts'
import type { DeliveryRecord, OpenDelivery } from './records.ts'

type Open = { -readonly [K in keyof OpenDelivery]: OpenDelivery[K] }

interface Page {
  count: number
  readonly open: Map<string, Open>
  /** properties of open calls, which a failed delivery keeps */
  readonly calls: Map<string, Readonly<Record<string, unknown>>>
}

/** maximum length of the properties that a failed delivery keeps, as JSON */
const MAX_KEPT = 16_384

const NO_ANSWER = 'the result was late, or the call was cancelled'

/** Deliveries since the start of the process; `retried` counts failed calls that were followed by another. */
export type DeliveryCounts = Readonly<Record<'delivered' | 'dead' | 'retried', number>>

export class DeliveryLedger {
  readonly counts = { delivered: 0, dead: 0, retried: 0 }
  /** by task: deliveries that ended and are not stored yet */
  readonly fresh = new Map<string, DeliveryRecord[]>()
  readonly #pages = new Map<string, Page>()
  readonly #retried: ((task: string, delivery: Delivery) => void) | undefined

  /** `retried`: called with each delivery whose call failed and is going to be repeated. */
  constructor(retried?: (task: string, delivery: Delivery) => void) {
    this.#retried = retried
  }

  begin(task: string, count: number, open: readonly OpenDelivery[] = []): void {
    if (count === 0 && open.length === 0) return void this.#pages.delete(task)
    this.#pages.set(task, { count, open: new Map(open.map((one) => [one.id, { ...one }])), calls: new Map() })
  }

  /** Drops the open deliveries of a task that leaves the engine; its ended deliveries are still stored. */
  leave(task: string): void {
    this.#pages.delete(task)
  }

  forget(task: string): void {
    this.#pages.delete(task)
    this.fresh.delete(task)
  }

  addFresh(task: string, records: readonly DeliveryRecord[]): void {
    if (records.length > 0) this.fresh.set(task, [...records, ...(this.fresh.get(task) ?? [])])
  }

  count(task: string): number {
    return this.#pages.get(task)?.count ?? 0
  }

  /** Returns the ids of tasks with open deliveries, or with ended ones that are not stored yet. */
  tasks(): ReadonlySet<string> {
    return new Set([...this.#pages.keys(), ...this.fresh.keys()])
  }

  open(task: string): readonly OpenDelivery[] {
    return [...(this.#pages.get(task)?.open.values() ?? [])]
  }

  /** Lists a call that waits for earlier calls on the same target. */
  waits(task: string, effect: string, execution: Execution): void {
    if (execution.node.kind !== 'actuator') return
    const fresh = freshOf(effect, execution)
    this.#page(task).open.set(fresh.id, fresh)
  }

  /** `effect`: id of the effect. `isAgain`: the call was open before the restart that is being replayed. */
  called(task: string, effect: string, execution: Execution, now: number, isAgain: boolean): void {
    if (execution.node.kind !== 'actuator') return
    const page = this.#page(task)
    const fresh = freshOf(effect, execution)
    const delivery = page.open.get(fresh.id) ?? fresh
    delivery.status = 'pending'
    delivery.attempts = execution.attempt + 1
    delete delivery.nextAttemptTime
    delete delivery.error
    delete delivery.gave
    if (!isAgain) delivery.lastAttemptTime = now
    page.open.set(fresh.id, delivery)
    const rendered = execution.rendered?.[execution.item]
    if (rendered !== undefined && !execution.node.call.isConstant) page.calls.set(fresh.id, rendered)
  }

  has(task: string, execution: Execution): boolean {
    return this.#of(task, execution) !== undefined
  }

  answered(task: string, execution: Execution, outcome: Outcome): void {
    const delivery = this.#of(task, execution)
    if (delivery === undefined) return
    if (!outcome.ok) delivery.gave = { error: outcome.error }
    else delivery.gave = outcome.message === undefined ? {} : { message: outcome.message }
  }

  touched(task: LiveTask): void {
    const page = this.#pages.get(task.id)
    if (page === undefined || page.open.size === 0) return
    for (const delivery of page.open.values()) {
      const execution = task.execution(delivery.execution)
      if (execution === undefined || execution.item !== delivery.item) {
        page.open.delete(delivery.id)
        this.#end(task.id, page, delivery)
      } else if (execution.phase === 'retrying') {
        const isAgain = delivery.status === 'retrying'
        delivery.status = 'retrying'
        delivery.nextAttemptTime = execution.wakeAt
        delivery.error = delivery.gave?.error ?? delivery.error ?? NO_ANSWER
        if (!isAgain) {
          this.counts.retried++
          this.#retried?.(task.id, delivery)
        }
      }
    }
  }

  #end(task: string, page: Page, open: Open): void {
    const { execution: _execution, item: _item, nextAttemptTime: _next, error, gave, ...delivery } = open
    const { message } = gave ?? {}
    const call = page.calls.get(open.id)
    page.calls.delete(open.id)
    const result: Partial<DeliveryRecord> & Pick<Delivery, 'status'> =
      gave !== undefined && gave.error === undefined
        ? { status: 'delivered', ...(message !== undefined && { message }) }
        : { status: 'dead', error: gave?.error ?? error ?? NO_ANSWER, ...(isSmall(call) && { call }) }
    this.counts[result.status === 'delivered' ? 'delivered' : 'dead']++
    const record: DeliveryRecord = { ...delivery, ...result, task, number: page.count++ }
    const list = this.fresh.get(task)
    if (list) list.push(record)
    else this.fresh.set(task, [record])
  }

  #of(task: string, { id, item }: Execution): Open | undefined {
    for (const delivery of this.#pages.get(task)?.open.values() ?? []) {
      if (delivery.execution === id && delivery.item === item) return delivery
    }
    return undefined
  }

  #page(task: string): Page {
    let page = this.#pages.get(task)
    if (page === undefined) this.#pages.set(task, (page = { count: 0, open: new Map(), calls: new Map() }))
    return page
  }
}

function isSmall(call: Readonly<Record<string, unknown>> | undefined): call is Readonly<Record<string, unknown>> {
  return call !== undefined && JSON.stringify(call).length <= MAX_KEPT
}

function freshOf(effect: string, { node, id: execution, item, items, placedAt: createTime }: Execution): Open {
  const { name, version } = node.call.plug
  const id = items === null ? effect : `${effect}#${item}`
  const of = { id, node: node.label, plug: `${name}:${version}` }
  return { ...of, createTime, execution, item, status: 'pending', attempts: 0 }
}
