/** Mistakes in typed rules, each an error at its line: `npm run types` fails where the compiler accepts one. */
/* oxlint-disable typescript/no-unsafe-call, typescript/no-unsafe-member-access, typescript/no-unsafe-return -- because mistakes have no types */
import { describe, expect, it } from 'vitest'
import { readText } from '../support/repository.ts'
import {
  act,
  alarm,
  all,
  any,
  graph,
  group,
  log,
  rule,
  sense,
  seq,
  template,
  thing,
  values,
} from '../../src/rules/index.ts'

interface Boiler {
  temperature: number
  pump: boolean
  mode: 'eco' | 'full'
}
const message = values<Boiler>()
const boiler = thing<Boiler>()

/** Compiled, and never run. */
export const mistakes = (): unknown =>
  graph({ variables: { limit: 5, place: 'here' } }, (g, variables) => {
    const hot = g.sensor('hot', 'streamingDataSensor', { parameter: 'temperature', threshold: variables.limit })
    const stream = g.sensor('stream', 'stream')
    const both = g.all('both', hot.is('Above'), stream.is('Data'))
    const tell = g.actuator('tell', 'log', { message: 'x' })
    return [
      // @ts-expect-error no such plug
      g.sensor('a', 'streamingDatSensor', { parameter: 't', threshold: 9 }),
      // @ts-expect-error an actuator is not a sensor
      g.sensor('a', 'log', { message: 'x' }),
      // @ts-expect-error a sensor is not an actuator
      g.actuator('a', 'condition', { condition: 'x' }),
      // @ts-expect-error a property is missing
      g.sensor('a', 'streamingDataSensor', { parameter: 't' }),
      // @ts-expect-error all properties are missing
      g.sensor('a', 'holdsFor'),
      // @ts-expect-error no such property
      g.sensor('a', 'streamingDataSensor', { parameter: 't', treshold: 9 }),
      // @ts-expect-error a text for a number
      g.sensor('a', 'hysteresis', { value: 'v', enter: '80', leave: 75 }),
      // @ts-expect-error a number for a text
      g.sensor('a', 'streamingDataSensor', { parameter: 5, threshold: 9 }),
      // @ts-expect-error no such choice
      g.actuator('a', 'log', { message: 'x', level: 'WARNING' }),
      // @ts-expect-error no such severity
      g.actuator('a', 'createAlarm', { type: 'X', severity: 'HIGH' }),
      // @ts-expect-error no such accumulator
      g.sensor('a', 'measure', { value: 'v', accumulator: 'median' }),
      // @ts-expect-error no such unit
      g.sensor('a', 'measure', { value: 'v', accumulator: 'rate', unit: 'hours' }),
      // @ts-expect-error no unit of a duration
      g.sensor('a', 'holdsFor', { condition: 'x', duration: '5' }),
      // @ts-expect-error no such unit of a duration
      g.sensor('a', 'holdsFor', { condition: 'x', duration: '5min' }),
      // @ts-expect-error a number for a duration
      g.sensor('a', 'holdsFor', { condition: 'x', duration: 5 }),
      // @ts-expect-error a list for an object
      g.actuator('a', 'storeMessage', { payload: [1] }),
      // @ts-expect-error a value of a text for a number
      g.sensor('a', 'hysteresis', { value: 'v', enter: stream.data.id, leave: 75 }),
      // @ts-expect-error a value of an object for a text
      g.sensor('a', 'noDataFor', { duration: '5m', parameter: stream.data.stream }),
      // @ts-expect-error a value of the message of another type
      g.sensor('a', 'hysteresis', { value: 'v', enter: message.mode, leave: 75 }),
      // @ts-expect-error no such value of the message
      message.temprature,
      // @ts-expect-error no such raw data
      hot.data.value,
      // @ts-expect-error raw data of a gate
      both.data,
      // @ts-expect-error raw data of an actuator
      tell.data,
      // @ts-expect-error no such state
      hot.is('Abov'),
      // @ts-expect-error the state of another plug
      hot.is('True'),
      // @ts-expect-error the state of a gate
      both.is('True'),
      // @ts-expect-error no such state in a set
      hot.isOneOf('Above', 'Belw'),
      // @ts-expect-error no state in a set
      hot.isOneOf(),
      // @ts-expect-error no such state to begin
      hot.begins('above'),
      // @ts-expect-error no state to begin
      hot.begins(),
      // @ts-expect-error no such state to end
      hot.ends('Off'),
      // @ts-expect-error no such state to leave
      hot.changes('Of', 'Above'),
      // @ts-expect-error no such state to reach
      hot.changes('*', 'Hot'),
      // @ts-expect-error a state instead of a node in a state
      g.all('c', 'Above'),
      // @ts-expect-error a node instead of a node in a state
      g.all('c', hot),
      // @ts-expect-error no parents
      g.any('c'),
      // @ts-expect-error a set of states as parent
      g.all('c', hot.isOneOf('Above', 'Below')),
      // @ts-expect-error no such row
      g.table('c', [hot, both], [['Above', 'True']]),
      // @ts-expect-error a row of another length
      g.table('c', [hot, both], [['Above']]),
      // @ts-expect-error a gate as destination
      g.fire(hot.is('Above'), both),
      // @ts-expect-error a label as destination
      g.fire(hot.is('Above'), 'tell'),
      // @ts-expect-error a label as source
      g.fire('hot', tell),
      // @ts-expect-error an actuator as source
      g.fire(tell, tell),
      // @ts-expect-error a cool-down as a number
      g.fire(hot.is('Above'), tell, { atMostEvery: 300 }),
      // @ts-expect-error a cool-down without a unit
      g.fire(hot.is('Above'), tell, { atMostEvery: '300' }),
      // @ts-expect-error no such option of a node
      g.sensor('a', 'stream', {}, { evictionTimes: 5 }),
      // @ts-expect-error a timeout state of another plug
      g.sensor('a', 'condition', { condition: 'x' }, { timeoutState: 'Above' }),
      // @ts-expect-error no such limit of a count
      g.count('c', { least: 2 }, hot.is('Above')),
      // @ts-expect-error no such variable
      variables.limt,
      // @ts-expect-error a variable of another type
      g.sensor('a', 'hysteresis', { value: 'v', enter: variables.place, leave: 75 }),
      // @ts-expect-error no such setting
      graph({ nam: 'x' }, () => undefined),
      // @ts-expect-error no such task type
      graph({ type: 'sometimes' }, () => undefined),
      // @ts-expect-error no such type of a variable
      template({ name: 'x', variables: { limit: 'number' } }, () => undefined),
      // @ts-expect-error a template without a name
      template({}, () => undefined),
      // @ts-expect-error no such value of a thing
      boiler.temprature.above(80),
      // @ts-expect-error a comparison of a truth
      boiler.pump.above(1),
      // @ts-expect-error no such choice of a value
      boiler.mode.is('off'),
      // @ts-expect-error a number for a truth
      boiler.pump.is(1),
      // @ts-expect-error a text for a limit
      boiler.temperature.above('80'),
      // @ts-expect-error a duration without a unit
      boiler.temperature.above(80, { for: '2' }),
      // @ts-expect-error a condition as limit
      boiler.temperature.above(boiler.temperature.above(3)),
      // @ts-expect-error no such condition
      boiler.temperature.above(80, { during: '2m' }),
      // @ts-expect-error a number to end it
      boiler.temperature.above(80, { until: 75 }),
      // @ts-expect-error a signal for a condition
      all(boiler.temperature, boiler.pump.is(true)),
      // @ts-expect-error no condition
      any(),
      // @ts-expect-error no such unit of a rate
      boiler.temperature.rate('hour'),
      // @ts-expect-error a signal for the condition of a rule
      rule('x', boiler.temperature, { begins: log`x` }),
      // @ts-expect-error a text for an effect
      rule('x', boiler.pump.is(true), { begins: 'x' }),
      // @ts-expect-error no such consequence
      rule('x', boiler.pump.is(true), { starts: log`x` }),
      // @ts-expect-error many of a single thing
      rule('x', boiler.pump.is(true), { many: [5, log`x`] }),
      // @ts-expect-error no such severity of an alarm
      alarm('X', { severity: 'HIGH' }),
      // @ts-expect-error no such set
      group<Boiler>({ kind: 'pump' }),
      // @ts-expect-error no such value of a member
      group<Boiler>({ type: 'pump' }).where((p) => p.temprature.above(3)),
      // @ts-expect-error no such plug as condition
      sense('isHours', { hour: 5 }),
      // @ts-expect-error no such state of a plug as condition
      sense('isHour', { hour: 5 }).is('YES'),
      // @ts-expect-error no such property of an effect
      act('log', { text: 'x' }),
      // @ts-expect-error a sequence without a time
      seq(boiler.pump.is(true), boiler.pump.is(false), {}),
    ]
  })

describe('mistakes in typed rules', () => {
  it('are at least sixty', () => {
    expect(readText('test/rules/mistakes.test.ts').match(/^ +\/\/ @ts-expect-error /gm)?.length).toBeGreaterThanOrEqual(
      60,
    )
  })
})
