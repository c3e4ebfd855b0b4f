/** Random lives of workers: what happens to a plant, and a comparison with the plain fold over its input. */
import fc from 'fast-check'
import { type Fault, MemoryBroker } from './memory-broker.ts'
import { callRule, limitRule, on, pairRule, silenceRule } from './plant.ts'
import {
  type Folded,
  type PlantTask,
  outputsOf,
  plainFold,
  publish,
  type RunningWorker,
  settle,
  startWorker,
  statesOf,
} from './worker-world.ts'

const RESOURCES = ['r0', 'r1', 'r2', 'r3', 'r4']

const rule = fc.oneof(
  fc.integer({ min: 1, max: 9 }).map((limit) => limitRule(limit)),
  fc.constantFrom(3_000, 20_000).map((ms) => silenceRule(ms)),
  fc
    .record({ other: fc.constantFrom(...RESOURCES), limit: fc.integer({ min: 1, max: 9 }) })
    .map(({ other, limit }) => pairRule(other, limit)),
  fc.constant(callRule()),
)
export const tasks = fc
  .array(fc.record({ rule, resource: fc.constantFrom(...RESOURCES) }), { minLength: 1, maxLength: 5 })
  .map((list) => list.map((one, i): PlantTask => ({ id: `t${i}`, rule: one.rule, settings: on(one.resource) })))

export type Act =
  | {
      readonly do: 'send'
      readonly resource: string
      readonly value: number
      readonly behind: number
      readonly isBroken: boolean
    }
  | { readonly do: 'step' | 'kill' | 'freeze' | 'thaw' | 'hold' | 'release' | 'repeat'; readonly at: number }
  | { readonly do: 'fault'; readonly at: number; readonly fault: Fault }
  | { readonly do: 'join' | 'rebalance' | 'time out' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'change'; readonly limit: number }

const at = fc.nat(9)
export const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      resource: fc.constantFrom(...RESOURCES),
      value: fc.nat(10),
      behind: fc.constantFrom(0, 0, 0, 2_500),
      isBroken: fc.constantFrom(false, false, false, false, true),
    }),
  },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('step' as const), at }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('freeze' as const, 'thaw', 'hold', 'release', 'kill', 'repeat'), at }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      at,
      fault: fc.constantFrom('refused' as const, 'aborted', 'reply lost'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('join' as const, 'rebalance', 'time out') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(400, 5_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('change' as const), limit: fc.integer({ min: 1, max: 9 }) }) },
)

const MAX_WORKERS = 4

class Plant {
  readonly broker: MemoryBroker
  readonly workers: RunningWorker[] = []
  readonly #tasks: readonly PlantTask[]
  #count = 0

  constructor(broker: MemoryBroker, list: readonly PlantTask[]) {
    this.broker = broker
    this.#tasks = list
  }

  join(): void {
    if (this.workers.length < MAX_WORKERS) this.workers.push(startWorker(this.broker, `w${this.#count++}`))
  }

  async do(one: Act): Promise<void> {
    const { broker, workers } = this
    const worker = 'at' in one ? workers[one.at % Math.max(1, workers.length)] : undefined
    if (one.do === 'send') {
      const value = one.isBroken ? '{' : JSON.stringify({ value: one.value, timestamp: broker.now - one.behind })
      broker.append([{ topic: 'in', key: one.resource, value }])
    } else if (one.do === 'wait') broker.now += one.ms
    else if (one.do === 'join') this.join()
    else if (one.do === 'rebalance') broker.rebalance(this.#count++)
    else if (one.do === 'time out') broker.timeOut()
    else if (one.do === 'change')
      await publish(
        broker,
        this.#tasks.map((task, i) => (i === 0 ? { ...task, rule: limitRule(one.limit) } : task)),
      )
    else if (worker === undefined) return
    else if (one.do === 'step') this.#step(worker)
    else if (one.do === 'fault') worker.log.fault = one.fault
    else if (one.do === 'hold') worker.log.hold()
    else if (one.do === 'release') worker.log.release()
    else if (one.do === 'repeat') worker.log.repeats = one.at
    else if (one.do === 'kill') {
      // what it had open stays open until it times out
      workers.splice(workers.indexOf(worker), 1)
      broker.expire(worker.log)
      if (worker.busy !== undefined) worker.log.hold()
    } else if (one.do === 'freeze') {
      // the group goes on without it, and it does not know
      worker.log.isFrozen = true
      broker.expire(worker.log)
    } else if (worker.log.isFrozen) {
      worker.log.isFrozen = false
      broker.rejoin(worker.log)
    }
    broker.now += 100
    await turns()
  }

  async end(): Promise<void> {
    this.broker.timeOut()
    for (const { log } of this.workers) {
      log.release()
      if (log.isFrozen) this.broker.rejoin(log)
      log.isFrozen = false
      log.fault = undefined
    }
    await turns()
    for (const { busy } of this.workers) await busy
    this.join()
    await settle(this.broker, this.workers)
  }

  #step(worker: RunningWorker): void {
    worker.busy ??= worker.worker.step().finally(() => (worker.busy = undefined))
  }
}

async function turns(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
}

export interface Run {
  readonly broker: MemoryBroker
  readonly lived: Folded
  readonly plain: Folded
}

export async function run(
  list: readonly PlantTask[],
  acts: readonly Act[],
  spoil: (broker: MemoryBroker) => void = () => undefined,
): Promise<Run> {
  const broker = new MemoryBroker(3)
  const plant = new Plant(broker, list)
  await publish(broker, list)
  plant.join()
  plant.join()
  await settle(broker, plant.workers)
  spoil(broker)
  for (const one of acts) await plant.do(one)
  await plant.end()
  const lived = { outputs: outputsOf(broker), states: statesOf(plant.workers) }
  return { broker, lived, plain: await plainFold(broker) }
}
