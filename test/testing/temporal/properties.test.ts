import { describe, expect, it } from 'vitest'
import {
  always,
  and,
  becomes,
  fires,
  inState,
  isUnknown,
  leadsTo,
  never,
  not,
  once,
  or,
  reads,
  since,
  sometimes,
  until,
  type Condition,
  type Moment,
  type RuleProperty,
} from '../../../src/testing/index.ts'
import { fired, moment, runOf } from '../properties/by-hand.ts'

/** Creates a run with one moment per second in these states of `s`; `!` after a state means that `a` fires. */
function runIn(states: string, more: { until?: number } = {}) {
  const moments = states.split(' ').map((word, i) => {
    const isFired = word.endsWith('!')
    const state = word.replace('!', '')
    return moment(i * 1000, state === '-' ? null : state, ...(isFired ? [fired(i * 1000)] : []))
  })
  return runOf([], { moments, until: (moments.length - 1) * 1000, ...more })
}
const verdict = (property: RuleProperty, states: string, ends?: number) =>
  property.check(runIn(states, ends === undefined ? {} : { until: ends }))
const on = inState('s', 'On')
const off = inState('s', 'Off')

describe('conditions', () => {
  const truth = (condition: Condition, states: string): string => {
    let memory = condition.start
    return runIn(states)
      .moments.map((one) => {
        const [next, holds] = condition.next(memory, one)
        memory = next
        return holds ? '1' : '0'
      })
      .join('')
  }

  it.each<[string, Condition, string, string]>([
    ['a state', on, 'On Off - On', '1001'],
    ['one of several states', inState('s', 'On', 'Off'), 'On Off -', '110'],
    ['an unknown state', isUnknown('s'), 'On - Off', '010'],
    ['a firing', fires('a'), 'On On! Off', '010'],
    ['a firing of something else', fires('b'), 'On! On!', '00'],
    ['any firing', fires(), 'On! On', '10'],
    ['not', not(on), 'On Off -', '011'],
    ['and', and(on, fires()), 'On On! Off!', '010'],
    ['or', or(on, fires()), 'On Off! Off', '110'],
    ['becomes', becomes(on), 'On On Off On On', '10010'],
    ['since, from where it begins', since(on, fires()), 'On On! On On Off On', '011100'],
    ['since, that includes its beginning', since(on, fires()), 'Off! On', '00'],
    ['a function of the moment', and((one: Moment) => one.time >= 1000), 'On On', '01'],
  ])('%s', (_, condition, states, expected) => {
    expect(truth(condition, states)).toBe(expected)
  })

  it('read values of the current message, of a resource if named', () => {
    const high = (value: unknown) => Number(value) > 5
    const one: Moment = { ...moment(0), message: { resource: 'r', t: 6 } }
    const holds = (condition: Condition, at: Moment) => condition.next(condition.start, at)[1]
    expect(holds(reads('t', high), one)).toBe(true)
    expect(holds(reads('t', high, { resource: 'r' }), one)).toBe(true)
    expect(holds(reads('t', high, { resource: 'other' }), one)).toBe(false)
    expect(
      holds(
        reads('u', () => true),
        one,
      ),
    ).toBe(false)
    expect(
      holds(
        reads('t', () => true),
        moment(0),
      ),
    ).toBe(false)
  })
})

describe('temporal properties', () => {
  it.each<[string, RuleProperty, string, string | undefined]>([
    ['always holds', always(on), 'On On', undefined],
    ['always does not hold once', always(on), 'On Off', 'not s is On: 1970-01-01T00:00:01.000Z, s is Off'],
    ['never holds', never(on), 'Off -', undefined],
    [
      'never is met',
      never(and(on, fires('a'))),
      'Off On!',
      's is On and a fires: 1970-01-01T00:00:01.000Z, s is On, a fires as g is run',
    ],
    ['leads to it at once', leadsTo(on, fires()), 'On! Off', undefined],
    ['leads to it later', leadsTo(on, fires()), 'On Off Off!', undefined],
    [
      'leads to nothing',
      leadsTo(on, fires()),
      'Off On Off',
      's is On at 1970-01-01T00:00:01.000Z, s is On; then not something fires until the end, 1970-01-01T00:00:02.000Z',
    ],
    ['leads to it in time', leadsTo(on, fires(), { within: '2s' }), 'On Off Off!', undefined],
    ['leads to it too late', leadsTo(on, fires(), { within: 1999 }), 'On Off Off!', '2 s later'],
    ['leads to it, from the first time on', leadsTo(on, fires(), { within: '2s' }), 'On On On On!', '3 s later'],
    ['leads to it each time', leadsTo(on, fires(), { within: '1s' }), 'On On! On Off!', undefined],
    ['until it ends', until(on, off), 'On On Off - On', undefined],
    ['until it never ends', until(on, off), 'On On', undefined],
    ['until, with a gap', until(on, off), 'On - Off', 'not s is On before s is Off'],
    ['once between', once(fires()).between(on, off), 'On On! On Off - Off!', undefined],
    ['once between, again and again', once(fires()).between(on, off), 'On! Off On! Off', undefined],
    [
      'twice between',
      once(fires()).between(on, off),
      'On! On! Off',
      'something fires twice since s is On at 1970-01-01T00:00:00.000Z',
    ],
    ['never between', once(fires()).between(on, off), 'On On Off', 'something fires never since s is On'],
    ['not between yet', once(fires()).between(on, off), 'On On', undefined],
  ])('%s', (_, property, states, expected) => {
    const said = verdict(property, states)
    if (expected === undefined) expect(said).toBeUndefined()
    else expect(said).toContain(expected)
  })

  it('wait until the end of the run', () => {
    expect(verdict(leadsTo(on, fires(), { within: '5s' }), 'On Off', 5000)).toBeUndefined()
    expect(verdict(leadsTo(on, fires(), { within: '5s' }), 'On Off', 5001)).toContain('5 s 1 ms later')
  })

  it.each<[string, RuleProperty, string, boolean]>([
    ['sometimes needs it', sometimes(on), 'Off', false],
    ['sometimes has it', sometimes(on), 'Off On', true],
    ['leadsTo needs its cause', leadsTo(on, fires()), 'Off', false],
    ['until needs its end', until(on, off), 'On', false],
    ['once needs its beginning', once(fires()).between(on, off), 'Off', false],
  ])('%s', (_, { needs = [] }, states, met) => {
    expect(needs.every((need) => need.met(runIn(states)))).toBe(met)
    expect(needs.length).toBeGreaterThan(0)
  })

  it('reject an invalid duration', () => {
    expect(() => leadsTo(on, off, { within: -1 })).toThrow('within is -1; use a duration such as 1h')
  })
})
