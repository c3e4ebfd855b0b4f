import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import {
  createEngine,
  VirtualClock,
  type CreateEngineOptions,
  type Engine,
  type Rule,
  type SavedTask,
  type Sensor,
} from '../../../src/index.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const above = (label: string, parameter: string, more: Partial<Sensor> = {}): Sensor => {
  return { label, name: 'streamingDataSensor', resource: '$', properties: { parameter, threshold: 5 }, ...more }
}

/** A cool-down, a relation, and a state that is kept after a while without messages. */
const RULE: Rule = {
  sensors: [above('warm', 'temperature'), above('damp', 'humidity')],
  relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'Above']] }],
  actuators: [
    { label: 'told', name: 'log', properties: { message: '${nodes.warm.rawData.data}' } },
    { label: 'after', name: 'log', properties: { message: 'then' } },
  ],
  triggers: [
    { sourceLabel: 'both', destinationLabel: 'told', statesTrigger: ['TRUE'], invocationPolicy: 3 },
    { sourceLabel: 'warm', destinationLabel: 'after', statesTrigger: ['Below'], invocationPolicy: 1 },
  ],
  task: { type: 'reactive', resetObservations: false },
}
const LABELS = ['warm', 'damp', 'both', 'told', 'after']
const TASKS = ['a', 'b', 'c']

const message = fc.tuple(
  fc.constantFrom(...TASKS),
  fc.record(
    {
      temperature: fc.constantFrom<unknown>(1, 7, 7.5, -0, null, 'x'),
      humidity: fc.constantFrom<unknown>(1, 9, Number.NaN),
      more: fc.string(),
    },
    { requiredKeys: [] },
  ),
  fc.integer({ min: 0, max: 5_000 }),
)
const messages = fc.array(message, { maxLength: 12 })
type Messages = typeof messages extends fc.Arbitrary<infer M> ? M : never

function engineAt(now: number, more: Partial<CreateEngineOptions> = {}): { engine: Engine; clock: VirtualClock } {
  const clock = new VirtualClock(now)
  return { engine: createEngine({ plugs: builtins, scheduler: clock, seed: 1, ...more }), clock }
}

function hand({ engine, clock }: ReturnType<typeof engineAt>, all: Messages): void {
  for (const [task, values, ms] of all) {
    clock.advanceTo(clock.now() + ms)
    engine.receive({ ...values, resource: `resource of ${task}` })
  }
}

function look({ tasks }: Engine): string {
  return JSON.stringify(
    [...tasks.values()].map((task) => [
      task.status,
      task.info(),
      task.save(),
      LABELS.map((label) => task.node(label)),
      ['told', 'after'].map((label) => task.explain(label)),
    ]),
  )
}

// Holds PACKSTATE-1, PACKSTATE-2, LIVE-1
describe('a restored task', () => {
  it('behaves like a task that a subscriber keeps unpacked', async () => {
    await fc.assert(
      fc.asyncProperty(messages, messages, async (before, after) => {
        const first = engineAt(1_000)
        for (const id of TASKS) await first.engine.start(RULE, { id, resource: `resource of ${id}` })
        hand(first, before)
        const saved = JSON.stringify([...first.engine.tasks.values()].map((task) => task.save()))
        const shown = async (isHeard: boolean) => {
          const next = engineAt(first.clock.now() + 700)
          if (isHeard) next.engine.events({ tasks: TASKS }).subscribe()
          for (const one of JSON.parse(saved) as SavedTask[]) await next.engine.restore(one)
          const looks = [look(next.engine), look(next.engine)]
          hand(next, after)
          return [...looks, look(next.engine)]
        }
        expect(await shown(false)).toEqual(await shown(true))
      }),
      runs(60),
    )
  })

  it('is rejected with another rule, even after others of that rule were restored', async () => {
    const { engine } = engineAt(0)
    for (const id of ['a', 'b']) await engine.start(RULE, { id, resource: `resource of ${id}` })
    for (const id of ['a', 'b']) engine.receive({ resource: `resource of ${id}`, temperature: 7 })
    const [good, bad] = JSON.parse(JSON.stringify([...engine.tasks.values()].map((task) => task.save()))) as SavedTask[]
    const next = engineAt(0).engine
    await next.restore(good as SavedTask)
    const { state, ...task } = bad as SavedTask
    const sensors = { ...state.sensors, warm: { ...state.sensors['warm'], origin: 7 } }
    await expect(next.restore({ ...task, state: { ...state, sensors } })).rejects.toMatchObject({ code: 'SAVED_STATE' })
    expect([...next.tasks.keys()]).toEqual(['a'])
  })
})

/** A rule whose state is evicted, too. */
const EVICTING: Rule = {
  ...RULE,
  sensors: [above('warm', 'temperature'), above('damp', 'humidity', { evictionTime: 4 })],
}

// Holds PACKWORK-1, FULLSTATE-1
describe('a task whose full state is packed', () => {
  it('behaves like a task that is not packed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(message, fc.boolean()), { maxLength: 20 }), async (steps) => {
        const play = async (fullStates: number): Promise<readonly string[]> => {
          const made = engineAt(1_000, { fullStates })
          const seen: string[] = []
          for (const id of TASKS) await made.engine.start(EVICTING, { id, resource: `resource of ${id}` })
          for (const [one, looks] of steps) {
            hand(made, [one])
            if (looks) seen.push(look(made.engine))
          }
          return [...seen, look(made.engine)]
        }
        expect(await play(0)).toEqual(await play(1_000))
      }),
      runs(60),
    )
  })
})
