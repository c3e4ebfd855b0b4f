import { describe, expect, it } from 'vitest'
import { createBuiltins } from '../../../plugins/index.ts'
import { type Rule } from '../../../src/index.ts'
import {
  always,
  checkWorld,
  fires,
  iff,
  inState,
  inWorld,
  memoryWorld,
  never,
  readings,
  sometimes,
  type RuleProperty,
  type World,
} from '../../../src/testing/index.ts'
import { sensorPlug } from '../../support/make-plug.ts'

/** Stores the highest temperature of the last ten minutes in another series. */
const keeper = (duration: string): Rule => ({
  sensors: [
    {
      label: 'highest',
      name: 'getMetricValue',
      resource: 'room',
      properties: { metric: 't', aggregate: 'max', duration },
    },
  ],
  actuators: [
    {
      label: 'keep',
      name: 'storeMessage',
      resource: 'summary',
      properties: { payload: { max: '${nodes.highest.rawData.result}' } },
    },
  ],
  triggers: [{ sourceLabel: 'highest', destinationLabel: 'keep', statesTrigger: ['Collected'] }],
})

/** Raises an alarm from a stored query over that series. */
const warner: Rule = {
  sensors: [
    {
      label: 'summary',
      name: 'executeQuery',
      resource: 'room',
      properties: { name: 'summary', high: 30 },
    },
  ],
  actuators: [{ label: 'warn', name: 'log', properties: { message: 'it was hot' } }],
  triggers: [{ sourceLabel: 'summary', destinationLabel: 'warn', statesTrigger: ['Above'] }],
}

const worldOf = (duration: string): World => ({
  tasks: { keeping: { rule: keeper(duration) }, warning: { rule: warner } },
  services: memoryWorld({
    stored: { room: [{ timestamp: Date.UTC(2025, 2, 3, 5, 55), t: 50 }] },
    queries: { summary: { resource: 'summary', metric: 'max' } },
  }),
  plugs: (services) => createBuiltins({ services }),
})

const keptHighest = inWorld('what was kept is the highest of ten minutes', ({ world, time, fired }) => {
  if (!fired.some(({ node }) => node === 'keeping/keep')) return true
  const recent = (world.stored.get('room') ?? []).filter(({ timestamp }) => Number(timestamp) >= time - 600_000)
  // of two samples with equal times, the later one counts
  const values = new Map(recent.map(({ timestamp, t }) => [timestamp, Number(t)]))
  return world.stored.get('summary')?.at(-1)?.['max'] === Math.max(...values.values())
})
const check = (world: World, properties: RuleProperty | RuleProperty[]) =>
  checkWorld(world, properties, {
    byResource: { room: { t: readings(10, 40) } },
    numRuns: 15,
    seed: 1,
    steps: 15,
    commands: ['crash'],
  })

describe('series in a world', () => {
  it('contain the values that devices sent and rules stored, before and after crashes', async () => {
    const properties = [always(keptHighest), sometimes(fires('keeping/keep'))]
    await expect(check(worldOf('10m'), properties)).resolves.toMatchObject({ cases: 15 })
  })

  it('reveal a rule that looks back too far', async () => {
    await expect(check(worldOf('15m'), always(keptHighest))).rejects.toThrow(
      '"always what was kept is the highest of ten minutes" does not hold',
    )
  })

  it('are read by stored queries at the time of the world', async () => {
    const summary = inWorld('more than 30 was kept before', ({ world }) => {
      const [before] = (world.stored.get('summary') ?? []).slice(-1)
      return Number(before?.['max']) > 30
    })
    const alone: World = {
      ...worldOf('10m'),
      tasks: { warning: { rule: warner } },
      services: memoryWorld({
        stored: { summary: [{ timestamp: Date.UTC(2025, 2, 3, 5), max: 31 }] },
        queries: { summary: { resource: 'summary', metric: 'max' } },
      }),
    }
    await expect(
      check(alone, [never(inState('warning/summary', 'In Range')), sometimes(summary)]),
    ).resolves.toBeDefined()
    const unknown: World = { ...alone, services: memoryWorld() }
    await expect(check(unknown, sometimes(fires('warning/warn')))).rejects.toThrow(
      /warning\/summary failed at .*summary/,
    )
  })

  it('with metadata and last values are available to tasks of the world', async () => {
    const limited: Rule = {
      sensors: [
        {
          label: 'hot',
          name: 'streamingDataSensor',
          resource: 'room',
          properties: { parameter: 't', threshold: 'META.$.limit' },
        },
      ],
      actuators: [{ label: 'warn', name: 'log', properties: { message: 'hot' } }],
      triggers: [{ sourceLabel: 'hot', destinationLabel: 'warn', statesTrigger: ['Above'] }],
    }
    const world: World = {
      tasks: { limited: { rule: limited } },
      services: memoryWorld({ resources: { room: { limit: 25 } } }),
      plugs: (services) => createBuiltins({ services }),
    }
    const above = inWorld('it is above 25', ({ message }) => Number(message?.['t']) > 25)
    await expect(check(world, always(iff(fires('limited/warn'), above)))).resolves.toBeDefined()
  })
})

describe('plugs in a world', () => {
  it('that never return are reported', async () => {
    const mute = sensorPlug('mute', ['Yes', 'No'], () => new Promise<never>(() => undefined))
    const world: World = {
      tasks: { asking: { rule: { sensors: [{ label: 'asked', name: 'mute', resource: 'room' }] } } },
      services: memoryWorld(),
      plugs: (services) => [...createBuiltins({ services }), mute],
    }
    const checked = checkWorld(world, never(inState('asking/asked', 'Yes')), {
      byResource: { room: { t: readings(10, 40) } },
      numRuns: 20,
      seed: 1,
      steps: 2,
      patience: 5,
    })
    await expect(checked).rejects.toThrow(
      'one of asking/asked did not return within 5 ms; increase patience if that is expected',
    )
  })
})
