/**
 * Generates random rules over the test plugs. They are acyclic, because each trigger leads to a later sensor or to an
 * actuator.
 */
import fc from 'fast-check'
import type { Actuator, RetryConfig, Rule, Sensor, TaskSettings } from '../../../src/core/rule/rule.ts'
import { present } from '../../../src/kernel/json.ts'
import { at, gateSeed, relationsOf, triggerSeed, triggersOf } from '../../../src/testing/arbitraries/rules.ts'
import { TEST_PLUGS } from '../model/test-plugs.ts'

export const RESOURCES = ['r1', 'r2', 'r3'] as const

/** Generates a field that is present half of the time. */
const sometimes = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined })
const seldom = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 3 })
const from = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

const USUAL_PLUGS =
  'level level level sum sum band band counter counter held follow chain raw moody silent echo echo'.split(' ')

const plugChoice = ({ asynchronous = false, reads = false, plugs = USUAL_PLUGS }: RuleOptions): fc.Arbitrary<string> =>
  from(
    ...plugs,
    ...(asynchronous ? ['later', 'later', 'later'] : []),
    ...(reads ? ['derived', 'derived', 'derived'] : []),
  )

const retrySeed = fc.record({ maxRetries: fc.nat(2), minBackoff: from('PT1S', 'PT2S', '500ms'), errorState: fc.nat(9) })

const sensorSeed = (options: RuleOptions) =>
  fc.record({
    plug: plugChoice(options),
    resource: from(...RESOURCES, '$', '$', undefined),
    properties: fc.record({
      key: from('x', 'x', 'y'),
      limit: from(5, 10),
      ms: from(1000, 2000, 3000, 5000),
      step: from(1, 1, 2),
      failIn: from(-1, 0, 1, 2),
    }),
    source: options.reads === true ? fc.nat(9) : fc.constant(0),
    sequence: sometimes(fc.nat(2)),
    dataTrigger: sometimes(fc.boolean()),
    tickTrigger: seldom(fc.boolean()),
    evictionTime: seldom(from(1000, 2000, 3000, 10_000, 70_000)),
    pollingPeriod: seldom(from(2000, 3000, 5000)),
    retry: seldom(retrySeed),
    pause: fc.integer({ min: 0, max: 15 }),
    loop: fc.integer({ min: -9, max: 3 }),
    read: fc.nat(9),
    timeoutState: sometimes(fc.nat(9)),
  })

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never
type SensorSeed = Drawn<ReturnType<typeof sensorSeed>>

const actuatorSeed = (withAsync: boolean) =>
  fc.record({
    plug: from('act', ...(withAsync ? ['laterAct'] : [])),
    resource: from(undefined, 'r1', '$'),
    failIn: from(-1, -1, 0, 1),
    retry: seldom(retrySeed),
    loop: fc.integer({ min: -4, max: 3 }),
  })

const taskSeed = fc.record({
  clock: from<TaskSettings>(
    { type: 'reactive' },
    { type: 'reactive' },
    { type: 'periodic', frequency: 4000 },
    { type: 'periodic', frequency: 7500 },
    { type: 'periodic', pollingInterval: 5 },
    { type: 'onetime' },
    { type: 'scheduled', cron: '0/10 * * * * ?' },
  ),
  resetObservations: sometimes(fc.boolean()),
  resetScope: sometimes(from<'invocation' | 'task'>('invocation', 'task')),
  parallel: sometimes(fc.boolean()),
  gatesNeedFullObservation: seldom(fc.boolean()),
})

export interface RuleOptions {
  /** includes plugs that finish later */
  asynchronous?: boolean
  /** includes nodes that wait for a resume */
  pauses?: boolean
  /** plugs of sensors; default: all that finish at once, and with `asynchronous` also the others */
  plugs?: readonly string[]
  /** includes sensors that read other nodes */
  reads?: boolean
}

export function ruleArbitrary(options: RuleOptions = {}): fc.Arbitrary<Rule> {
  const withAsync = options.asynchronous ?? false
  const seed = fc.record({
    sensors: fc.array(sensorSeed(options), { minLength: 1, maxLength: 6 }),
    gates: fc.array(gateSeed, { maxLength: 4 }),
    triggers: fc.array(triggerSeed, { minLength: 1, maxLength: 6 }),
    actuators: fc.array(actuatorSeed(withAsync), { minLength: 1, maxLength: 2 }),
    task: taskSeed,
    reverse: fc.boolean(),
  })
  return seed.map((plan) => {
    const sensors = plan.sensors.map((s, i) => sensorOf(s, i, plan.sensors.length, options))
    const relations = relationsOf(plan.gates, sensors, statesOfSensor)
    const actuators = plan.actuators.map((a, i): Actuator => {
      const retryConfig = a.retry && { maxRetries: a.retry.maxRetries, minBackoff: a.retry.minBackoff }
      return present({
        label: `a${i}`,
        name: a.plug,
        resource: a.resource,
        properties: { failIn: a.failIn },
        retryConfig,
        loopDef: loopOf(a.loop),
      })
    })
    const triggers = triggersOf(plan.triggers, sensors, relations, actuators, statesOfSensor)
    const { clock, ...flags } = plan.task
    const labels = [...sensors, ...relations, ...actuators].map(({ label }) => label)
    return {
      sensors: sensors.map((sensor, i) => reading(sensor, labels, plan.sensors[i]?.source ?? 0)),
      actuators,
      // children may be declared before their parents
      relations: plan.reverse ? relations.toReversed() : relations,
      triggers,
      // The effects of message timestamps are tested in test/properties/readings.test.ts.
      task: { resource: 'r1', time: 'arrival', duplicates: 'take', ...clock, ...present(flags) },
    }
  })
}

/** If the sensor reads another node, chooses that node from the labels. */
function reading(sensor: Sensor, labels: readonly string[], choice: number): Sensor {
  const others = labels.filter((label) => label !== sensor.label)
  if (sensor.name !== 'derived') return sensor
  const source = at(others, choice)
  const field = source.startsWith('g') ? 'state' : 'collectedTime'
  return { ...sensor, properties: { ...sensor.properties, source, of: `\${?nodes.${source}.${field}}` } }
}

const statesOf = (plug: string): readonly string[] => TEST_PLUGS[plug]?.states ?? []
const statesOfSensor = ({ name }: Sensor): readonly string[] => statesOf(name)

/** Returns a loop over this many items; most nodes have none. */
function loopOf(items: number): string | undefined {
  return items > 0 ? JSON.stringify(Array.from({ length: items }, (_, item) => ({ item }))) : undefined
}

/** Returns a reference to another sensor's count, which may be missing. */
const readOf = (sensor: number): string => `\${?nodes.s${sensor}.rawData.count}`

function sensorOf(seed: SensorSeed, i: number, count: number, options: RuleOptions): Sensor {
  const { plug, retry, pause, timeoutState, loop, read, properties, source: _source, ...flags } = seed
  const later = plug === 'later'
  const retryConfig: RetryConfig | undefined = retry && {
    maxRetries: retry.maxRetries,
    minBackoff: retry.minBackoff,
    maxBackoff: 'PT3S',
    ...(retry.errorState < 5 ? { errorState: at(statesOf(plug), retry.errorState) } : {}),
  }
  const paused = options.pauses === true && pause === 0
  return present({
    label: `s${i}`,
    name: plug,
    properties: plug === 'echo' ? { from: readOf((i + 1 + read) % count) } : properties,
    ...flags,
    loopDef: loopOf(loop),
    retryConfig,
    timeout: later ? 'PT4S' : undefined,
    timeoutState: later && timeoutState !== undefined ? at(statesOf(plug), timeoutState) : undefined,
    pauseExecution: paused || undefined,
    pauseExecutionTimeout: paused ? 'PT9S' : undefined,
  }) as Sensor
}
