/** Provides subscribers that come and go in property tests, and records what each received, did and saw. */
import fc from 'fast-check'
import type { Subscription } from 'rxjs'
import type { CoreEngine } from '../../src/core/engine/engine.ts'
import type { EngineEvent, EventBatch, EventFilter, EventType, Message } from '../../src/index.ts'

export interface Listens {
  readonly kind: 'listen'
  readonly types: readonly EventType[] | undefined
  /** indexes of tasks */
  readonly tasks: readonly number[] | undefined
  readonly why: boolean
  /** receives the events of an input together, and reads them: on receipt, only some, only firings, or at the end */
  readonly together: 'no' | 'reads' | 'reads some' | 'reads firings' | 'reads later'
  readonly does: 'nothing' | 'look at the task' | 'look at all' | 'send' | 'stop' | 'leave'
}

export interface Leaves {
  readonly kind: 'leave'
  readonly which: number
}

const TYPES: readonly EventType[] = ['data', 'state', 'gate', 'fired', 'held', 'result', 'log', 'tick', 'started']

const types = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<readonly EventType[]>(['fired'], ['fired'], ['held'], ['fired', 'held', 'log']),
  },
  { weight: 2, arbitrary: fc.subarray([...TYPES]) },
  { weight: 1, arbitrary: fc.constant(undefined) },
)

const why = fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) })
const does = fc.constantFrom<Listens['does']>(
  'nothing',
  'nothing',
  'nothing',
  'look at the task',
  'look at all',
  'send',
  'stop',
  'leave',
)

/** Actions at every message that leave rows as rows. */
export const listensTogether: fc.Arbitrary<Listens> = fc.record({
  kind: fc.constant('listen' as const),
  types: fc.constantFrom<readonly EventType[] | undefined>(
    undefined,
    undefined,
    ['state', 'gate', 'held'],
    ['data'],
    ['fired'],
    ['fired', 'held'],
    ['fired', 'log'],
  ),
  tasks: fc.constant(undefined),
  why,
  together: fc.constantFrom('reads', 'reads some', 'reads firings', 'reads later'),
  does,
})

export const listens: fc.Arbitrary<Listens> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('listen' as const),
      types,
      tasks: fc.option(fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 2 }),
      why,
      together: fc.constantFrom('no', 'no', 'reads', 'reads firings', 'reads later'),
      does,
    }),
  },
  { weight: 2, arbitrary: listensTogether },
)

export const leaves: fc.Arbitrary<Leaves> = fc.record({ kind: fc.constant('leave' as const), which: fc.nat(3) })

/** maximum number of messages that a subscriber sends */
const MOST_SENT = 2

export class Listening {
  readonly #engine: CoreEngine
  readonly #note: (text: string) => void
  readonly #subscriptions: Subscription[] = []
  readonly #later: (() => void)[] = []
  heard = 0

  /** `note`: records in one order with everything else */
  constructor(engine: CoreEngine, note: (text: string) => void) {
    this.#engine = engine
    this.#note = note
  }

  do(step: Listens | Leaves): void {
    if (step.kind === 'leave') this.#subscriptions.splice(step.which, 1)[0]?.unsubscribe()
    else this.#add(step)
  }

  /** Reads the events that were kept until the end. */
  end(): void {
    for (const read of this.#later) read()
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
  }

  #add({ types: wanted, tasks, why, together, does }: Listens): void {
    const name = this.#subscriptions.length
    const filter: EventFilter = {
      ...(wanted && { types: wanted }),
      ...(tasks && { tasks: tasks.map((task) => `t${task}`) }),
      ...(!why && { why }),
    }
    let sent = 0
    const take = (event: EngineEvent): void => {
      this.heard++
      this.#note(`${name} hears ${JSON.stringify(event)}`)
      this.#later.push(() => this.#note(`${name} heard ${JSON.stringify(structuredClone({ ...event }))}`))
      if (does === 'leave') subscription?.unsubscribe()
      if (does === 'look at the task') this.#look(event.task)
      if (does === 'look at all') for (const id of this.#engine.tasks.keys()) this.#look(id)
      if (does === 'send' && event.type !== 'log' && sent++ < MOST_SENT) this.#engine.receive(MESSAGE)
      if (does === 'stop' && sent++ === 0) this.#stop(event.task)
    }
    const takeAll = (batch: EventBatch): void => {
      this.#note(`${name} hears ${batch.length}: ${TYPES.map((type) => batch.count(type)).join()}`)
      if (together === 'reads some') this.#note(`${name} reads ${JSON.stringify(batch.at(batch.length >> 1))}`)
      const readFirings = (): void => {
        const firings = batch.firings().map(({ task, node, why }) => {
          return [task, node, why?.trigger, why?.sensors, why?.gates, why?.via, why?.input]
        })
        this.#note(`${name} reads ${JSON.stringify([firings, batch.firings()])}`)
      }
      if (together === 'reads firings') {
        readFirings()
        this.#later.push(readFirings)
      } else if (together === 'reads') for (const event of batch) take(event)
      else {
        this.#later.push(() => {
          for (let i = batch.length - 1; i >= 0; i--) this.#note(`${name} reads ${JSON.stringify(batch.at(i))}`)
        })
      }
    }
    let subscription: Subscription | undefined
    if (together === 'no') subscription = this.#engine.events(filter).subscribe(take)
    else subscription = this.#engine.eventBatches(filter).subscribe(takeAll)
    this.#subscriptions.push(subscription)
  }

  #look(id: string): void {
    const task = this.#engine.tasks.get(id)
    if (task === undefined || task.info().startTime === undefined) return
    const node = [...(task.save().rule.actuators ?? [])].at(0)?.label ?? ''
    this.#note(JSON.stringify([task.info(), task.save(), task.explain(node), task.node(node)]))
  }

  #stop(id: string): void {
    const task = this.#engine.tasks.get(id)
    if (task?.status === 'running') void this.#engine.stop(id).catch(() => undefined)
  }
}

const MESSAGE: Message = { resource: 'r', a: 30, b: 30, say: 'High', act: 'quiet', who: -1, deed: 'none' }
