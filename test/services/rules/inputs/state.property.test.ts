/** Tests that a task replayed to an instant from stored inputs equals what was visible then. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ports, Rule } from '../../../../src/index.ts'
import type { Generate } from '../../../../src/core/spi.ts'
import { AppError } from '../../../../src/kernel/errors.ts'
import { generatorHere } from '../../../../src/platform/generate.ts'
import type { TaskStateView } from '../../../../src/services/rules/inputs/inputs-schema.ts'
import type { RunnableTask } from '../../../../src/services/rules/runner.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import { Ground, runnableOf, type Life } from '../durable/support/lives.ts'

const SEND = {
  label: 'send',
  name: 'send',
  version: '1.0.0',
  timeout: 'PT20S',
  retryConfig: { maxRetries: 2, minBackoff: 'PT2S', maxBackoff: 'PT4S' },
}
const LEVEL = { label: 'level', name: 'level', version: '1.0.0', resource: '$' }

/** Uses a cool-down, eviction, a chance, an asynchronous sensor behind a gate, and outgoing calls that are retried. */
const REACTIVE: Rule = {
  sensors: [
    { ...LEVEL, evictionTime: 7000 },
    { label: 'ask', name: 'ask', version: '1.0.0', resource: '$' },
  ],
  relations: [{ label: 'both', type: 'AND', parentLabels: ['level', 'ask'], combinations: [['HIGH', 'YES']] }],
  actuators: [SEND, { label: 'note', name: 'note', version: '1.0.0' }],
  triggers: [
    { sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'], invocationPolicy: 3 },
    { sourceLabel: 'both', destinationLabel: 'note', statesTrigger: ['TRUE'] },
  ],
  task: { type: 'reactive' },
}

const PERIODIC: Rule = {
  sensors: [{ label: 'count', name: 'count', version: '1.0.0' }, LEVEL],
  actuators: [{ ...SEND, timeout: 'PT5S' }],
  triggers: [
    { sourceLabel: 'count', destinationLabel: 'send', stateChangeTrigger: { stateFrom: 'ODD', stateTo: 'EVEN' } },
  ],
  task: { type: 'periodic', frequency: 2000 },
}

/** A row of a batch while it is live. */
const CALM: Rule = {
  sensors: [{ label: 'level', name: 'bound', version: '1.0.0', resource: '$' }],
  actuators: [{ label: 'note', name: 'note', version: '1.0.0' }],
  triggers: [{ sourceLabel: 'level', destinationLabel: 'note', statesTrigger: ['HIGH'] }],
  task: { type: 'reactive' },
}

/** Calls over a list, with a secret and with metadata. */
const ASKING: Rule = {
  sensors: [LEVEL],
  actuators: [
    {
      ...SEND,
      properties: { text: '${vault.KEY} ${task.resource.meta.floor} ${loop.id}' },
      loopDef: '[{"id":1},{"id":2}]',
    },
  ],
  triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'] }],
  task: { type: 'reactive' },
}

/** A row, live and in a replay: a sensor that remembers, and calls that end later. */
const IN_ROWS: Rule = {
  sensors: [{ label: 'level', name: 'count', version: '1.0.0', resource: '$' }],
  actuators: [{ ...SEND, properties: { text: '{{level.seen}}' } }],
  triggers: [{ sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['ODD'] }],
  task: { type: 'reactive' },
}

const PORTS: Ports = { secret: () => 'sesame', metadata: () => ({ floor: 3 }) }
const RULES: Readonly<Record<string, Rule>> = { a: REACTIVE, b: PERIODIC, c: CALM, d: ASKING, e: IN_ROWS }
const KEEP = { ageMs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY, checkpointMs: 5_000 }

type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'send'; readonly resource: string; readonly level: number; readonly age: number | null }
  | { readonly do: 'push' | 'run' | 'begin' | 'end' | 'change'; readonly task: string }
  | { readonly do: 'answer'; readonly error?: string }
  | { readonly do: 'look' | 'round' | 'flush' | 'stop' | 'crash' }

const task = fc.constantFrom(...Object.keys(RULES))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 4000 }), fc.constant(70_000)),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      resource: fc.constantFrom('x', 'y', 'other'),
      level: fc.constantFrom(1, 12, 13),
      age: fc.constantFrom(null, 0, 3_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('push' as const, 'run' as const), task }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('begin' as const, 'end' as const, 'change' as const), task }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('answer' as const), error: fc.constant('no') }, { requiredKeys: ['do'] }),
  },
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'look' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Step>({ do: 'round' }, { do: 'flush' }, { do: 'stop' }, { do: 'crash' }),
  },
)

interface Look {
  readonly id: string
  readonly seen: TaskStateView
  readonly epoch: number
}

class Host {
  readonly looks: Look[] = []
  life: Life
  readonly #ground = new Ground()
  readonly #running = new Map<string, RunnableTask>()
  readonly #epochs = new Map<string, number>()
  readonly #generate: Generate | undefined
  #changes = 0
  #now = 0

  constructor(generate: Generate | undefined) {
    this.#generate = generate
    this.#ground.outside.answersAtOnce = false
    this.life = this.#open()
  }

  async take(one: Step): Promise<void> {
    const { life } = this
    switch (one.do) {
      case 'wait':
        this.#now += one.ms
        return life.to(this.#now)
      case 'send': {
        const stamp = one.age !== null && { timestamp: this.#now - one.age }
        await life.send(one.resource, { level: one.level, ...stamp })
        return life.rest()
      }
      case 'answer': {
        const [id] = this.#ground.outside.open.toSorted()
        if (id !== undefined) this.#ground.outside.answer(id, one.error)
        return life.rest()
      }
      case 'look':
        for (const id of Object.keys(RULES))
          this.looks.push({ id, seen: await this.#past(id), epoch: this.#running.get(id)?.epoch ?? 0 })
        return
      case 'round':
        return life.runner.inputs?.round()
      case 'flush':
        return life.runner.inputs?.round(true)
      case 'stop':
      case 'crash':
        await (one.do === 'stop' ? life.close() : life.crash())
        this.life = this.#open()
        await this.life.runner.resume([...this.#running.values()])
        return this.life.rest()
      default:
        await this.#ofTask(one.do, one.task)
        return life.rest()
    }
  }

  /** Returns the task at an instant, or now. */
  async #past(id: string, at?: number): Promise<TaskStateView> {
    return JSON.parse(JSON.stringify(await this.life.runner.past.state(id, at))) as TaskStateView
  }

  /**
   * Returns pairs of what was visible and what a replay shows, without instants at which further inputs arrived
   * afterwards.
   */
  async replayed(): Promise<readonly { readonly seen: unknown; readonly replayed: unknown }[]> {
    const pairs: { seen: unknown; replayed: unknown }[] = []
    for (const { id, seen, epoch } of this.looks) {
      const isOver = epoch !== this.#running.get(id)?.epoch
      const replayed = await this.#past(id, seen.at).catch((error: unknown) => {
        // the run ended before its first checkpoint
        if (isOver && error instanceof AppError && error.code === 'NOT_FOUND') return undefined
        throw error
      })
      if (replayed === undefined) continue
      const [next] = await this.#after(seen.position)
      if (next !== undefined && next <= seen.at) continue
      pairs.push({ seen: { id, ...seen, position: 0 }, replayed: { id, ...replayed, position: 0 } })
    }
    return pairs
  }

  async #after(position: number): Promise<readonly number[]> {
    for await (const batch of this.life.runner.inputs?.read({ after: position, tasks: Object.keys(RULES) }) ?? []) {
      return batch.map(({ input }) => input.at)
    }
    return []
  }

  async #ofTask(what: 'push' | 'run' | 'begin' | 'end' | 'change', id: string): Promise<void> {
    const { life } = this
    const running = this.#running.get(id)
    if (what === 'begin') {
      const epoch = (this.#epochs.get(id) ?? 0) + 1
      const next = runnableOf(id, RULES[id] ?? {}, { resource: id === 'c' ? 'y' : 'x' }, epoch)
      await life.begin(next)
      this.#epochs.set(id, epoch)
      return void this.#running.set(id, next)
    }
    if (running === undefined) return
    if (what === 'end') {
      await life.end(id, running.epoch)
      return void this.#running.delete(id)
    }
    if (what === 'change') {
      const source = running.source as Rule
      const [first, ...others] = source.sensors ?? []
      const sensors = first === undefined ? [] : [{ ...first, evictionTime: 5000 + ++this.#changes }, ...others]
      const next = { ...running, source: { ...source, sensors } }
      await life.change(next, running)
      return void this.#running.set(id, next)
    }
    const nodes = life.runner.nodes
    const state = id === 'e' ? 'ODD' : 'HIGH'
    if (what === 'push') return nodes.push(id, 'level', { state, rawData: { by: 'hand' } })
    return nodes.command(id, 'level', 'start')
  }

  #open(): Life {
    // an immediate answer is not in the log, so the copy calls a plug that does not act again
    const plugs = this.#ground.outside.plugs.map((plug) =>
      plug.name === 'note' ? { ...plug, acts: false as const } : plug,
    )
    return this.#ground.open({ at: this.#now, ports: PORTS, keepInputs: KEEP, plugs, generate: this.#generate })
  }
}

describe('the state of a task at an instant', () => {
  it('is the one that was shown then, whatever came after, and across restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), fc.boolean(), async (steps, inRows) => {
        const host = new Host(inRows ? generatorHere() : undefined)
        for (const id of Object.keys(RULES)) await host.take({ do: 'begin', task: id })
        for (const one of steps) await host.take(one)
        await host.take({ do: 'look' })
        const pairs = await host.replayed()
        await host.life.close()
        expect(pairs.map(({ replayed }) => replayed)).toEqual(pairs.map(({ seen }) => seen))
      }),
      runs(300),
    )
  })
})
