/** Defines ten correct rules with the properties that users would expect, and bugs planted into them. */
import fc from 'fast-check'
import type { Rule, Template } from '../../../src/index.ts'
import {
  and,
  fires,
  never,
  neverMoreThan,
  not,
  reads,
  readings,
  restartChangesNothing,
  sometimes,
  type CheckedRun,
  type CheckOptions,
  type Moment,
  type PropertyLike,
} from '../../../src/testing/index.ts'

export interface Subject {
  readonly rule: Rule | Template
  readonly properties: readonly PropertyLike[]
  readonly options: Omit<CheckOptions, 'plugs'>
}

const log = (label: string) => ({ label, name: 'log', properties: { message: label } })
const sensor = (label: string, name: string, properties: Record<string, unknown>, resource = '$') => ({
  label,
  name,
  resource,
  properties,
})
const above = (limit: number) => (value: unknown) => typeof value === 'number' && value > limit
const atLeast = (limit: number) => (value: unknown) => typeof value === 'number' && value >= limit
const is = (wanted: unknown) => (value: unknown) => value === wanted

/** Requires that `node` fires at exactly the moments that a model predicts. */
function firesExactly(node: string, model: () => (moment: Moment) => boolean): PropertyLike {
  return function firesAsModelled(run: CheckedRun) {
    const expects = model()
    for (const moment of run.moments) {
      const fired = moment.fired.some((event) => event.node === node)
      const expected = expects(moment)
      if (fired !== expected) return `at ${moment.time} ${node} ${fired ? 'fired' : 'did not fire'}`
    }
    return undefined
  }
}

/** Limits a condition to once per period. */
function limited(seconds: number, wants: (moment: Moment) => boolean): () => (moment: Moment) => boolean {
  return () => {
    let last = Number.NEGATIVE_INFINITY
    return (moment) => {
      if (!wants(moment) || moment.time - last < seconds * 1000) return false
      last = moment.time
      return true
    }
  }
}

const boiler = { resource: 'boiler', metrics: { t: readings(60, 120) } }

/** Fires above 90, at most every ten minutes. */
const hot: Subject = {
  rule: {
    sensors: [sensor('hot', 'streamingDataSensor', { parameter: 't', threshold: 90 })],
    actuators: [log('alarm')],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'], invocationPolicy: 600 }],
  },
  properties: [
    never(and(fires('alarm'), not(reads('t', above(90))))),
    neverMoreThan(1, { within: '10m', node: 'alarm' }),
    firesExactly(
      'alarm',
      limited(600, ({ message }) => above(90)(message?.['t'])),
    ),
  ],
  options: boiler,
}

/** Fires once each time that the value reaches 90. */
const becomesHot: Subject = {
  rule: {
    sensors: [sensor('hot', 'condition', { condition: { '>=': [{ var: 't' }, 90] } })],
    actuators: [log('alarm')],
    triggers: [
      { sourceLabel: 'hot', destinationLabel: 'alarm', stateChangeTrigger: { stateFrom: 'False', stateTo: 'True' } },
    ],
  },
  properties: [
    never(and(fires('alarm'), not(reads('t', atLeast(90))))),
    firesExactly('alarm', () => {
      let before: boolean | undefined
      return ({ message }) => {
        const value = message?.['t']
        if (typeof value !== 'number' || Number.isNaN(value)) return false
        const fired = before === false && value >= 90
        before = value >= 90
        return fired
      }
    }),
  ],
  options: { ...boiler, disturbances: ['duplicate', 'gap', 'late'] },
}

/** Fires at most hourly while hot with the pump off, and reports when that ends. */
const overheating: Subject = {
  rule: {
    sensors: [
      sensor('hot', 'streamingDataSensor', { parameter: 't', threshold: 90 }),
      sensor('pump', 'condition', { condition: { '==': [{ var: 'pump' }, true] } }),
    ],
    relations: [{ label: 'danger', type: 'AND', parentLabels: ['hot', 'pump'], combinations: [['Above', 'False']] }],
    actuators: [log('alarm')],
    triggers: [{ sourceLabel: 'danger', destinationLabel: 'alarm', statesTrigger: ['TRUE'], invocationPolicy: 3600 }],
  },
  properties: [
    never(and(fires('alarm'), not(and(reads('t', above(90)), reads('pump', is(false)))))),
    neverMoreThan(1, { within: '1h', node: 'alarm' }),
    firesExactly(
      'alarm',
      limited(3600, ({ message }) => above(90)(message?.['t']) && message?.['pump'] === false),
    ),
  ],
  options: {
    ...boiler,
    metrics: { ...boiler.metrics, pump: fc.boolean() },
    disturbances: ['nan', 'late', 'duplicate', 'gap'],
  },
}

/** Fires on three kinds of trouble, each a combination of two sensors' states. */
const trouble: Subject = {
  rule: {
    sensors: [
      sensor('level', 'inRange', { value: '${streamdata.t}', lowerLimit: 70, upperLimit: 110 }),
      sensor('mode', 'isParameterEqual', { parameter: 'mode', value: 'auto' }),
    ],
    relations: [
      {
        label: 'trouble',
        type: 'GENERAL',
        parentLabels: ['level', 'mode'],
        combinations: [
          ['Above', 'YES'],
          ['Above', 'NO'],
          ['Below', 'YES'],
        ],
      },
    ],
    actuators: [log('call')],
    triggers: [{ sourceLabel: 'trouble', destinationLabel: 'call', statesTrigger: ['TRUE'] }],
  },
  properties: [
    firesExactly('call', () => ({ message }) => {
      const [t, mode] = [message?.['t'], message?.['mode']]
      if (typeof t !== 'number' || mode === undefined) return false
      return t > 110 || (t < 70 && mode === 'auto')
    }),
  ],
  options: {
    ...boiler,
    metrics: { t: readings(60, 120), mode: fc.constantFrom('auto', 'hand') },
    disturbances: ['duplicate', 'gap'],
  },
}

const contact = { contact: fc.constantFrom('open', 'shut') }
const motion = { motion: fc.nat(1) }

/** Fires when something moves within five seconds after the door opens. */
const entrance: Subject = {
  rule: {
    sensors: [
      {
        ...sensor('opened', 'condition', { condition: { '==': [{ var: 'contact' }, 'open'] } }, 'door'),
        evictionTime: 5000,
      },
      { ...sensor('moves', 'condition', { condition: { '>': [{ var: 'motion' }, 0] } }, 'hall'), evictionTime: 5000 },
    ],
    relations: [{ label: 'enters', type: 'AND', parentLabels: ['opened', 'moves'], combinations: [['True', 'True']] }],
    actuators: [log('light')],
    triggers: [{ sourceLabel: 'enters', destinationLabel: 'light', statesTrigger: ['TRUE'] }],
  },
  properties: [
    firesExactly('light', () => {
      const last = { door: Number.NEGATIVE_INFINITY, hall: Number.NEGATIVE_INFINITY }
      return ({ message, time }) => {
        if (message === undefined) return false
        const isOn = message['contact'] === 'open' || message['motion'] === 1
        if (message.resource === 'door') last.door = isOn ? time : Number.NEGATIVE_INFINITY
        else last.hall = isOn ? time : Number.NEGATIVE_INFINITY
        return time - last.door < 5000 && time - last.hall < 5000
      }
    }),
  ],
  options: {
    resource: 'door',
    resources: ['door', 'hall'],
    byResource: { door: contact, hall: motion },
    every: '2s',
    disturbances: ['gap'],
  },
}

/** Fires after half an hour of heat without a break. */
const stays: Subject = {
  rule: {
    sensors: [sensor('stays', 'holdsFor', { condition: 't > 90', duration: '30m' })],
    actuators: [log('alarm')],
    triggers: [
      {
        sourceLabel: 'stays',
        destinationLabel: 'alarm',
        stateChangeTrigger: { stateFrom: 'Pending', stateTo: 'Holds' },
      },
    ],
  },
  properties: [
    firesExactly('alarm', () => {
      let began: number | undefined
      let told = false
      return ({ message, time }) => {
        if (message !== undefined) {
          if (!above(90)(message['t'])) [began, told] = [undefined, false]
          else began ??= time
        }
        if (began === undefined || told || time - began < 1_800_000) return false
        told = true
        return true
      }
    }),
  ],
  options: { ...boiler, disturbances: ['duplicate', 'gap'] },
}

/** Fires when the same code comes three times in a row. */
const code: Subject = {
  rule: {
    sensors: [sensor('thrice', 'holdsFor', { condition: "code == 'E7'", count: 3 })],
    actuators: [log('call')],
    triggers: [
      {
        sourceLabel: 'thrice',
        destinationLabel: 'call',
        stateChangeTrigger: { stateFrom: 'Pending', stateTo: 'Holds' },
      },
    ],
  },
  properties: [
    firesExactly('call', () => {
      let row = 0
      return ({ message }) => {
        if (message === undefined) return false
        row = message['code'] === 'E7' ? row + 1 : 0
        return row === 3
      }
    }),
  ],
  options: {
    resource: 'press',
    metrics: { code: fc.constantFrom('OK', 'E1', 'E2', 'E7') },
    disturbances: ['gap'],
  },
}

/** Fires after ten minutes without a message. */
const silence: Subject = {
  rule: {
    sensors: [
      { label: 'heard', name: 'stream', resource: '$' },
      { label: 'silent', name: 'delaySensor', properties: { delay: 600_000 } },
    ],
    actuators: [log('call')],
    triggers: [
      { sourceLabel: 'heard', destinationLabel: 'silent' },
      { sourceLabel: 'silent', destinationLabel: 'call', statesTrigger: ['Triggered'] },
    ],
  },
  properties: [
    sometimes(fires('call')),
    ({ moments, until }) => {
      let due = Number.POSITIVE_INFINITY
      for (const { time, message, fired } of moments) {
        const called = fired.some(({ node }) => node === 'call')
        if (time > due) return `nobody was called at ${due}`
        if (called && time < due) return `called at ${time} already`
        if (called) due = Number.POSITIVE_INFINITY
        if (message !== undefined) due = time + 600_000
      }
      return until <= due
    },
    restartChangesNothing({ down: '0..3h' }),
  ],
  options: { resource: 'pump', metrics: { t: readings(0, 9) }, disturbances: ['gap'], every: '4m' },
}

const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Brussels', dateStyle: 'short' })
const hour = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Brussels', hour: 'numeric', hourCycle: 'h23' })
const weekday = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Brussels', weekday: 'short' })

/** Reports each night at half past two in Brussels, including nights with clock changes. */
const nightly: Subject = {
  rule: {
    sensors: [{ label: 'clock', name: 'alwaysON' }],
    actuators: [log('report')],
    triggers: [{ sourceLabel: 'clock', destinationLabel: 'report' }],
    task: { type: 'scheduled', cron: '0 30 2 * * ?', timeZone: 'Europe/Brussels' },
  },
  properties: [
    ({ moments, from, until }) => {
      const days = moments.filter(({ fired }) => fired.length > 0).map(({ time }) => time)
      const told = days.map((time) => day.format(time))
      if (new Set(told).size < told.length) return 'two reports in one night'
      for (let at = from + 86_400_000; at < until - 86_400_000; at += 86_400_000)
        if (!told.includes(day.format(at))) return `no report on ${day.format(at)}`
      return days.every((time) => ['02', '03'].includes(hour.format(time))) || 'a report at another time'
    },
  ],
  options: {
    resource: 'site',
    metrics: { t: readings(0, 9) },
    disturbances: ['dst'],
    every: '6h',
    tail: '49h',
    maxLength: 20,
  },
}

/** Fires in the hour from 18 in Brussels, on working days. */
const evening: Subject = {
  rule: {
    sensors: [
      sensor('hour', 'isHour', { hour: 18, timeZone: 'Europe/Brussels' }),
      sensor('workday', 'isWeekday', { timeZone: 'Europe/Brussels' }),
      sensor('hot', 'streamingDataSensor', { parameter: 't', threshold: 90 }),
    ],
    relations: [
      {
        label: 'late',
        type: 'AND',
        parentLabels: ['hour', 'workday', 'hot'],
        combinations: [['TRUE', 'TRUE', 'Above']],
      },
    ],
    actuators: [log('alarm')],
    triggers: [{ sourceLabel: 'late', destinationLabel: 'alarm', statesTrigger: ['TRUE'] }],
  },
  properties: [
    firesExactly('alarm', () => ({ message, time }) => {
      const works = !['Sat', 'Sun'].includes(weekday.format(time))
      return message !== undefined && works && hour.format(time) === '18' && above(90)(message['t'])
    }),
  ],
  options: { ...boiler, every: '1h', disturbances: ['dst', 'duplicate'] },
}

/** A template whose limit each task sets, by default 90. */
const template: Subject = {
  rule: {
    name: 'limit',
    variables: [{ name: 'limit', type: 'double', defaultValue: 90 }],
    sensors: [sensor('hot', 'streamingDataSensor', { parameter: 't', threshold: '${variables.limit}' })],
    actuators: [log('alarm')],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }],
  },
  properties: [
    ({ moments, variables }) => {
      const limit = Number(variables?.['limit'] ?? 90)
      return moments.every(({ message, fired }) => fired.length > 0 === above(limit)(message?.['t']))
    },
  ],
  options: { ...boiler, disturbances: ['late', 'duplicate', 'gap'] },
}

export const SUBJECTS = {
  hot,
  becomesHot,
  overheating,
  trouble,
  entrance,
  stays,
  code,
  silence,
  nightly,
  evening,
  template,
} as const satisfies Record<string, Subject>

/**
 * A bug: the rule, and a change of its JSON at a path such as `triggers.0.invocationPolicy`. Undefined removes the
 * value.
 */
export interface Bug {
  readonly name: string
  readonly subject: keyof typeof SUBJECTS
  readonly change: Readonly<Record<string, unknown>>
  readonly options?: Omit<CheckOptions, 'plugs'>
}

const limits = { ...boiler, variables: { limit: fc.integer({ min: 70, max: 110 }) } }

export const RULE_BUGS: readonly Bug[] = [
  { name: 'the threshold is one too high', subject: 'hot', change: { 'sensors.0.properties.threshold': 91 } },
  { name: 'the threshold is a tenth too low', subject: 'hot', change: { 'sensors.0.properties.threshold': 89.9 } },
  { name: 'the limit itself counts', subject: 'hot', change: { 'triggers.0.statesTrigger': ['Above', 'Equal'] } },
  {
    name: 'above for at least',
    subject: 'becomesHot',
    change: { 'sensors.0.properties.condition': { '>': [{ var: 't' }, 90] } },
  },
  { name: 'no cool-down', subject: 'hot', change: { 'triggers.0.invocationPolicy': undefined } },
  { name: 'a cool-down of 599 s for 600', subject: 'hot', change: { 'triggers.0.invocationPolicy': 599 } },
  { name: 'a cool-down of 3,599 s for 3,600', subject: 'overheating', change: { 'triggers.0.invocationPolicy': 3599 } },
  { name: 'a cool-down of 3,601 s for 3,600', subject: 'overheating', change: { 'triggers.0.invocationPolicy': 3601 } },
  { name: 'a cool-down in milliseconds', subject: 'hot', change: { 'triggers.0.invocationPolicy': 600_000 } },
  {
    name: 'an edge for a level',
    subject: 'hot',
    change: {
      'triggers.0.statesTrigger': undefined,
      'triggers.0.stateChangeTrigger': { stateFrom: 'Below', stateTo: 'Above' },
    },
  },
  {
    name: 'a level for an edge',
    subject: 'becomesHot',
    change: { 'triggers.0.statesTrigger': ['True'], 'triggers.0.stateChangeTrigger': undefined },
  },
  { name: 'an edge from any state', subject: 'becomesHot', change: { 'triggers.0.stateChangeTrigger.stateFrom': '*' } },
  { name: 'the other state', subject: 'hot', change: { 'triggers.0.statesTrigger': ['Below'] } },
  { name: 'a typo in a parameter', subject: 'hot', change: { 'sensors.0.properties.parameter': 'temp' } },
  { name: 'another resource', subject: 'hot', change: { 'sensors.0.resource': 'kettle' } },
  { name: 'OR for AND', subject: 'overheating', change: { 'relations.0.type': 'OR' } },
  { name: 'NAND for AND', subject: 'overheating', change: { 'relations.0.type': 'NAND' } },
  {
    name: 'the other state in a row',
    subject: 'overheating',
    change: { 'relations.0.combinations': [['Above', 'True']] },
  },
  { name: 'the trigger waits for FALSE', subject: 'overheating', change: { 'triggers.0.statesTrigger': ['FALSE'] } },
  {
    name: 'a row is missing',
    subject: 'trouble',
    change: {
      'relations.0.combinations': [
        ['Above', 'YES'],
        ['Below', 'YES'],
      ],
    },
  },
  {
    name: 'a row too many',
    subject: 'trouble',
    change: {
      'relations.0.combinations': [
        ['Above', 'YES'],
        ['Above', 'NO'],
        ['Below', 'YES'],
        ['Below', 'NO'],
      ],
    },
  },
  { name: 'old states are kept', subject: 'overheating', change: { 'task.resetObservations': false } },
  { name: 'states are never forgotten', subject: 'entrance', change: { 'sensors.0.evictionTime': undefined } },
  { name: 'states are forgotten too late', subject: 'entrance', change: { 'sensors.1.evictionTime': 6000 } },
  { name: 'states are forgotten too early', subject: 'entrance', change: { 'sensors.1.evictionTime': 4000 } },
  { name: 'five minutes too long', subject: 'stays', change: { 'sensors.0.properties.duration': '35m' } },
  { name: 'a minute too short', subject: 'stays', change: { 'sensors.0.properties.duration': '29m' } },
  { name: 'two times for three', subject: 'code', change: { 'sensors.0.properties.count': 2 } },
  { name: 'four times for three', subject: 'code', change: { 'sensors.0.properties.count': 4 } },
  { name: 'another code', subject: 'code', change: { 'sensors.0.properties.condition': "code == 'E1'" } },
  { name: 'eleven minutes for ten', subject: 'silence', change: { 'sensors.1.properties.delay': 660_000 } },
  { name: 'a cool-down on what begins the wait', subject: 'silence', change: { 'triggers.0.invocationPolicy': 60 } },
  { name: 'no zone', subject: 'nightly', change: { 'task.timeZone': undefined } },
  { name: 'the night without that hour is left out', subject: 'nightly', change: { 'task.dst': { gap: 'skip' } } },
  { name: 'the hour that comes twice counts twice', subject: 'nightly', change: { 'task.dst': { overlap: 'both' } } },
  { name: 'no zone of an hour', subject: 'evening', change: { 'sensors.0.properties.timeZone': 'UTC' } },
  { name: 'the weekend for the week', subject: 'evening', change: { 'sensors.1.name': 'isWeekend' } },
  { name: 'the default of a template', subject: 'template', change: { 'variables.0.defaultValue': 80 } },
  {
    name: 'a variable is ignored',
    subject: 'template',
    change: { 'sensors.0.properties.threshold': 90 },
    options: limits,
  },
]

/** Returns the rule with the bug. */
export function planted({ subject, change }: Bug): Rule | Template {
  const copy = structuredClone(SUBJECTS[subject].rule) as unknown as Record<string, unknown>
  for (const [path, value] of Object.entries(change)) {
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    let at = copy
    for (const key of keys) at = (at[key] ??= {}) as Record<string, unknown>
    if (value === undefined) delete at[last]
    else at[last] = value
  }
  return copy
}
