import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBuiltins } from '../../../plugins/index.ts'
import type { Rule } from '../../../src/index.ts'
import {
  always,
  and,
  checkWorld,
  fires,
  implies,
  inState,
  inWorld,
  leadsTo,
  memoryWorld,
  never,
  neverMoreThan,
  not,
  readings,
  sometimes,
  type RuleProperty,
  type World,
  type WorldOptions,
} from '../../../src/testing/index.ts'

/** Turns a device on and off with a command. */
function thermostat(condition: string, device: string): Rule {
  return {
    sensors: [{ label: 'wanted', name: 'condition', resource: 'room', properties: { condition } }],
    actuators: ['on', 'off'].map((command) => ({
      label: command,
      name: 'executeCommand',
      resource: device,
      properties: { command },
    })),
    triggers: [
      { sourceLabel: 'wanted', destinationLabel: 'on', statesTrigger: ['True'] },
      { sourceLabel: 'wanted', destinationLabel: 'off', statesTrigger: ['False'] },
    ],
    task: { resource: 'room' },
  }
}

const watch: Rule = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: 'room', properties: { parameter: 't', threshold: 30 } },
  ],
  actuators: [{ label: 'alarm', name: 'createAlarm', properties: { type: 'HOT', text: 'hot', severity: 'MAJOR' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 600 }],
  task: { resource: 'room' },
}

const last = (world: { commands: ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]> }, device: string) =>
  world.commands.get(device)?.at(-1)?.['name']
const bothOn = inWorld(
  'heater and cooler are on',
  ({ world }) => last(world, 'heater') === 'on' && last(world, 'cooler') === 'on',
)

function worldOf(heat: string, cool: string): World {
  return {
    tasks: {
      heating: { rule: thermostat(heat, 'heater') },
      cooling: { rule: thermostat(cool, 'cooler') },
      watching: { rule: watch },
    },
    services: memoryWorld({ resources: { room: { name: 'the room' } } }),
    plugs: (services) => createBuiltins({ services }),
  }
}
const options: WorldOptions = {
  byResource: { room: { t: readings(10, 40) } },
  numRuns: 60,
  seed: 1,
  commands: ['crash'],
}
const check = (world: World, property: RuleProperty | RuleProperty[], more: Partial<WorldOptions> = {}) =>
  checkWorld(world, property, { ...options, ...more })
const failure = async (...given: Parameters<typeof check>) => {
  const error: unknown = await check(...given).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'PROPERTY' })
  return (error as Error).message
}

describe('checkWorld', () => {
  const apart = worldOf('t < 18', 't > 24')

  it('holds for tasks that do not interfere', async () => {
    const report = await check(apart, [never(bothOn), sometimes(fires('heating/on')), sometimes(fires('cooling/on'))])
    expect(report.cases).toBe(60)
    expect(report.fired['watching/alarm']).toBeGreaterThan(0)
    expect(report.toString()).toMatch(/^tried: 60 cases, \d+ steps, seed 1$/m)
  })

  it('finds the message at which two tasks conflict', async () => {
    const message = await failure(worldOf('t < 20.1', 't > 19.9'), never(bothOn))
    expect(message).toMatch(/^"never heater and cooler are on" does not hold/)
    expect(message).toMatch(/^ {3}1 {2}.*room sends \{"t":20\}$/m)
    expect(message.match(/sends/g)).toHaveLength(1)
  })

  it("finds violations caused by users' actions", async () => {
    const isHeated = inWorld('the heater is on', ({ world }) => last(world, 'heater') === 'on')
    const stopped = await failure(apart, always(implies(inState('watching/hot', 'Above'), not(isHeated))), {
      commands: ['stop'],
    })
    expect(stopped).toMatch(/a user stops heating$/m)
    const pushed = await failure(
      apart,
      leadsTo(
        inState('heating/wanted', 'True'),
        inWorld('cold', (at) => Number(at.latest('room')?.['t'] ?? 0) < 18 && at.latest('room') !== undefined),
        { within: 0 },
      ),
      { commands: ['push'] },
    )
    expect(pushed).toMatch(/a user sets heating\/wanted to True$/m)
    const changes = [thermostat('t < 30', 'heater')]
    const changing: World = {
      ...apart,
      tasks: { ...apart.tasks, heating: { rule: thermostat('t < 18', 'heater'), changes } },
    }
    expect(await failure(changing, never(bothOn), { commands: ['change'] })).toMatch(
      /a user changes heating to version 1$/m,
    )
  })

  it('checks cool-downs across crashes, and alarms for consistency', async () => {
    const properties = [
      neverMoreThan(1, { within: '10m', node: 'watching/alarm' }),
      never(
        inWorld(
          'two alarms of one type are open',
          ({ world }) => world.alarms.filter(({ status }) => status === 'ACTIVE').length > 1,
        ),
      ),
    ]
    await expect(check(apart, properties)).resolves.toMatchObject({ cases: 60 })
  })

  it('reports that it asserts nothing', async () => {
    const cold = check(apart, neverMoreThan(1, { within: '10m', node: 'watching/alarm' }), {
      byResource: { room: { t: fc.constant(20) } },
    })
    await expect(cold).rejects.toThrow('"watching/alarm fires" was true in none of 60 cases')
  })

  it('reports failing calls', async () => {
    const bare: World = {
      ...apart,
      services: () => ({ ...memoryWorld()({ now: () => 0, forward: () => undefined }), data: undefined as never }),
    }
    expect(await failure(bare, never(and(fires('heating/on'), fires('cooling/on'))))).toMatch(
      /^(heating|cooling)\/(on|off) failed at /,
    )
  })

  it('rejects unknown labels, and properties of whole runs', async () => {
    await expect(check(apart, never(fires('heating/onn')))).rejects.toThrow('did you mean "heating/on"?')
    await expect(check(apart, { name: 'odd', check: () => true })).rejects.toThrow(
      '"odd" cannot be checked at single moments',
    )
  })
})
