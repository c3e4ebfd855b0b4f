/** Tests crashes at any commit: the next process continues as if there had been only one. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Ports, Rule } from '../../../../src/index.ts'
import type { RunnableTask } from '../../../../src/services/rules/runner.ts'
import { Ground, runnableOf, TENANT, type Life } from './support/lives.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

/** Uses a cool-down, eviction, a chance, an asynchronous sensor behind a gate, and outgoing calls that are retried. */
const REACTIVE: Rule = {
  sensors: [
    { label: 'level', name: 'level', version: '1.0.0', resource: '$', evictionTime: 7000 },
    { label: 'ask', name: 'ask', version: '1.0.0', resource: '$' },
  ],
  relations: [
    {
      label: 'both',
      type: 'AND',
      parentLabels: ['level', 'ask'],
      combinations: [['HIGH', 'YES']],
    },
  ],
  actuators: [
    {
      label: 'send',
      name: 'send',
      version: '1.0.0',
      timeout: 'PT20S',
      retryConfig: { maxRetries: 2, minBackoff: 'PT2S', maxBackoff: 'PT4S' },
    },
    { label: 'note', name: 'note', version: '1.0.0' },
  ],
  triggers: [
    { sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'], invocationPolicy: 3 },
    { sourceLabel: 'both', destinationLabel: 'note', statesTrigger: ['TRUE'] },
  ],
  task: { type: 'reactive' },
}

const PERIODIC: Rule = {
  sensors: [
    { label: 'count', name: 'count', version: '1.0.0' },
    { label: 'level', name: 'level', version: '1.0.0', resource: '$' },
  ],
  actuators: [{ label: 'send', name: 'send', version: '1.0.0', timeout: 'PT5S' }],
  triggers: [
    {
      sourceLabel: 'count',
      destinationLabel: 'send',
      stateChangeTrigger: { stateFrom: 'ODD', stateTo: 'EVEN' },
    },
  ],
  task: { type: 'periodic', frequency: 2000 },
}

/** Everything answers at once, so that the task stays in a quiet lane except during replays. */
const CALM: Rule = {
  sensors: [{ label: 'level', name: 'bound', version: '1.0.0', resource: '$' }],
  actuators: [{ label: 'note', name: 'note', version: '1.0.0' }],
  triggers: [{ sourceLabel: 'level', destinationLabel: 'note', statesTrigger: ['HIGH'] }],
  task: { type: 'reactive' },
}

/** Calls that wait for each other, over a list, with a secret and with metadata. */
const QUEUED: Rule = {
  sensors: [{ label: 'level', name: 'level', version: '1.0.0', resource: '$' }],
  actuators: [
    {
      label: 'send',
      name: 'send',
      version: '1.0.0',
      timeout: 'PT20S',
      properties: { text: '${vault.KEY} ${streamdata.level}' },
      retryConfig: { maxRetries: 2, minBackoff: 'PT2S', maxBackoff: 'PT4S' },
    },
    {
      label: 'each',
      name: 'send',
      version: '1.0.0',
      timeout: 'PT20S',
      properties: { text: '${loop.id} ${task.resource.meta.floor}' },
      loopDef: '[{"id":1},{"id":2}]',
    },
  ],
  triggers: [
    { sourceLabel: 'level', destinationLabel: 'send', statesTrigger: ['HIGH'] },
    { sourceLabel: 'level', destinationLabel: 'each', statesTrigger: ['HIGH'] },
  ],
  task: { type: 'reactive' },
}

const PORTS: Ports = { secret: () => 'sesame', metadata: () => ({ floor: 3 }) }
const RULES: Readonly<Record<string, Rule>> = { a: REACTIVE, b: PERIODIC, c: REACTIVE, d: CALM, e: QUEUED }

interface ChangeBody {
  readonly k: string
  readonly t?: string
  readonly b?: { readonly settings: { readonly tags?: { readonly number?: number } } }
}

type Step =
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'send'; readonly resource: string; readonly level: number }
  | { readonly do: 'push' | 'run' | 'begin' | 'end'; readonly task: string }
  | { readonly do: 'change'; readonly task: string; readonly touches: 'nothing' | 'sensor' | 'actuator' }
  | { readonly do: 'answer'; readonly error?: string }
  /** an input that writes the current time to the disk */
  | { readonly do: 'stamp' }

const task = fc.constantFrom(...Object.keys(RULES))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4000 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      resource: fc.constantFrom('x', 'y'),
      level: fc.constantFrom(1, 12, 13),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('push' as const, 'run' as const), task }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('begin' as const, 'end' as const), task }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      task,
      touches: fc.constantFrom('nothing', 'sensor', 'actuator'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('answer' as const), error: fc.constant('no') }, { requiredKeys: ['do'] }),
  },
)

/** Returns a changed task, each time a different one. */
function changed(before: RunnableTask, touches: 'nothing' | 'sensor' | 'actuator', number: number): RunnableTask {
  const { sensors = [], actuators = [], ...rest } = before.source as Rule
  const eviction = touches === 'sensor' && { evictionTime: 5000 + number }
  const timeout = touches === 'actuator' && { timeout: `PT${20 + number}S` }
  const source: Rule = {
    ...rest,
    sensors: sensors.map((sensor, i) => (i === 0 ? { ...sensor, ...eviction } : sensor)),
    actuators: actuators.map((actuator, i) => (i === 0 ? { ...actuator, ...timeout } : actuator)),
  }
  return { ...before, source, settings: { ...before.settings, tags: { number } } }
}

/** Stores the service's documents, executes the steps, and retries what was not acknowledged. */
class Keeper {
  readonly ground = new Ground()
  readonly running = new Map<string, RunnableTask>()
  readonly #epochs = new Map<string, number>()
  /** Number of changes so far */
  #changes = 0
  /** The change in progress, which becomes durable together with its document */
  #changing: { readonly before: RunnableTask; readonly task: RunnableTask } | undefined
  readonly #cuts: number[]
  #opened = 0
  /** The expected time if no process had died */
  #now = 0
  life: Life

  constructor(cuts: readonly number[]) {
    this.ground.outside.answersAtOnce = false
    this.#cuts = [...cuts]
    this.life = this.#open(0)
  }

  async do(step: Step): Promise<void> {
    if (step.do === 'wait') this.#now += step.ms
    if (step.do === 'answer') return this.#answer(step.error)
    if (step.do === 'begin' || step.do === 'end') {
      await this.do({ do: 'stamp' })
      this.#document(step.do, step.task)
    }
    const before = step.do === 'change' ? this.running.get(step.task) : undefined
    if (step.do === 'change' && before !== undefined) {
      this.#changing = { before, task: changed(before, step.touches, ++this.#changes) }
    }
    for (let isDone = false; !isDone;) {
      isDone = (await this.#isAcknowledged(step)) || step.do === 'begin' || step.do === 'end'
      await this.present()
    }
  }

  /** Waits until a living process has done everything that is due. */
  async present(): Promise<void> {
    await this.life.rest()
    while (this.life.isDead) {
      await this.restart()
      await this.life.to(this.#now)
    }
  }

  /** Answers open calls with that id until none is repeated. */
  async #answer(error: string | undefined): Promise<void> {
    const { outside } = this.ground
    const [id] = outside.open.toSorted()
    for (let isAsked = id !== undefined; isAsked; isAsked = outside.open.includes(id ?? '')) {
      outside.answer(id ?? '', error)
      await this.present()
    }
  }

  /** Executes a step; false: the process died before acknowledging it. */
  async #isAcknowledged(step: Exclude<Step, { do: 'answer' }>): Promise<boolean> {
    const { life } = this
    await life.to(this.#now)
    if (life.isDead) return false
    try {
      await this.#try(step)
      return true
    } catch (error) {
      if (!life.isDead) throw error
      return false
    }
  }

  async #try(step: Exclude<Step, { do: 'answer' }>): Promise<void> {
    const { life } = this
    switch (step.do) {
      case 'wait':
        return
      case 'stamp':
        return life.begin(runnableOf('stamp', RULES['a'] ?? {}, { resource: 'z' }, this.#now + 1))
      case 'send':
        return void (await life.send(step.resource, { level: step.level }))
      case 'change': {
        if (this.#changing === undefined) return
        const { task: next, before } = this.#changing
        await life.change(next, before)
        return this.#changedDocument()
      }
      case 'begin': {
        const begun = this.running.get(step.task)
        return begun && life.begin(begun)
      }
      case 'end':
        return life.end(step.task, this.#epochs.get(step.task))
      case 'push':
        if (!this.running.has(step.task)) return
        return life.runner.nodes.push(step.task, 'level', { state: 'HIGH', rawData: { by: 'hand' } })
      case 'run':
        if (!this.running.has(step.task)) return
        return life.runner.nodes.command(step.task, 'level', 'start')
    }
  }

  #changedDocument(): void {
    const { task: next } = this.#changing ?? {}
    if (next !== undefined) this.running.set(next.id, next)
    this.#changing = undefined
  }

  /** Stores what the service writes before it calls the runner. */
  #document(what: 'begin' | 'end', id: string): void {
    if (what === 'end') return void this.running.delete(id)
    const epoch = (this.#epochs.get(id) ?? 0) + 1
    this.#epochs.set(id, epoch)
    this.running.set(id, runnableOf(id, RULES[id] ?? {}, { resource: id === 'c' ? 'y' : 'x' }, epoch))
  }

  /** Starts the next process at once, with the time as the disk knows it. */
  async restart(): Promise<void> {
    const { storage } = this.life
    const store = storage.tenant(TENANT)
    const mark = await store.collection<{ time: number }>({ name: 'rule_marks', version: 1, fields: {} }).get('inputs')
    const { first, last } = await store.log('log').bounds()
    const [entry] = last < first ? [] : await store.log('log').read(last - 1, 1)
    const entries = await store.log('log').read(first - 1, 10_000)
    // Holds LOG-6
    const times = entries.flatMap(({ body }) => (body as { at?: number }).at ?? [])
    if (times.some((time, i) => time < (times[i - 1] ?? time))) throw new Error('the times of inputs go back')
    const { before } = this.#changing ?? {}
    const isChange = ({ k, t, b }: ChangeBody): boolean =>
      k === 'change' && t === before?.id && b?.settings.tags?.number === before?.settings.tags?.['number']
    if (entries.some(({ body }) => isChange(body as unknown as ChangeBody))) this.#changedDocument()
    const at = Math.max(mark?.value.time ?? 0, (entry?.body as { at?: number } | undefined)?.at ?? 0)
    await this.life.crash()
    this.life = this.#open(at)
    try {
      await this.life.runner.resume([...this.running.values()])
      await this.life.rest()
    } catch (error) {
      if (!this.life.isDead) throw error
    }
    if (this.life.isDead) await this.restart()
  }

  #open(at: number): Life {
    // checkpoints are frequent in every other life, with default settings in between
    const often = this.#opened++ % 2 === 0 ? { checkpointMs: 500 } : {}
    return this.ground.open({ at, ports: PORTS, ...often, commits: this.#cuts.shift() ?? Number.POSITIVE_INFINITY })
  }

  /**
   * Returns everything visible about the present runs. A crash may only change when attempts were made, and a run
   * replaced while the process died leaves nothing.
   */
  async seen(): Promise<unknown> {
    const tasks: unknown[] = []
    const runs = [...this.running.values()].map(({ id, epoch }) => `${id}/${epoch}/`)
    const isPresent = (id: string) => runs.some((run) => id.startsWith(run))
    for (const id of [...this.running.keys()].sort()) {
      const deliveries = await this.life.runner.nodes.deliveries(id, { limit: 1000 })
      const told = deliveries.map(({ lastAttemptTime: _time, ...delivery }) => delivery)
      tasks.push([
        this.life.look(id),
        told.filter((one) => isPresent(one.id)).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      ])
    }
    // at least once: the same call may be repeated under the same id
    const once = (ids: readonly string[]) => [...new Set(ids.filter(isPresent))].sort()
    return { tasks, calls: once(this.ground.outside.calls), open: once(this.ground.outside.open) }
  }
}

async function lived(steps: readonly Step[], cuts: readonly number[]): Promise<unknown> {
  const keeper = new Keeper(cuts)
  for (const id of Object.keys(RULES)) await keeper.do({ do: 'begin', task: id })
  for (const each of steps) await keeper.do(each)
  const seen = await keeper.seen()
  await keeper.life.close()
  return seen
}

// Holds REPLAY-2, REPLAY-3, RUNNER-2
describe('a crash', () => {
  it('at any commits has no effect on results', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
        async (steps, cuts) => {
          expect(await lived(steps, cuts)).toEqual(await lived(steps, []))
        },
      ),
      runs(100),
    )
  })
})
