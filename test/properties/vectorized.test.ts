import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { CoreEngine } from '../../src/core/engine/engine.ts'
import type { Plug } from '../../src/core/plug/plug.ts'
import { VectorizedBatch, MIN_VECTORIZED } from '../../src/core/columnar/vectorized-batch.ts'
import { VectorFailures } from '../../src/core/columnar/vector-failures.ts'
import type { Rule, Sensor } from '../../src/core/rule/rule.ts'
import { VirtualClock, type Message } from '../../src/index.ts'
import { answerNamed, isAnswerName, ODD_ANSWERS, ORDINARY_ANSWERS } from '../support/actuator-answers.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { leaves, listens, listensTogether, Listening, type Leaves, type Listens } from '../support/listening.ts'
import { promisesSettled } from '../support/live-engine.ts'
import { scale } from '../support/scale-plug.ts'
import { stamps, Stamping, type Stamp } from '../support/stamping.ts'
import { actuatorPlug, sensorPlug } from '../support/make-plug.ts'

/** What one task's actuator does with a message; other tasks do their usual actions. */
const DEEDS = [
  'throw',
  'later',
  'log',
  'read',
  'chance',
  'id',
  'look at others',
  'look at the first',
  'look at the last',
  'look at itself',
  ...ORDINARY_ANSWERS,
  ...ODD_ANSWERS,
]

type Step =
  | { kind: 'messages'; messages: readonly Message[]; wait: number }
  | { kind: 'look'; task: number }
  | { kind: 'push'; task: number }
  | { kind: 'listen for one message'; message: Message }
  | { kind: 'stop and start'; task: number }
  | { kind: 'start another'; rule: number }
  | Listens
  | Leaves

interface Case {
  rules: readonly Rule[]
  /** subscribers that exist before rows do */
  first?: Listens | undefined
  calm: readonly Message[]
  steps: readonly Step[]
  /** stamps of its messages */
  stamps?: readonly Stamp[]
}

const level = fc.constantFrom(0, 10, 20, 25, 30, 40)
const rarely = <T>(weight: number, usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: odd })

const habit = rarely(2, fc.constant('none'), fc.constantFrom(...ORDINARY_ANSWERS))
const calmMessage = fc.record({ a: level, b: level, habit }).map((values): Message => {
  return { resource: 'r', who: -1, deed: 'none', ...values }
})
const message: fc.Arbitrary<Message> = rarely(
  2,
  calmMessage,
  fc
    .record({
      a: rarely<unknown>(15, level, fc.constantFrom('warm', null, Number.NaN, 1e10)),
      b: level,
      habit,
      who: fc.nat(MIN_VECTORIZED + 3),
      deed: fc.constantFrom(...DEEDS),
    })
    .map((values): Message => ({ resource: 'r', ...values })),
)
const lacking = fc
  .record({
    message: calmMessage,
    lacks: fc.constantFrom<readonly string[]>(['a'], ['b'], ['a', 'b'], ['deed', 'b']),
    extra: fc.boolean(),
  })
  .map(({ message: all, lacks, extra }): Message => ({
    resource: 'r',
    ...Object.fromEntries(Object.entries(all).filter(([name]) => !lacks.includes(name))),
    ...(extra && { extra: 1 }),
  }))
const messages = rarely(
  30,
  fc.array(rarely(6, message, lacking), { minLength: 1, maxLength: 6 }),
  // more messages than a vectorized batch keeps
  fc.array(calmMessage, { minLength: 3, maxLength: 5 }).map((few) => Array.from({ length: 80 }, () => few).flat()),
)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant('messages' as const),
      messages,
      wait: fc.constantFrom(0, 1, 5),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('look' as const), task: fc.nat(MIN_VECTORIZED + 3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('push' as const), task: fc.nat(MIN_VECTORIZED + 3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('listen for one message' as const), message }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('stop and start' as const), task: fc.nat(MIN_VECTORIZED + 3) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('start another' as const), rule: fc.nat(MIN_VECTORIZED - 1) }),
  },
  { weight: 3, arbitrary: listens },
  { weight: 1, arbitrary: leaves },
)

const STATES = {
  compare: ['Below', 'Equal', 'Above'],
  range: ['Below', 'In Range', 'Above'],
  same: ['Other', 'Same'],
  condition: ['True', 'False'],
  scale: ['Low', 'Middle', 'High'],
  gate: ['TRUE', 'FALSE'],
}

const PLUGS = [
  'compare',
  'compare',
  'compare',
  'condition',
  'condition',
  'condition',
  'range',
  'same',
  'scale',
] as const

/** Generates rules of one form, each with its own limits. */
const rulesWith = (plugs: readonly (typeof PLUGS)[number][]): fc.Arbitrary<readonly Rule[]> =>
  fc
    .record({
      sensors: fc.array(
        fc.record({
          plug: fc.constantFrom(...plugs),
          parameter: fc.constantFrom('a', 'b'),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      gate: fc.constantFrom('AND', 'AND', 'NAND', 'GENERAL', undefined),
      wanted: fc.nat(1),
      row: fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }),
      how: rarely(6, fc.constant('state'), fc.constantFrom('change', 'execution', 'begins')),
      policy: rarely(9, fc.constant(0), fc.constant(0.004)),
      needsAll: fc.boolean(),
      resets: rarely(3, fc.constant(true), fc.constant(false)),
      tells: rarely(5, fc.constant(false), fc.constant(true)),
      limits: fc.array(fc.array(level, { minLength: 3, maxLength: 3 }), {
        minLength: MIN_VECTORIZED,
        maxLength: MIN_VECTORIZED + 4,
      }),
    })
    .map(({ sensors, gate, wanted, row, how, policy, needsAll, resets, tells, limits }) => {
      const labels = sensors.map((_, i) => `s${i}`)
      const states = sensors.map(({ plug }, i) => STATES[plug][(row[i] ?? 0) % STATES[plug].length] ?? '')
      const source = gate === undefined ? `s${sensors.length - 1}` : 'g'
      const all = gate === undefined ? STATES[sensors.at(-1)?.plug ?? 'compare'] : STATES.gate
      const [state = '', other = ''] = [all[wanted % all.length], all[(wanted + 1) % all.length]]
      return limits.map((own): Rule => ({
        sensors: sensors.map(({ plug, parameter }, i): Sensor => {
          const common = { label: `s${i}`, resource: 'r' }
          const limit = own[i] ?? 0
          if (plug === 'condition')
            return { ...common, name: 'condition', properties: { condition: `${limit} <= ${parameter}` } }
          // Overflows in some rows when the message has a large value.
          const factor = limit === 40 ? 1e300 : 2
          if (plug === 'scale')
            return { ...common, name: 'scale', properties: { value: `\${streamdata.${parameter}}`, factor, limit } }
          if (plug === 'same') return { ...common, name: 'same', properties: { parameter, value: own[i] } }
          return plug === 'compare'
            ? { ...common, name: 'streamingDataSensor', properties: { parameter, threshold: own[i] } }
            : { ...common, name: 'streamingRangeSensor', properties: { parameter, target: own[i], range: 5 } }
        }),
        relations: gate === undefined ? [] : [{ label: 'g', type: gate, parentLabels: labels, combinations: [states] }],
        actuators: [{ label: 'a', name: 'act', ...(tells && { properties: { seen: '${streamdata.a}' } }) }],
        triggers: [
          {
            sourceLabel: source,
            destinationLabel: 'a',
            invocationPolicy: policy,
            ...(how === 'state' && { statesTrigger: [state] }),
            ...(how === 'begins' && { begins: [state] }),
            ...(how === 'change' && { stateChangeTrigger: { stateFrom: other, stateTo: state } }),
          },
        ],
        task: { gatesNeedFullObservation: needsAll, resetObservations: resets },
      }))
    })

const cases: fc.Arbitrary<Case> = fc.record({
  rules: rulesWith(PLUGS),
  first: fc.option(
    listensTogether.map((one) => ({ ...one, does: one.does === 'stop' ? ('nothing' as const) : one.does })),
    { nil: undefined, freq: 1 },
  ),
  calm: fc.array(calmMessage, { minLength: 36, maxLength: 44 }),
  steps: fc.array(step, { minLength: 1, maxLength: 12 }),
  stamps,
})

/** Generates messages in which a compared value is sometimes not a number, occasionally several in a row. */
const unevenMessage: fc.Arbitrary<Message> = fc
  .record({
    a: rarely<unknown>(7, level, fc.constantFrom('warm', null, Number.NaN, '25', true)),
    b: rarely<unknown>(12, level, fc.constantFrom(null, Number.NaN)),
    habit: rarely(9, fc.constant('none'), habit),
    who: fc.nat(MIN_VECTORIZED + 3),
    deed: rarely(20, fc.constant('none'), fc.constantFrom(...DEEDS)),
  })
  .map((values): Message => ({ resource: 'r', ...values }))
const unevenStep: fc.Arbitrary<Step> = rarely(
  4,
  fc.record({
    kind: fc.constant('messages' as const),
    messages: fc.array(rarely(40, unevenMessage, lacking), { minLength: 1, maxLength: 30 }),
    wait: fc.constantFrom(0, 1, 5),
  }),
  step,
)
const unevenCases: fc.Arbitrary<Case> = fc.record({
  rules: rulesWith(['compare']),
  calm: fc.array(calmMessage, { minLength: 36, maxLength: 44 }),
  steps: fc.array(unevenStep, { minLength: 1, maxLength: 12 }),
  stamps,
})

/** A plug whose state is the same on both sides of its limit. */
const same = sensorPlug('same', ['Other', 'Same'], {
  input: { parameter: { type: 'string', mandatory: true }, value: { type: 'double', mandatory: true } },
  steps: ({ parameter, value }) => {
    if (typeof parameter !== 'string' || typeof value !== 'number') return undefined
    return { parameter, cuts: [value], states: ['Other', 'Same', 'Other'] }
  },
  execute: (context) => {
    const { parameter, value } = context.properties
    return context.streamValue(parameter) === value ? 'Same' : 'Other'
  },
})

class Run {
  readonly calls: string[] = []
  readonly clock = new VirtualClock(1_000)
  readonly engine: CoreEngine
  readonly listening: Listening
  stamping = new Stamping(this.clock, [])
  /** stamped messages that each task took in vectorized batches */
  stamped = 0
  readonly #open: (() => void)[] = []

  /**
   * `more`: subscribers to everything or to nothing; or no rows exist. `kept`: events of each task; 0: none.
   * `hearsRare`: subscribes to failures, so rows do not take failing messages individually
   */
  constructor(more: 'nobody' | 'somebody' | 'no rows', kept = 0, hearsRare = true) {
    // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the same that the library does
    const generate = (parameters: readonly string[], body: string) => new Function(...parameters, body) as () => unknown
    const onRare = (event: unknown) => void this.calls.push(JSON.stringify(event))
    const latency = more === 'no rows' && { latency: () => 0 }
    const history = kept > 0 && { history: { perTask: kept } }
    const rare = hearsRare && { onRare }
    const common = { ...history, scheduler: this.clock, ids: () => 'unused', seed: 7, generate, ...rare, ...latency }
    this.engine = new CoreEngine({ plugs: [...builtins, same, scale, this.#act()], ...common })
    this.listening = new Listening(this.engine, (text) => this.calls.push(text))
    if (more === 'somebody') this.engine.events$.subscribe(() => undefined)
  }

  #act(): Plug {
    return actuatorPlug('act', {
      input: { seen: { type: 'double' } },
      execute: (context) => {
        const { TASK_ID: id } = context.task
        const does =
          id === `t${String(context.streamValue('who'))}` ? context.streamValue('deed') : context.streamValue('habit')
        this.calls.push(JSON.stringify([id, context.now, does, context.properties]))
        if (does === 'throw') throw new Error('broken')
        if (isAnswerName(does)) return answerNamed(does, context, (answer) => this.#later(answer))
        if (does === 'later') return this.#later(undefined)
        if (does === 'log') context.log.warn('acted')
        if (does === 'read') this.calls.push(JSON.stringify([context.rawData, context.streamData, context.node]))
        if (does === 'chance') this.calls.push(String(context.random()))
        if (does === 'id') this.calls.push(context.id)
        if (does === 'look at others') this.look()
        if (does === 'look at the first') return { message: `saw ${this.lookAt(0)}` }
        if (does === 'look at the last')
          return this.lookAt(-1) === '' ? undefined : { message: `looked at ${context.now}` }
        if (does === 'look at itself') this.calls.push(JSON.stringify(this.engine.tasks.get(id)?.info()))
        if (does === 'look at others') return { message: `looked at ${context.now}` }
        return undefined
      },
    })
  }

  #later<T>(answer: T): Promise<T> {
    return new Promise((resolve) => this.#open.push(() => resolve(answer)))
  }

  /** Returns how often the task has run, or an empty text without a task. */
  lookAt(place: number): string {
    const task = [...this.engine.tasks.values()].at(place)
    this.calls.push(JSON.stringify(task?.save()))
    return String(task?.info().lastExecutionTime ?? '')
  }

  look(): void {
    for (const task of this.engine.tasks.values()) this.calls.push(JSON.stringify(task.save()))
  }

  async do(step: Step, rules: readonly Rule[]): Promise<void> {
    const ids = [...this.engine.tasks.keys()]
    const task = 'task' in step ? this.engine.tasks.get(ids[step.task % ids.length] ?? '') : undefined
    if (step.kind === 'messages') {
      for (const one of step.messages) {
        this.clock.advanceTo(this.clock.now() + step.wait)
        const message = this.stamping.next(one)
        const { vectorized } = this.engine.stats()
        this.engine.receive(message)
        if (message.timestamp !== undefined) this.stamped += this.engine.stats().vectorized - vectorized
      }
    } else if (step.kind === 'look') {
      this.calls.push(JSON.stringify([task?.info(), task?.node('s0'), task?.explain('a')]))
      this.calls.push(JSON.stringify(this.engine.history(task?.id ?? '').events))
    } else if (step.kind === 'push' && task?.status === 'running') {
      task.push('s0', { rawData: { pushed: true } })
    } else if (step.kind === 'listen for one message') {
      const listening = this.engine.events$.subscribe(() => undefined)
      this.engine.receive(step.message)
      listening.unsubscribe()
    } else if (step.kind === 'stop and start' && task !== undefined) {
      if (task.status === 'running') await this.engine.stop(task.id)
      await this.engine.start(task.id)
    } else if (step.kind === 'start another') {
      await this.engine.start(rules[step.rule] as Rule, { id: `t${ids.length}` })
    } else if (step.kind === 'listen' || step.kind === 'leave') {
      this.listening.do(step)
    }
  }

  async answerAll(): Promise<void> {
    for (const answer of this.#open.splice(0)) answer()
    await promisesSettled()
  }
}

async function play(run: Run, given: Case): Promise<readonly string[]> {
  run.stamping = new Stamping(run.clock, given.stamps ?? [])
  for (const [i, rule] of given.rules.entries()) await run.engine.start(rule, { id: `t${i}` })
  if (given.first !== undefined) await run.do(given.first, given.rules)
  await run.do({ kind: 'messages', messages: given.calm, wait: 2 }, given.rules)
  for (const one of given.steps) {
    await run.do(one, given.rules)
    await run.answerAll()
  }
  run.look()
  for (const id of run.engine.tasks.keys()) run.calls.push(JSON.stringify(run.engine.history(id).events))
  run.listening.end()
  const counts = JSON.stringify(run.engine.counts)
  await run.engine.close()
  return [...run.calls, counts]
}

// Holds VECTOR-1, VECTOR-2
describe('many tasks of one form that hear one resource', () => {
  /** how many rows took each vectorized message */
  const reached: number[] = []
  let stamped = 0

  it('do what each would do alone, in their order', async () => {
    const take = vi.spyOn(VectorizedBatch.prototype, 'take')
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const alone = new Run('nobody')
        const quiet = await play(alone, given)
        stamped += alone.stamped
        expect(quiet).toEqual(await play(new Run('no rows'), given))
        expect(quiet).toEqual(await play(new Run('somebody'), given))
      }),
      runs(140),
    )
    reached.push(...take.mock.results.map(({ value }) => Number(value)))
    take.mockRestore()
  })

  it('have kept what each would have alone', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        expect(await play(new Run('nobody', 40), given)).toEqual(await play(new Run('no rows', 40), given))
      }),
      runs(40),
    )
  })

  // Holds VECTORFAIL-1, UNKNOWN-1
  it('take what is not a number as each would alone', async () => {
    const read = vi.spyOn(VectorFailures.prototype, 'read')
    await fc.assert(
      fc.asyncProperty(unevenCases, async (given) => {
        expect(await play(new Run('nobody', 0, false), given)).toEqual(await play(new Run('no rows', 0, false), given))
      }),
      runs(280),
    )
    expect(read.mock.results.filter(({ value }) => value === true).length).toBeGreaterThan(runs(100).numRuns)
    read.mockRestore()
  })

  it('see their earlier firing when they first fire in a vectorized', async () => {
    const sent = (a: number, count: number, deed = 'none') =>
      Array.from({ length: count }, (): Message => ({ resource: 'r', who: 3, deed, a, b: 0, habit: 'none' }))
    const rule: Rule = {
      sensors: [
        { label: 's', resource: 'r', name: 'streamingDataSensor', properties: { parameter: 'a', threshold: 20 } },
      ],
      actuators: [{ label: 'a', name: 'act' }],
      triggers: [{ sourceLabel: 's', destinationLabel: 'a', statesTrigger: ['Above'] }],
    }
    const given: Case = {
      rules: Array.from({ length: MIN_VECTORIZED }, () => rule),
      calm: [...sent(40, 20), ...sent(0, 20)],
      steps: [{ kind: 'messages', messages: sent(40, 1, 'look at others'), wait: 1 }],
    }
    expect(await play(new Run('nobody'), given)).toEqual(await play(new Run('somebody'), given))
  })

  it('went in vectorized meanwhile, which were disturbed in the middle of a message', () => {
    expect(reached.length).toBeGreaterThan(runs(100).numRuns)
    // with few cases, these rare events may not occur
    const least = runs(140).numRuns < 140 ? 0 : 1
    expect(reached.filter((rows) => rows > 0 && rows < MIN_VECTORIZED).length).toBeGreaterThanOrEqual(least)
    expect(stamped).toBeGreaterThanOrEqual(least)
  })
})
