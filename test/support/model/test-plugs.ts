/**
 * Defines the plugs of random rules as plain functions of stream, memory and time. The engine runs the same functions
 * through definePlug.
 */
import type { PlugAnswer } from '../../../src/core/plug/plug.ts'

export interface Call {
  label: string
  properties: Readonly<Record<string, unknown>>
  stream: Readonly<Record<string, unknown>>
  /** the values of x and y that the triggering message itself contains */
  news: Readonly<Record<string, unknown>>
  /** whether that node has succeeded since this node's last result */
  isNewOf: (label: string) => boolean
  internalState: unknown
  /** epoch ms of the input that led to the call */
  now: number
  /** number of earlier calls of the same execution */
  attempt: number
}

/** Returned by a plug that finishes later, with a `settle` step of the script. */
export const LATER = Symbol('later')

export interface TestPlug {
  kind: 'sensor' | 'actuator'
  states: readonly string[]
  /** the message value that the plug waits for; absent: every message runs it */
  waitsFor?(properties: Readonly<Record<string, unknown>>): string
  behave(call: Call): PlugAnswer | typeof LATER
}

const count = (call: Call): number => (typeof call.internalState === 'number' ? call.internalState : 0)
const number = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)
const pick = (states: readonly string[], n: number): string => states[n % states.length] ?? ''

/** Created once, because it is thrown a million times. */
const NO_NUMBER = new Error('no number')

function reading(call: Call): number {
  const value = call.stream[String(call.properties['key'])]
  if (typeof value !== 'number') throw NO_NUMBER
  return value
}

/** Returns whether the call fails, in some seconds of the clock, as if attempts were a second apart. */
const failsNow = (call: Call): boolean =>
  (Math.floor(call.now / 1000) + call.attempt) % 3 === number(call.properties['failIn'], -1)

const keyOf = (properties: Readonly<Record<string, unknown>>): string => String(properties['key'])

const LEVEL = ['Low', 'High']
const BAND = ['Below', 'In', 'Above']
const COUNTER = ['a', 'b', 'c']
const FACES = ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX']
const WAIT = ['Waiting', 'Done']

export const TEST_PLUGS: Readonly<Record<string, TestPlug>> = {
  level: {
    kind: 'sensor',
    states: LEVEL,
    waitsFor: keyOf,
    behave: (call) => {
      const value = reading(call)
      return { state: value > number(call.properties['limit'], 10) ? 'High' : 'Low', rawData: { seen: String(value) } }
    },
  },
  band: {
    kind: 'sensor',
    states: BAND,
    behave: (call) => {
      const value = reading(call)
      if (Number.isNaN(value)) throw new Error('not a number')
      return value < 5 ? 'Below' : value > 15 ? 'Above' : 'In'
    },
  },
  counter: {
    kind: 'sensor',
    states: COUNTER,
    behave: (call) => {
      const step = number(call.properties['step'], 1)
      return { state: pick(COUNTER, count(call)), internalState: count(call) + step, rawData: { count: count(call) } }
    },
  },
  sum: {
    kind: 'sensor',
    states: COUNTER,
    waitsFor: keyOf,
    behave: (call) => {
      const sum = count(call) + number(call.news[keyOf(call.properties)], 0)
      const kept = Number.isNaN(sum) ? 0 : sum
      return { state: pick(COUNTER, kept), internalState: kept, rawData: { sum: String(sum) } }
    },
  },
  echo: {
    kind: 'sensor',
    states: COUNTER,
    behave: (call) => {
      const from = number(call.properties['from'], 2)
      return { state: pick(COUNTER, from), rawData: { count: from + 1 } }
    },
  },
  /** counts new results of another node */
  derived: {
    kind: 'sensor',
    states: COUNTER,
    behave: (call) => {
      const taken = count(call) + (call.isNewOf(String(call.properties['source'])) ? 1 : 0)
      return { state: pick(COUNTER, taken), internalState: taken, rawData: { taken } }
    },
  },
  dice: {
    kind: 'sensor',
    states: FACES,
    behave: (call) => {
      const { faces } = call.properties
      const face: unknown = Array.isArray(faces) ? faces[count(call) % faces.length] : undefined
      return { state: typeof face === 'string' ? face : 'ONE', internalState: count(call) + 1 }
    },
  },
  held: {
    kind: 'sensor',
    states: LEVEL,
    behave: (call) => ({
      state: pick(LEVEL, count(call)),
      internalState: count(call) + 1,
      after: number(call.properties['ms'], 3000),
    }),
  },
  follow: {
    kind: 'sensor',
    states: WAIT,
    behave: (call) => ({
      state: 'Waiting',
      rawData: { since: call.now },
      // oxlint-disable-next-line unicorn/no-thenable -- `then` is a field of the contract of plugs
      then: { state: 'Done', after: number(call.properties['ms'], 3000) },
    }),
  },
  chain: {
    kind: 'sensor',
    states: COUNTER,
    behave: (call) => {
      const after = number(call.properties['ms'], 2000)
      // oxlint-disable-next-line unicorn/no-thenable -- `then` is a field of the contract of plugs
      return { state: 'a', after, then: { rawData: { half: true }, after, then: { state: 'c', after } } }
    },
  },
  raw: {
    kind: 'sensor',
    states: LEVEL,
    behave: (call) =>
      count(call) % 2 === 0
        ? { rawData: { second: Math.floor(call.now / 1000) }, internalState: count(call) + 1 }
        : { state: 'High', internalState: count(call) + 1 },
  },
  moody: {
    kind: 'sensor',
    states: BAND,
    behave: (call) => {
      if (failsNow(call)) throw new Error('a bad second')
      if (Math.floor(call.now / 1000) % 5 === 4) return { state: 'Sideways', rawData: { never: 'kept' } }
      return { state: pick(BAND, Math.floor(call.now / 1000)) }
    },
  },
  silent: { kind: 'sensor', states: LEVEL, behave: () => undefined },
  later: { kind: 'sensor', states: LEVEL, behave: () => LATER },
  act: {
    kind: 'actuator',
    states: [],
    behave: (call) => {
      if (failsNow(call)) throw new Error('a bad second')
      return { message: `acted at ${call.now}` }
    },
  },
  laterAct: { kind: 'actuator', states: [], behave: () => LATER },
}
