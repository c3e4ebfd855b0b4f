/** Generates random rules over slow plugs, with their inputs, the latencies of plugs, and crashes of the process. */
import fc from 'fast-check'
import type { Actuator, RetryConfig, Rule, Sensor, TaskSettings } from '../../../src/core/rule/rule.ts'
import { present } from '../../../src/kernel/json.ts'
import { gateSeed, relationsOf, triggerSeed, triggersOf } from '../../../src/testing/arbitraries/rules.ts'
import { CASE_START, type CaseInput, type CaseStep, type LatencyCase } from '../latency/latency-case.ts'

export interface LatencyOptions {
  /** includes plugs whose calls may begin ahead */
  readonly ahead?: boolean
  /** includes nodes that wait for a resume */
  readonly pauses?: boolean
}

const LEVEL = ['Low', 'High'] as const
const KINDS = ['compare', 'compare', 'compare', 'window', 'window', 'delay', 'hold', 'look', 'dice', 'clock'] as const
const from = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

/**
 * Ticks twice: this many seconds after the start, and a day later. More ticks could meet their own work, which depends
 * on latency.
 */
const daily = (seconds: number): string => `FREQ=DAILY;BYHOUR=22;BYMINUTE=14;BYSECOND=${seconds};COUNT=2`

const retrySeed = fc.option(
  fc.record({
    maxRetries: fc.nat(2),
    minBackoff: from('50ms', '400ms', 'PT1S'),
    errorState: from(undefined, undefined, ...LEVEL),
  }),
  { nil: undefined },
)
const failsSeed = fc.array(from(0, 0, 0, 0, 0, 1, 2, 3), { minLength: 1, maxLength: 4 })

const sensorSeed = (kinds: readonly string[]) =>
  fc.record({
    name: from(...kinds),
    resource: from('r', 'r', 'r', 'q', undefined),
    key: from('a', 'b'),
    limit: from(20, 50, 80),
    wait: from(0, 100, 500, 1500),
    other: fc.option(fc.nat(5), { nil: undefined }),
    fails: failsSeed,
    retry: retrySeed,
    sequence: from(undefined, undefined, 1, 2),
    evictionTime: from(undefined, undefined, 300, 700),
    dataTrigger: from(undefined, undefined, undefined, true),
    ownClock: from(...Array.from({ length: 9 }, () => 0), 2, 3),
    pause: fc.nat(9),
  })

const actuatorSeed = fc.record({
  name: from('act', 'touch'),
  thing: from('x', 'y'),
  reads: fc.nat(5),
  fails: failsSeed,
  retry: retrySeed,
})

const taskSeed = fc.record({
  clock: from<TaskSettings>(
    { type: 'reactive' },
    { type: 'reactive' },
    { type: 'scheduled', rrule: daily(1) },
    { type: 'scheduled', rrule: daily(2) },
    { type: 'onetime' },
  ),
  resetObservations: from(undefined, true, false),
  resetScope: from(undefined, undefined, 'task' as const),
  parallel: from(undefined, undefined, false),
  gatesNeedFullObservation: from(undefined, undefined, true),
  whenBusy: from(undefined, 'queue' as const),
})

const statesOf = (): readonly string[] => LEVEL

export function latencyRules(options: LatencyOptions = {}): fc.Arbitrary<Rule> {
  const kinds = options.ahead === true ? [...KINDS, 'ahead', 'ahead', 'ahead', 'ahead', 'ahead'] : KINDS
  const seed = fc.record({
    sensors: fc.array(sensorSeed(kinds), { minLength: 3, maxLength: 6 }),
    gates: fc.array(gateSeed, { maxLength: 2 }),
    triggers: fc.array(
      fc.tuple(triggerSeed, from(undefined, undefined, 0.25, 1)).map(([trigger, invocationPolicy]) => {
        return { ...trigger, invocationPolicy }
      }),
      { minLength: 2, maxLength: 6 },
    ),
    actuators: fc.array(actuatorSeed, { minLength: 1, maxLength: 2 }),
    task: taskSeed,
  })
  return seed.map((plan) => {
    const count = plan.sensors.length
    const sensors = plan.sensors.map((one, i): Sensor => {
      const { name, resource, key, limit, wait, other, fails, retry, ownClock, pause, ...flags } = one
      const isPaused = options.pauses === true && pause === 0
      return present({
        label: `s${i}`,
        name,
        resource,
        properties: present({
          key,
          limit,
          wait,
          fails,
          text: name === 'ahead' && wait > 100 ? 'b is ${?streamdata.b}' : undefined,
          other: other === undefined || name === 'ahead' ? undefined : `\${?nodes.s${other % count}.rawData.v}`,
        }),
        ...flags,
        retryConfig: retry && (present(retry) as RetryConfig),
        schedule: ownClock === 0 ? undefined : daily(ownClock),
        timeout: 'PT10H',
        pauseExecution: isPaused || undefined,
        pauseExecutionTimeout: isPaused ? 'PT2S' : undefined,
      }) as Sensor
    })
    const relations = relationsOf(plan.gates, sensors, statesOf)
    const actuators = plan.actuators.map(({ name, thing, reads, fails, retry }, i): Actuator => {
      const text = `\${?nodes.s${reads % count}.rawData.v} \${?streamdata.a} \${?nodes.s${(reads + 1) % count}.state}`
      const { errorState: _, ...retryConfig } = { errorState: undefined, ...retry }
      const properties = { text, fails, thing }
      return present({
        label: `a${i}`,
        name,
        properties,
        timeout: 'PT10H',
        retryConfig: retry && (retryConfig as RetryConfig),
      })
    })
    const triggers = triggersOf(plan.triggers, sensors, relations, actuators, statesOf)
    const { clock, ...flags } = plan.task
    // A sensor that a trigger fires has no clock of its own.
    const destinations = new Set(triggers.map(({ destinationLabel }) => destinationLabel))
    const unclocked = sensors.map((sensor): Sensor => {
      const { schedule: _, ...rest } = sensor
      return destinations.has(sensor.label) ? rest : sensor
    })
    return { sensors: unclocked, actuators, relations, triggers, task: { resource: 'r', ...clock, ...present(flags) } }
  })
}

const value = fc.option(fc.nat(99), { nil: undefined })
const message = fc.record({ resource: from('r', 'r', 'r', 'q'), a: value, b: value }).map(present)

function stepsFor(rule: Rule, options: LatencyOptions): fc.Arbitrary<CaseStep[]> {
  const labels = from(...(rule.sensors ?? []).map(({ label }) => label))
  const kinds: fc.WeightedArbitrary<CaseInput>[] = [
    { weight: 10, arbitrary: fc.array(message, { minLength: 1, maxLength: 1 }).map(dataOf) },
    { weight: 1, arbitrary: fc.array(message, { minLength: 2, maxLength: 3 }).map(dataOf) },
    { weight: 1, arbitrary: fc.record({ kind: from('push' as const), node: labels, state: from(...LEVEL) }) },
    { weight: 1, arbitrary: fc.record({ kind: from('run' as const), node: labels }) },
  ]
  if (options.pauses === true) {
    kinds.push({ weight: 4, arbitrary: fc.record({ kind: from('resume' as const), node: labels }) })
  }
  const step = fc.record({ gap: fc.oneof(from(0, 0, 100, 250, 500), fc.nat(300)), input: fc.oneof(...kinds) })
  return fc.array(step, { minLength: 2, maxLength: 10 }).map((steps) => {
    let time = 0
    return steps.map(({ gap, input }): CaseStep => {
      time += gap
      if (input.kind !== 'data') return { at: time, input }
      const timestamp = CASE_START + time
      return { at: time, input: { kind: 'data', messages: input.messages.map((one) => ({ ...one, timestamp })) } }
    })
  })
}

function dataOf(messages: readonly { resource: string }[]): CaseInput {
  return { kind: 'data', messages }
}

const latency = fc.oneof(
  { weight: 4, arbitrary: fc.nat(20) },
  { weight: 4, arbitrary: fc.nat(600) },
  { weight: 1, arbitrary: from(0, 5000, 40_000) },
)

export function latencyCases(options: LatencyOptions = {}): fc.Arbitrary<LatencyCase> {
  return latencyRules(options).chain((rule) =>
    fc.record({
      rule: fc.constant(rule),
      steps: stepsFor(rule, options),
      latencies: fc.array(latency, { minLength: 1, maxLength: 8 }),
      crashes: fc
        .array(fc.nat(5000), { minLength: 1, maxLength: 3 })
        .map((times) => times.toSorted((one, other) => one - other)),
    }),
  )
}
