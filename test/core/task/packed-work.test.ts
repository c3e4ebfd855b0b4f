import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createEngine, VirtualClock, type Engine, type Rule } from '../../../src/index.ts'
import { runs } from '../../support/arbitraries/runs.ts'

/** A cool-down, a state that is evicted, and a change that fires. */
const RULE: Rule = {
  sensors: [
    {
      label: 'warm',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'temperature', threshold: 5 },
    },
    {
      label: 'damp',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 'humidity', threshold: 5 },
      evictionTime: 4,
    },
  ],
  relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'Above']] }],
  actuators: [{ label: 'told', name: 'log', properties: { message: '${nodes.warm.rawData.data}' } }],
  triggers: [{ sourceLabel: 'both', destinationLabel: 'told', statesTrigger: ['TRUE'], invocationPolicy: 3 }],
  task: { type: 'reactive', resetObservations: false },
}
const LABELS = ['warm', 'damp', 'both', 'told']
const TASKS = ['a', 'b', 'c']

const steps = fc.array(
  fc.record({
    task: fc.constantFrom(...TASKS),
    values: fc.record(
      { temperature: fc.constantFrom<unknown>(1, 7, -0, null, 'x'), humidity: fc.constantFrom(1, 9, Number.NaN) },
      { requiredKeys: [] },
    ),
    ms: fc.integer({ min: 0, max: 2_000 }),
    looks: fc.boolean(),
  }),
  { maxLength: 20 },
)

function look({ tasks }: Engine): string {
  const all = [...tasks.values()].map((task) => [
    task.info(),
    task.save(),
    LABELS.map((label) => task.node(label)),
    task.explain('told'),
  ])
  return JSON.stringify(all)
}

// Holds PACKWORK-1, FULLSTATE-1
describe('a task whose full state is packed', () => {
  it('shows and does what one does whose state stays', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const play = async (fullStates: number): Promise<readonly string[]> => {
          const clock = new VirtualClock(1_000)
          const engine = createEngine({ plugs: builtins, scheduler: clock, seed: 1, fullStates })
          const seen: string[] = []
          for (const id of TASKS) await engine.start(RULE, { id, resource: `resource of ${id}` })
          for (const { task, values, ms, looks } of given) {
            clock.advanceTo(clock.now() + ms)
            engine.receive({ ...values, resource: `resource of ${task}` })
            if (looks) seen.push(look(engine))
          }
          return [...seen, look(engine)]
        }
        expect(await play(0)).toEqual(await play(1_000))
      }),
      runs(60),
    )
  })
})
